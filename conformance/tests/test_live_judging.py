"""What is wrong with a continuation: told from the requests that the model was sent."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.livechecks.judging import doubled, lines, retold, shown_as
from live.model.history import Entry
from live.model.log import Answer, Exchange


def sent(*requests: list[Entry]) -> tuple[Exchange, ...]:
    """Return the requests that a model was sent."""
    return tuple(
        Exchange(
            seq=number,
            kind="turn",
            turn=number,
            method="POST",
            path="/",
            history=tuple(history),
            answer=Answer(),
            body=[entry.text for entry in history],
        )
        for number, history in enumerate(requests)
    )


def text(words: str, role: Any = "assistant") -> Entry:
    return Entry(role=role, type="text", text=words)


def thought(words: str) -> Entry:
    return Entry(role="assistant", type="reasoning", text=words)


def result(words: str) -> Entry:
    return Entry(role="tool", type="result", call_id="c", text=words)


def test_what_stands_once_in_every_request_is_not_doubled() -> None:
    asked = sent([text("OAK-1")], [text("OAK-1"), text("What else?", "user")])
    assert list(doubled(["OAK-1"], asked, last=True)) == []


@pytest.mark.parametrize("history", [[text("OAK-1, OAK-1")], [text("OAK-1"), result("OAK-1")]])
def test_what_stands_twice_in_a_request_is_doubled(history: list[Entry]) -> None:
    assert list(doubled(["OAK-1"], sent(history), last=False)) == [
        "the model was shown 'OAK-1' 2 times"
    ]


def test_only_the_last_stop_must_be_shown_everything_and_only_in_its_last_request() -> None:
    late = sent([text("nothing")], [text("OAK-1")])
    never = sent([text("OAK-1")], [text("nothing")])
    assert list(doubled(["OAK-1"], late, last=True)) == []
    assert list(doubled(["OAK-1"], never, last=True)) == ["the model was not shown 'OAK-1'"]
    assert list(doubled(["OAK-1"], never, last=False)) == []


def test_prose_that_is_told_as_prose_again_is_found() -> None:
    first = lines(["OAK-1"], sent([text("(so it was thought) OAK-1")]))
    joined = sent([text("Before.\n(so it was thought) OAK-1\nAfter.")])
    again = sent([text("(so it was told) (so it was thought) OAK-1")])
    assert list(retold(first, lines(["OAK-1"], joined))) == []
    (finding,) = retold(first, lines(["OAK-1"], again))
    assert "'(so it was told) (so it was thought) OAK-1'" in finding


def test_what_becomes_prose_or_a_thought_again_is_not_retold() -> None:
    native = lines(["OAK-1"], sent([thought("OAK-1")]))
    prose = lines(["OAK-1"], sent([text("(thought) OAK-1")]))
    assert list(retold(native, prose)) == []
    assert list(retold(prose, native)) == []


@pytest.mark.parametrize(
    ("entry", "how"),
    [
        (thought("So OAK-1."), "as a thought"),
        (text("(thought) OAK-1"), "as words"),
        (result("OAK-1"), "not at all"),
        (text("something else"), "not at all"),
    ],
)
def test_how_a_thought_is_sent_is_told_of_the_first_request(entry: Entry, how: str) -> None:
    asked = sent([entry], [thought("OAK-1"), text("OAK-1")])
    assert shown_as(["OAK-1"], asked) == {"OAK-1": how}
