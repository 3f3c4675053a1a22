"""Claude Code at a terminal: prompts are typed, Escape interrupts, Escape twice goes back."""

from __future__ import annotations

import re

from live.agents.base import Untaught
from live.agents.claude.streaming import COMPACT, words_of
from live.conversation import Conversation
from live.model.script import Ask, Call, Permission, Propose, Turn
from live.terminal import DOWN, ENTER, ESCAPE, TAB, UP, Terminal

_PROMPT = "❯"
_ASKED = "Do you want to"
_REFUSING = re.compile(rf"{_PROMPT} \d\. No")
_WORKING = "esc to interrupt"
_REWIND = "Rewind"
_CONFIRM = "Restore conversation"
_LINE = re.compile(rf"^(?:│ )?(?:{_PROMPT}|>)(?=\s|$)(.*)", re.MULTILINE)
_CLEAR = "\x15"
_STILL_SECONDS = 1.0
_BACK_KEYS = 1
"""How many lines above the last one of the list the newest prompt stands."""


class TypedConversation(Conversation):
    """The CLI in a terminal of its own."""

    def __init__(self, terminal: Terminal, turns: tuple[Turn, ...]) -> None:
        self._terminal = terminal
        self._turns = turns

    def begin(self) -> None:
        """Wait for the line to type at."""
        self._terminal.wait(lambda shown: _PROMPT in shown, "show its prompt")
        self._terminal.wait(lambda _: self.rests(), "settle")

    def say(self, turn: Turn) -> None:
        """Type a prompt, after going back where the turn says so."""
        if turn.rewinds_to is not None:
            self._go_back(turn)
        self._terminal.enter(words_of(turn), _line)

    def compact(self) -> None:
        """Type the command that compacts."""
        self._terminal.enter(COMPACT, _line)

    def interrupt(self) -> None:
        """Press Escape."""
        self._terminal.press(ESCAPE)

    def asks(self, call: Call) -> bool:
        """Return whether it asks for the person's word: on one call at a time."""
        del call
        return _ASKED in self._terminal.look()

    def permit(self, call: Call, permission: Permission) -> None:
        """Choose the first answer, or the last one, with the person's words added to it."""
        del call
        if permission.answer == "denied":
            while not _REFUSING.search(self._terminal.look()):
                self._terminal.press(DOWN)
            self._terminal.press(TAB)
            self._terminal.press(permission.feedback or "")
        self._terminal.press(ENTER)

    def answer(self, call: Ask) -> None:
        """Not at a terminal: questions come over the stream."""
        raise Untaught(f"{call.id} is answered over the stream")

    def settle(self, call: Propose) -> None:
        """Not at a terminal: plans come over the stream."""
        raise Untaught(f"{call.id} is settled over the stream")

    def rests(self) -> bool:
        """Return whether nothing moves and nothing can be interrupted."""
        return _WORKING not in self._terminal.look() and self._terminal.still(_STILL_SECONDS)

    def end(self) -> None:
        """Type the command that leaves."""
        self._terminal.enter("/exit", _line)
        self._terminal.end()

    def kill(self) -> None:
        """Kill it with everything that it started."""
        self._terminal.kill()

    def shown(self) -> str:
        """Return the screen."""
        return self._terminal.look()

    def recording(self) -> str:
        """Return all that was shown and typed."""
        return self._terminal.recording()

    def _go_back(self, turn: Turn) -> None:
        """Choose the prompt to go back to from the list that Escape twice opens."""
        number = self._turns.index(turn)
        assert turn.rewinds_to is not None
        self._terminal.press(ESCAPE)
        self._terminal.press(ESCAPE)
        self._terminal.wait(lambda shown: _REWIND in shown, "list the prompts")
        for _ in range(number - turn.rewinds_to - 1 + _BACK_KEYS):
            self._terminal.press(UP)
        self._terminal.press(ENTER)
        self._terminal.wait(lambda shown: _CONFIRM in shown, "ask what to restore")
        self._terminal.press(ENTER)
        self._terminal.wait(lambda _: self.rests(), "go back")
        # The old prompt now stands in the line, to be changed.
        self._terminal.press(_CLEAR)


def _line(shown: str) -> str:
    """Return what stands in the line to type at, the last one with its sign."""
    lines = _LINE.findall(shown)
    return lines[-1] if lines else ""
