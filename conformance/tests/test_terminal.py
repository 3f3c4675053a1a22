"""A real terminal around a real process: what is typed arrives, what is drawn is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from live import sandbox
from live.conversation import Silent
from live.sandbox import Sandbox
from live.terminal import ENTER, ESCAPE, Terminal

pytestmark = pytest.mark.skipif(sandbox.sealing() is None, reason="no namespaces here")
PREFIX = Path("/usr")


@pytest.fixture(name="box")
def _box() -> Iterator[Sandbox]:
    with Sandbox(PREFIX) as box:
        yield box


def test_what_is_typed_arrives_and_what_is_drawn_stands_where_it_was_drawn(box: Sandbox) -> None:
    asks = r"printf '\033[2J\033[3;5Hname? '; read name; "
    tells = r"""printf '\033[7;1Hhello %s' "$name"; read more"""
    draw = asks + tells
    terminal = Terminal(box, ["/bin/sh", "-c", draw], {})
    try:
        shown = terminal.wait(lambda text: "name?" in text, "ask")
        assert shown.split("\n")[2] == "    name?"
        terminal.submit("Grüße")
        shown = terminal.wait(lambda text: "hello" in text, "answer")
        assert shown.split("\n")[6] == "hello Grüße"
        terminal.press(ENTER)
        terminal.end()
        assert terminal.ended()
    finally:
        terminal.kill()


def test_a_question_to_the_terminal_is_answered_as_an_xterm_does(box: Sandbox) -> None:
    ask = r"stty -icanon -echo; printf '\033[5;9H\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c"
    terminal = Terminal(box, ["/bin/sh", "-c", ask], {})
    try:
        shown = terminal.wait(lambda text: "R" in text, "say what it was answered")
        assert "033   [   5   ;   9   R" in shown
    finally:
        terminal.kill()


def test_who_waits_for_what_never_comes_is_told_what_stood_there_instead(box: Sandbox) -> None:
    terminal = Terminal(box, ["/bin/sh", "-c", "echo nothing of the kind; sleep 60"], {})
    try:
        terminal.wait(lambda text: "kind" in text, "start")
        with pytest.raises(Silent, match=r"(?s)did not bloom.*nothing of the kind"):
            terminal.wait(lambda text: "bloom" in text, "bloom", seconds=0.3)
    finally:
        terminal.kill()


def test_a_process_that_ends_too_soon_is_told_of_at_once(box: Sandbox) -> None:
    terminal = Terminal(box, ["/bin/sh", "-c", "echo short"], {})
    try:
        with pytest.raises(Silent, match="before it ended"):
            terminal.wait(lambda text: "long" in text, "speak at length", seconds=30)
    finally:
        terminal.kill()


def test_killing_takes_everything_that_the_process_started(box: Sandbox) -> None:
    start = "(sleep 300; echo late) & touch begun; printf ready; exec sleep 300"
    terminal = Terminal(box, ["/bin/sh", "-c", start], {})
    terminal.wait(lambda text: "ready" in text, "begin")
    terminal.press(ESCAPE)
    terminal.kill()
    assert terminal.ended()
    assert (box.workspace / "begun").exists()
