"""What a write loses, each thing said once."""

from __future__ import annotations

from transcripts.losses import Loss, LossId
from transcripts.model import Call, CommandExecution, Content, Message, Other, UserMessage
from transcripts.narration import part_losses


def left_behind(message: Message) -> LossId | None:
    """Return why a message of another store does not cross at all; None if it does."""
    if message.superseded_by is not None:
        return "superseded-dropped"
    if message.agent is not None:
        return "thread-flattened"
    if message.author in {"harness", "hook"} and isinstance(message, UserMessage | Other):
        return "harness-dropped"
    return None


class Ledger:
    """The losses of one write, in the order in which they were met."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._said: set[tuple[LossId, str | None]] = set()

    def lose(self, loss: LossId, message: Message | None, why: str = "") -> None:
        """Say that a message, or (None) the session, loses something."""
        key = (loss, why if message is None else message.id)
        if key not in self._said:
            self._said.add(key)
            self.losses.append(
                Loss(loss=loss, message=None if message is None else message.id, why=why)
            )

    def lose_parts(self, content: Content, message: Message) -> None:
        """Say what parts lose that become text."""
        for loss in part_losses(content):
            self.lose(loss, message)

    def stays_behind(self, message: Message) -> bool:
        """Whether a message of another store does not cross at all, and say why."""
        loss = left_behind(message)
        if loss is None:
            return False
        why = ""
        if message.superseded_by is not None:
            why = message.superseded_by.why
        elif loss == "harness-dropped":
            why = message.provenance or ""
        self.lose(loss, message, why)
        return True

    def bookkeeping(self, message: Message, cwd: str) -> None:
        """Say what no message of another store keeps, once for the session."""
        if message.usage is not None:
            self.lose("usage-dropped", None)
        if message.model is not None:
            self.lose("model-dropped", None)
        if isinstance(message, Call) and message.duration_ms is not None:
            self.lose("duration-dropped", None)
        if isinstance(message, CommandExecution) and message.cwd not in {None, cwd}:
            self.lose("cwd-dropped", message)
