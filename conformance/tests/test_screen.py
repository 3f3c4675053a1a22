"""A screen draws what a program writes, and answers what programs ask a terminal."""

from __future__ import annotations

import pytest

from live.screen import CONTROL_C, DOWN, ENTER, ESCAPE, TAB, Screen


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("\x1b[c", "\x1b[?62;22c"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1b[>c", "\x1b[>41;390;0c"),
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[3;7H\x1b[6n", "\x1b[3;7R"),
        ("\x1b[3;7H\x1b[?6n", "\x1b[?3;7R"),
        ("\x1b]10;?\x1b\\", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
        ("\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07"),
        ("\x1b]4;9;?\x07", "\x1b]4;9;rgb:8080/8080/8080\x07"),
        ("\x1b[>0q", "\x1bP>|XTerm(390)\x1b\\"),
        ("\x1b[18t", "\x1b[8;40;120t"),
        ("\x1b[?1007$p", "\x1b[?1007;2$y"),
        ("\x1b[?1007h\x1b[?1007$p", "\x1b[?1007;1$y"),
        ("\x1b[?2026$p", "\x1b[?2026;0$y"),
        ("\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b[>1u\x1b[?u", "\x1b[?1u"),
        ("\x1b[>7u\x1b[<u\x1b[?u", "\x1b[?0u"),
    ],
)
def test_what_a_program_asks_a_terminal_is_answered_and_not_drawn(
    asked: str, answered: str
) -> None:
    screen = Screen()
    assert screen.feed(asked) == [answered]
    assert screen.shown() == ""


def test_a_sequence_in_two_pieces_is_one() -> None:
    screen = Screen()
    assert screen.feed("one\x1b[?10") == []
    assert screen.feed("07$p two\x1b]0;a ti") == ["\x1b[?1007;2$y"]
    assert screen.feed("tle\x07 three\x1b") == []
    assert screen.feed("[>4;2m four") == []
    assert screen.shown() == "one two three four"


def test_titles_links_shapes_and_private_notices_are_not_drawn() -> None:
    screen = Screen()
    screen.feed(
        "\x1b]8;;https://example.com\x07a link\x1b]8;;\x07\x1b[2 q\x1b_Gi=1\x1b\\\x1b[4:3m."
    )
    assert screen.shown() == "a link."


def test_what_stood_before_the_other_screen_stands_there_again_behind_it() -> None:
    screen = Screen()
    screen.feed("first\x1b[?1049h\x1b[Hthe other")
    assert screen.shown() == "the other"
    screen.feed("\x1b[?1049l, and on")
    assert screen.shown() == "first, and on"


def test_lines_between_margins_are_moved_and_the_cursor_stays() -> None:
    screen = Screen(10, 5)
    screen.feed("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[1;1H\x1b[S*")
    assert screen.shown() == "*\nc\n\nd"
    screen.feed("\x1b[T")
    assert screen.shown() == "*\n\nc\nd"


def test_keys_are_sent_as_the_program_asked_for_them() -> None:
    screen = Screen()
    assert [screen.sent_for(key) for key in (ESCAPE, CONTROL_C, DOWN)] == [ESCAPE, CONTROL_C, DOWN]
    screen.feed("\x1b[>1u\x1b[?1h")
    assert screen.sent_for(ESCAPE) == "\x1b[27u"
    assert screen.sent_for(CONTROL_C) == "\x1b[99;5u"
    assert screen.sent_for(DOWN) == "\x1bOB"
    assert [screen.sent_for(key) for key in (ENTER, TAB, "a word")] == [ENTER, TAB, "a word"]
