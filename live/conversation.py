"""A running CLI that somebody talks to: the person's side of it.

A prompt given as an argument needs nobody. But who is asked for permission, types ahead,
interrupts or goes back needs a CLI that goes on running: in a terminal
(:mod:`live.terminal`), or over a stream of messages where a CLI offers one. What the person
does is the same in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from live.model.script import Ask, Call, Permission, Propose, Turn


class Silent(Exception):
    """The CLI did not come to the point that the script waits for; the message says which, and
    what stood on its screen. ``recording`` is how it came to that, as
    :meth:`Conversation.recording` tells it."""

    def __init__(self, message: str, recording: str | None = None) -> None:
        super().__init__(message)
        self.recording = recording


class Conversation(ABC):
    """One process of a CLI, from its start to its end. Every method returns at once or raises
    :class:`Silent` after a time; none waits for the model."""

    @abstractmethod
    def begin(self) -> None:
        """Wait until the CLI takes a prompt."""

    @abstractmethod
    def say(self, turn: Turn) -> None:
        """Give a turn's prompt (its ``slash`` command, its ``images``) as the person does.

        While another turn still runs this is typing ahead. In which mode the CLI has to be,
        and whether the conversation first goes back (``rewinds_to``), stands in the turn.
        """

    @abstractmethod
    def compact(self) -> None:
        """Ask the CLI to compact the conversation."""

    @abstractmethod
    def interrupt(self) -> None:
        """Interrupt what is running, as the person does."""

    @abstractmethod
    def asks(self, call: Call) -> bool:
        """Return whether the CLI waits for the person's word on a call."""

    @abstractmethod
    def permit(self, call: Call, permission: Permission) -> None:
        """Answer whether a call may run."""

    @abstractmethod
    def answer(self, call: Ask) -> None:
        """Answer the model's questions as the script says."""

    @abstractmethod
    def settle(self, call: Propose) -> None:
        """Accept the model's plan, or say what is wrong with it."""

    @abstractmethod
    def rests(self) -> bool:
        """Return whether the CLI has nothing to do and waits for the next prompt."""

    @abstractmethod
    def end(self) -> None:
        """Leave the CLI as the person does, and wait until it has gone."""

    @abstractmethod
    def kill(self) -> None:
        """Kill it, with everything it started; nothing happens if it has gone."""

    @abstractmethod
    def shown(self) -> str:
        """Return what it shows at the moment, for an error message."""

    def stream(self) -> Sequence[str]:
        """Return the lines that it wrote for programs, where it does."""
        return ()

    def recording(self) -> str | None:
        """Return all that was shown and typed since its start, to be replayed: an asciicast
        (version 2), where it runs in a terminal."""
        return None
