"""Somebody at Copilot CLI's terminal: where they look and which keys they press.

What the CLI does at the moment stands in the line below the prompt: "interrupt" only while
it works. Enter on a prompt while it works steers the model at its next request; a key of its
own puts the prompt into the queue. A dialog is a list with a mark at the chosen line.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from live.conversation import Conversation
from live.model.script import Ask, Call, Permission, Propose, Turn
from live.terminal import DOWN, ENTER, ESCAPE, Terminal

_MARK = "❯"
_PROMPT = re.compile(rf"^\s*{_MARK}", re.MULTILINE)
_WORKS = re.compile(r"\binterrupt\b|\bWorking\b|\bCancelling\b|\bLoading\b|\bCompacting\b")
_FORKED = "Forked from"
_AGAIN = "again to interrupt"
_PERMISSION = "Do you want to "
_PLAN = "Accept plan"
_ACCEPTS = re.compile(r"Accept plan and .*([Ii]nteractive|default permissions)")
_YES = re.compile(r"\bYes$")
_NO = re.compile(r"\bNo, and tell")
_REWIND = "Rewind to a previous point"
_REWIND_HOW = re.compile(r"^Conversation only")
_QUEUE = "\x11"
_CLEAR = "\x15"
_FOOT = 4
"""How many lines at the foot of the screen tell what the CLI does."""
_STEPS = 12
_EXIT_SECONDS = 12.0
_STOP_SECONDS = 4.0
_POLL_SECONDS = 0.1
_REST_SECONDS = 0.6
"""How long nothing must have moved: what was just sent is shown to be worked at a little later."""

_BEGINNING = 20


class CopilotPerson(Conversation):
    """One process of the CLI in a terminal; ``words`` are what is typed for a turn, ``copy``
    is what a copy of the session is called."""

    def __init__(
        self,
        terminal: Terminal,
        words: Callable[[Turn], str],
        copy: str,
    ) -> None:
        self._terminal = terminal
        self._words = words
        self._copy = copy

    def begin(self) -> None:
        """Wait until the prompt stands there and nothing is being loaded any more."""
        self._terminal.wait(lambda shown: _foot(shown) and self.rests(), "show a prompt")

    def say(self, turn: Turn) -> None:
        """Type a turn's prompt and send it; behind a turn that runs, put it into the queue."""
        if turn.forks:
            self._command(
                f"/fork {self._copy}",
                lambda shown: _FORKED in shown and is_idle(shown),
                "fork the session",
            )
        if turn.rewinds_to is not None:
            self._go_back(turn.rewinds_to)
        words, key = self._words(turn), _QUEUE if turn.queued_during else ENTER
        self._terminal.enter(words, _typed, key)

    def compact(self) -> None:
        """Give the CLI's command for it."""
        self._terminal.enter("/compact", _typed)

    def interrupt(self) -> None:
        """Press Escape twice: once only asks for the second, and forgets it soon."""
        for _ in range(_STEPS):
            self._terminal.press(ESCAPE)
            if _AGAIN in self._terminal.look():
                self._terminal.press(ESCAPE)
            deadline = time.monotonic() + _STOP_SECONDS
            while time.monotonic() < deadline:
                if self.rests():
                    return
                time.sleep(_POLL_SECONDS)
        raise self._terminal.silent("does not let itself be interrupted")

    def asks(self, call: Call) -> bool:
        """Return whether a dialog about a call stands on the screen."""
        shown = self._terminal.look()
        if isinstance(call, Ask):
            return all(option in shown for option in call.questions[0].options)
        return (_PLAN if isinstance(call, Propose) else _PERMISSION) in shown

    def permit(self, call: Call, permission: Permission) -> None:
        """Say yes, or no and why: the line that says no takes words."""
        del call
        if permission.answer == "approved":
            return self._choose(_YES)
        self._mark(_NO)
        return self._terminal.submit(permission.feedback or "")

    def answer(self, call: Ask) -> None:
        """Choose the answer in the list."""
        self._choose(re.compile(re.escape(call.questions[0].answer)))

    def settle(self, call: Propose) -> None:
        """Accept the plan."""
        del call
        self._choose(_ACCEPTS)

    def rests(self) -> bool:
        """Return whether the CLI waits for the next prompt."""
        return is_idle(self._terminal.look()) and self._terminal.still(_REST_SECONDS)

    def end(self) -> None:
        """Give the command that leaves: a copy of a session for the one before, or the CLI."""
        for _ in range(2):
            self._terminal.enter("/exit", _typed)
            deadline = time.monotonic() + _EXIT_SECONDS
            while time.monotonic() < deadline:
                if self._terminal.ended():
                    return self._terminal.end()
                time.sleep(_POLL_SECONDS)
        return self._terminal.end()

    def kill(self) -> None:
        """Kill it, with everything it started."""
        self._terminal.kill()

    def shown(self) -> str:
        """Return the screen."""
        return self._terminal.look()

    def recording(self) -> str:
        """Return all that was shown and typed."""
        return self._terminal.recording()

    def _go_back(self, number: int) -> None:
        """Rewind to before a turn, which then stands in the prompt again, and clear that."""
        self._command("/rewind", lambda shown: _REWIND in shown, "offer to rewind")
        wanted = re.compile(rf"\s*{number + 1}\. (.{{{_BEGINNING}}})")
        self._mark(wanted)
        taken_back = next(filter(None, map(wanted.search, self._terminal.look().split("\n"))))[1]
        self._terminal.press(ENTER)
        self._terminal.wait(lambda shown: marked(shown, _REWIND_HOW), "ask what to rewind")
        self._terminal.press(ENTER)
        # Cleared before it stands there, it would stand before the next one.
        self._terminal.wait(lambda shown: is_idle(shown) and taken_back in _typed(shown), "rewind")
        self._terminal.press(_CLEAR)
        self._terminal.wait(lambda shown: taken_back not in _typed(shown), "clear the prompt")

    def _command(self, words: str, done: Callable[[str], bool], what: str) -> None:
        """Give one of the CLI's own commands: the list that completes it may take a key."""
        self._terminal.submit(words)
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline and not done(self._terminal.look()):
            time.sleep(_POLL_SECONDS)
        if f"{_MARK} {words}" in self._terminal.look():
            self._terminal.press(ENTER)
        self._terminal.wait(done, what)

    def _choose(self, wanted: re.Pattern[str]) -> None:
        self._mark(wanted)
        self._terminal.press(ENTER)

    def _mark(self, wanted: re.Pattern[str]) -> None:
        """Go down a dialog's list until the mark stands at a line."""
        for _ in range(_STEPS):
            if marked(self._terminal.look(), wanted):
                return
            self._terminal.press(DOWN)
        self._terminal.wait(lambda shown: marked(shown, wanted), f"offer {wanted.pattern}", 1.0)


def marked(shown: str, wanted: re.Pattern[str]) -> bool:
    """Return whether the mark of a list stands at a line that holds what is wanted."""
    lines = (line.strip("│ ") for line in shown.split("\n"))
    return any(
        wanted.search(line.removeprefix(_MARK).strip()) for line in lines if line.startswith(_MARK)
    )


def _typed(shown: str) -> str:
    """Return what stands in the prompt: the last line with its mark."""
    marked_lines = [line for line in shown.split("\n") if line.startswith(_MARK)]
    return marked_lines[-1] if marked_lines else ""


def is_idle(shown: str) -> bool:
    """Return whether a prompt stands there and the line below it tells of no work."""
    return _PROMPT.search(shown) is not None and not _WORKS.search(_foot(shown))


def _foot(shown: str) -> str:
    return "\n".join([line for line in shown.split("\n") if line.strip()][-_FOOT:])
