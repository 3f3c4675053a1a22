"""Codex in its own terminal interface, and what a person does there."""

from __future__ import annotations

import re

from live.agents.codex import offered
from live.conversation import Conversation
from live.model.script import Ask, Call, Permission, Propose, Turn
from live.terminal import CONTROL_C, CONTROL_U, DOWN, ENTER, ESCAPE, LEFT, TAB, Terminal

_WORKING = "esc to interrupt"
_INTERRUPTED = "Conversation interrupted"
_RUNNING = "background terminal running"
_PLAN = "Implement this plan?"
_BROWSING = re.compile(r"↵ rewind|enter to edit message")
_COMPOSER = re.compile(r"^›(?=\s|$)(.*)", re.MULTILINE)
_REST_SECONDS = 1.2
_PASTE = "\x1b[200~{}\x1b[201~"


class TypedConversation(Conversation):
    """One process of the terminal interface, told from what stands on its screen."""

    def __init__(self, terminal: Terminal, workspace: str, *, queues: bool, stops: bool) -> None:
        self._terminal = terminal
        self._workspace = workspace
        self._queues = queues
        self._stops = stops
        self._prompts = 0

    def begin(self) -> None:
        """Wait for the line that takes a prompt."""
        self._terminal.wait(_COMPOSER.search, "show where to type")
        self._terminal.wait(lambda _: self._terminal.still(_REST_SECONDS), "come to rest")

    def say(self, turn: Turn) -> None:
        """Type a prompt and send it; while a turn runs it is steered into that, or queued."""
        if turn.rewinds_to is not None:
            self._go_back(turn.rewinds_to)
        if turn.mode == "plan":
            self._terminal.submit("/plan")
            self._terminal.wait(lambda shown: "Plan mode" in shown, "go into plan mode")
        for path in turn.images:
            # A pasted path of a picture becomes the picture.
            self._terminal.press(_PASTE.format(f"{self._workspace}/{path}"))
            self._terminal.wait(lambda shown: "[Image" in shown, "take the picture")
        words = turn.prompt if turn.slash is None else offered.typed(turn)
        key = TAB if self._queues and turn.queued_during is not None else ENTER
        if turn.images:
            # Typing it again would take the pictures away.
            self._terminal.press(words)
            self._terminal.send(words, _composed, key)
        else:
            self._terminal.enter(words, _composed, key)
        self._prompts += 1

    def _go_back(self, turn: int) -> None:
        """Browse back to the prompt of a turn, take it back and clear it away."""
        self._terminal.press(ESCAPE)
        self._terminal.press(ESCAPE)
        self._terminal.wait(_BROWSING.search, "browse the transcript")
        for _ in range(self._prompts - turn - 1):
            self._terminal.press(LEFT)
        self._terminal.press(ENTER)
        self._terminal.wait(lambda shown: not _BROWSING.search(shown), "go back")
        self._terminal.wait(lambda _: self._terminal.still(_REST_SECONDS), "come to rest")
        self._terminal.press(CONTROL_U)
        self._prompts = turn

    def compact(self) -> None:
        """Give the command for it."""
        self._terminal.enter("/compact", _composed)

    def interrupt(self) -> None:
        """Press Escape; while words stream in, 0.150 has ears for Control-C only."""
        self._terminal.press(ESCAPE if _WORKING in self._terminal.look() else CONTROL_C)

    def asks(self, call: Call) -> bool:
        """Return whether a dialogue stands there that waits for an answer."""
        shown = self._terminal.look()
        if isinstance(call, Propose):
            return _PLAN in shown
        return "Press enter to confirm" in shown or "enter to submit" in shown

    def permit(self, call: Call, permission: Permission) -> None:
        """Press the key for yes; a no ends the turn, and what is said with it is a prompt."""
        if permission.answer == "approved":
            self._terminal.press("y")
            return
        self._terminal.press(ESCAPE)
        self._terminal.wait(lambda shown: _INTERRUPTED in shown, "end the turn")
        if permission.feedback is not None:
            self._terminal.submit(permission.feedback)

    def answer(self, call: Ask) -> None:
        """Choose the option of each question."""
        for question in call.questions:
            for _ in range(question.options.index(question.answer)):
                self._terminal.press(DOWN)
            self._terminal.press(ENTER)

    def settle(self, call: Propose) -> None:
        """Let the plan be carried out."""
        self._terminal.press(ENTER)

    def rests(self) -> bool:
        """Return whether nothing moves and no turn is said to run."""
        return _WORKING not in self._terminal.look() and self._terminal.still(_REST_SECONDS)

    def end(self) -> None:
        """Give the command that quits; before, where the end of what still runs is else written
        down by chance, the one that stops it."""
        if self._stops and _RUNNING in self._terminal.look():
            self._terminal.submit("/stop")
            self._terminal.wait(lambda shown: _RUNNING not in shown, "stop what still ran")
            self._terminal.wait(lambda _: self._terminal.still(_REST_SECONDS), "come to rest")
        self._terminal.enter("/quit", _composed)
        self._terminal.end()

    def kill(self) -> None:
        """End what is left of it."""
        self._terminal.kill()

    def shown(self) -> str:
        """Return the screen."""
        return self._terminal.look()

    def recording(self) -> str:
        """Return all that was shown and typed."""
        return self._terminal.recording()


def _composed(shown: str) -> str:
    """Return what stands where one types, in the last line with its sign."""
    lines = _COMPOSER.findall(shown)
    return lines[-1] if lines else ""
