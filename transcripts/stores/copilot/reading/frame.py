"""What a session's bookkeeping says of the session as a whole."""

from __future__ import annotations

import re
from datetime import datetime

from transcripts.stores.copilot.foreign import mapping, string
from transcripts.stores.copilot.layout import moment
from transcripts.stores.copilot.reading.context import Placing
from transcripts.stores.copilot.reading.events import Event

_RELEASE = re.compile(r"1\.0\.(?P<patch>\d{1,6})\b")
_MENDED = 40


FRAMING = frozenset(
    {
        "session.auto_mode_resolved",
        "session.context_changed",
        "session.model_change",
        "session.resume",
        "session.start",
    }
)
"""The kinds of events that say something of the session as a whole."""


class Frame:
    """The directory, the branch, the release and the times of a session, the latest of each."""

    def __init__(self) -> None:
        self.cwd: str | None = None
        self.branch: str | None = None
        self.version: str | None = None
        self.created_at: datetime | None = None
        self.updated_at: datetime | None = None

    @property
    def leaves_thoughts_over(self) -> bool:
        """Whether the release writes a thought again with a later answer that has none.

        1.0.20 does so and 1.0.40 no more.
        """
        found = _RELEASE.match(self.version or "")
        return found is not None and int(found["patch"]) < _MENDED

    def learn(self, event: Event, placing: Placing) -> None:
        """Take in an event of one of :data:`FRAMING`; models are remembered by thread."""
        data = event.whole
        match event.type:
            case "session.start" | "session.resume":
                context = mapping(data.get("context"))
                self._move(string(context.get("cwd")), string(context.get("branch")))
                self.version = string(data.get("copilotVersion")) or self.version
                if self.created_at is None:
                    self.created_at = moment(data.get("startTime")) or event.at
                model = string(data.get("selectedModel"))
            case "session.context_changed":
                self._move(string(data.get("cwd")), string(data.get("branch")))
                return
            case "session.model_change":
                model = string(data.get("newModel"))
            case _:
                model = string(data.get("chosenModel"))
        thread = placing.thread(event.agent)
        thread.model = model or thread.model

    def _move(self, cwd: str | None, branch: str | None) -> None:
        self.cwd = cwd or self.cwd
        self.branch = branch or self.branch
