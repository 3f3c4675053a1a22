"""What can go wrong with an adapter, each apart: it has no answer, fails, or breaks the wire.

A wrong answer is none of these: whether what an adapter answers is right is for the checks to say.
"""

from __future__ import annotations

from typing import Literal, get_args

Stage = Literal["start", "find", "read", "write", "internal"]
"""Where an adapter failed.

``start``: it can't work here · ``find``: there is no such session or home · ``read``: the session
is there and can't be read whole · ``write``: the target can't hold it, or it could not be placed ·
``internal``: a fault of the adapter's own.
"""

STAGES: tuple[str, ...] = get_args(Stage)


class AdapterError(Exception):
    """Something about an adapter is wrong; the message names it and says what to do."""

    def __init__(self, adapter: str, why: str, *, next_step: str | None = None) -> None:
        self.adapter = adapter
        self.why = why
        self.next_step = next_step
        sentence = f"{adapter}: {why}" + (f"; {next_step}" if next_step else "")
        super().__init__(" ".join(sentence.split()))


class UnknownAdapter(AdapterError):
    """The name is no adapter's, or names something that is none."""


class NotOffered(AdapterError):
    """The adapter does not do that, by its own account: nothing was asked of it."""


class Skipped(AdapterError):
    """The adapter was asked and says that it has no answer, and why. That is no failure."""


class Failed(AdapterError):
    """The adapter says that it failed, and where."""

    def __init__(self, adapter: str, stage: Stage, message: str) -> None:
        self.stage: Stage = stage
        self.message = message
        super().__init__(adapter, f"failed ({stage}): {message}")


class BrokenAnswer(AdapterError):
    """An answer is not of the shape that its schema gives."""


# ------------------------------------------------------------------ the wire


class TransportFault(AdapterError):
    """The adapter's process broke the wire, so there is no answer to judge.

    ``stderr`` is the end of what the process wrote there.
    """

    def __init__(
        self, adapter: str, why: str, *, next_step: str | None = None, stderr: str = ""
    ) -> None:
        self.stderr = stderr
        said = f"; it said: {stderr}" if stderr else ""
        super().__init__(adapter, why + said, next_step=next_step)


class NotStarted(TransportFault):
    """The command could not be run at all."""


class Crashed(TransportFault):
    """The process ended before it had answered, or not well after it was told to stop.

    ``status`` is its exit code, below zero the signal that ended it.
    """

    def __init__(self, adapter: str, why: str, status: int, *, stderr: str = "") -> None:
        self.status = status
        super().__init__(adapter, why, stderr=stderr)


class Hung(TransportFault):
    """The deadline passed, and the process neither answered nor ended."""


class Noise(TransportFault):
    """Something on standard output is no JSON object: a log line, a banner, other bytes."""


class SplitAnswer(TransportFault):
    """An answer begins on one line and goes on in the next; each must be one line."""


class WrongSequence(TransportFault):
    """An answer has another request's number."""

    def __init__(self, adapter: str, asked: int, answered: int, *, stderr: str = "") -> None:
        self.asked = asked
        self.answered = answered
        super().__init__(
            adapter,
            f"answered {answered} when {asked} was asked",
            next_step="give back the request's seq, and answer each request once",
            stderr=stderr,
        )


class WrongProtocol(TransportFault):
    """The adapter speaks another version of the wire."""
