"""A real terminal around a real process: what is typed arrives, what is drawn is seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyte
import pytest

from live import asciicast, sandbox
from live.conversation import Silent
from live.picking import Listing, choose, shows
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


def test_a_program_that_asks_at_its_start_is_answered_before_it_goes_on(box: Sandbox) -> None:
    ask = r"stty -icanon -echo; printf '\033[?1007$p\033]11;?\007\033[c'; "
    tell = "dd bs=1 count=44 2>/dev/null | od -An -c | tr -d ' \\n'; echo; echo told"
    terminal = Terminal(box, ["/bin/sh", "-c", ask + tell], {})
    try:
        shown = terminal.wait(lambda text: "told" in text, "go on")
        told = shown.split("\n")[0]
        assert told == r"033[?1007;2$y033]11;rgb:0000/0000/0000\a033[?62;22c"
    finally:
        terminal.kill()


def test_a_recording_ends_on_the_screen_that_was_seen_last(box: Sandbox) -> None:
    asks = r"printf '\033[2J\033[4;3HGr\303\274\303\237e? '; read name; "
    draw = asks + r"""printf '\033[2J\033[7;3Hnot %s, Gr\303\274\303\237e' "$name"; sleep 60"""
    terminal = Terminal(box, ["/bin/sh", "-c", draw], {})
    try:
        terminal.wait(lambda text: "?" in text, "ask")
        terminal.enter("roses", lambda shown: "".join(shown.split("\n")[3:4]))
        with pytest.raises(Silent) as silence:
            terminal.wait(lambda text: "tulips" in text, "speak of tulips", seconds=0.5)
    finally:
        terminal.kill()
    recording = silence.value.recording
    assert recording is not None
    seen = terminal.look()
    assert seen.split("\n")[6:] == ["  not roses, Grüße"]
    header, *events = [json.loads(line) for line in recording.splitlines()]
    assert (header["version"], header["width"], header["height"]) == (2, 120, 40)
    times = [time for time, _, _ in events]
    assert times == sorted(times)
    assert times[0] < 60
    assert [text for _, kind, text in events if kind == "i"] == ["roses", ENTER]
    drawn = pyte.Screen(header["width"], header["height"])
    stream = pyte.Stream(drawn)
    for _, kind, text in events:
        if kind == "o":
            stream.feed(text)
    assert "\n".join(line.rstrip() for line in drawn.display).rstrip() == seen
    assert asciicast.last_screen(recording) == seen


def test_who_fell_silent_leaves_a_recording_and_a_last_screen_where_one_says(
    box: Sandbox, tmp_path: Path
) -> None:
    terminal = Terminal(box, ["/bin/sh", "-c", "echo standing still; sleep 60"], {})
    try:
        terminal.wait(lambda text: "still" in text, "start")
        with pytest.raises(Silent) as silence:
            terminal.wait(lambda text: "moving" in text, "move", seconds=0.3)
    finally:
        terminal.kill()
    cast, screen = asciicast.keep(silence.value, tmp_path / "kept", "walk")
    assert screen.read_text(encoding="utf-8") == "standing still\n"
    assert asciicast.last_screen(cast.read_text(encoding="utf-8")) == "standing still"
    assert asciicast.keep(Silent("over a stream"), tmp_path / "none", "walk") == ()
    assert not (tmp_path / "none").exists()


_LIST = r"""
stty -icanon -echo
at=1
while :; do
    printf '\033[2J\033[HPick one\r\n'
    number=1
    for row in "The key under the mat" "Where did the ferryman leave his…" "Where did the dog go?"
    do
        mark=' '; [ $number = $at ] && mark='>'
        printf '%s 1s ago  %s\r\n' "$mark" "$row"
        number=$((number + 1))
    done
    key=$(dd bs=3 count=1 2>/dev/null)
    case $key in *A) at=$((at - 1)) ;; *B) at=$((at + 1)) ;; *) break ;; esac
done
printf '\033[2J\033[H'; echo "opened $at"; sleep 60
"""
_LISTING = Listing(stands="^Pick one$", mark=">")


@pytest.mark.parametrize(
    ("words", "opened"),
    [
        ("Where did the ferryman leave his lantern last winter?", "opened 2"),
        ("Where did the dog go?", "opened 3"),
        ("The key under the mat", "opened 1"),
    ],
)
def test_the_session_is_opened_whose_line_shows_the_words(
    box: Sandbox, words: str, opened: str
) -> None:
    terminal = Terminal(box, ["/bin/sh", "-c", _LIST], {})
    try:
        choose(terminal, _LISTING, words)
        assert terminal.wait(lambda text: "opened" in text, "open it") == opened
    finally:
        terminal.kill()


def test_a_session_that_is_not_listed_is_told_of_with_the_list(box: Sandbox) -> None:
    terminal = Terminal(box, ["/bin/sh", "-c", _LIST], {})
    try:
        with pytest.raises(Silent, match=r"(?s)did not list a session.*ferryman") as silence:
            choose(terminal, _LISTING, "Who rang the bell?", seconds=2.0)
    finally:
        terminal.kill()
    assert "ferryman" in asciicast.last_screen(silence.value.recording or "")


@pytest.mark.parametrize(
    ("line", "words", "shown"),
    [
        ("  ❯ Name the first bed by the door.", "Name the first bed by the door.", True),
        (
            "    ○ Count the gates and tell me the…   —   just now",
            "Count the gates and tell me it",
            False,
        ),
        (
            "    ○ Count the gates and tell me the…   —   just now",
            "Count the gates and tell me the sum",
            True,
        ),
        ("> 1s ago  Name the first bed", "Name the first bed\nby the door.", True),
        ("> 1s ago  Name the first bed by the door.", "Name the first bed\nby the door.", True),
        ("> 1s ago  High tide at noon", "Hi", False),
        ("> 1s ago  Hi (main)", "Hi", True),
        ("> 1s ago  Name the first bed by the door.", "Name the first roof", False),
    ],
)
def test_a_line_shows_a_prompt_by_as_much_as_there_is_room_for(
    line: str, words: str, shown: bool
) -> None:
    assert shows(line, words) is shown
