"""A session cut short at any byte is an error that says so, or the beginning of the whole one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from conformance.corpus import Case, cases, find_corpus
from conformance.prefixes import Cutting, cuts, departures, rewritten
from transcripts.errors import DamagedRecord
from transcripts.model import (
    AgentMessage,
    CommandExecution,
    CompactBoundary,
    Location,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.records import jsonlines

_LEVELS = ("type", "subtype", "operation")
_INNER = ("payload", "message", "attachment", "item", "data")
BEFORE = b'{"type":"before"}\n'
_LARGEST = 60_000
"""Bytes of a session in which every cut is tried without taking minutes."""


def lines_of(case: Case) -> list[bytes]:
    """Return the lines of a case's main session."""
    path = case.home / case.facts.session_path
    file = next(path.glob("*.jsonl")) if path.is_dir() else path
    return file.read_bytes().splitlines(keepends=True)


def kind_of(line: bytes) -> tuple[str, ...]:
    """Return what sort of record a line is, as far as any of the three formats says."""
    value = orjson.loads(line)
    words = [value.get(level) for level in _LEVELS]
    for inner in _INNER:
        below = value.get(inner)
        if isinstance(below, dict):
            words += [below.get(level) for level in (*_LEVELS, "role")]
            words += [_block(part) for part in _list(below.get("content"))[:1]]
            words += [_block(below.get("item"))]
    return tuple(str(word) for word in words)


def _block(value: Any) -> str | None:
    return value.get("type") if isinstance(value, dict) else type(value).__name__


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def by_release() -> dict[str, list[Case]]:
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases(find_corpus()):
        found[f"{case.facts.agent}/{case.facts.release}"].append(case)
    return found


def telling(release: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases, the shortest first, that hold a kind of record for the first time."""
    seen: set[tuple[str, ...]] = set()
    for case in sorted(release, key=lambda case: sum(map(len, lines_of(case)))):
        kinds = {kind_of(line) for line in lines_of(case)}
        if kinds - seen and sum(map(len, lines_of(case))) < 4 * _LARGEST:
            yield case
        seen |= kinds


RELEASES = by_release()
TELLING = [next(telling(release)) for release in RELEASES.values()]


def judge(case: Case, scratch: Path, lengths: Iterable[int] | None = None) -> list[str]:
    cutting = Cutting(case, scratch)
    tried = cuts(cutting.content) if lengths is None else lengths
    return [wrong for length in tried for wrong in cutting.at(length)]


@pytest.mark.parametrize("case", TELLING, ids=lambda case: case.name)
def test_a_session_cut_about_the_end_of_any_record_is_the_beginning_of_the_whole(
    case: Case, tmp_path: Path
) -> None:
    assert judge(case, tmp_path) == []


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("release", RELEASES)
def test_every_session_cut_about_the_end_of_any_record_is_the_beginning_of_the_whole(
    release: str, tmp_path: Path
) -> None:
    for case in telling(RELEASES[release]):
        assert judge(case, tmp_path / case.directory.name) == []


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("release", RELEASES)
def test_the_smallest_session_cut_at_any_byte_is_the_beginning_of_the_whole(
    release: str, tmp_path: Path
) -> None:
    case = min(RELEASES[release], key=lambda case: sum(map(len, lines_of(case))))
    assert judge(case, tmp_path, range(1, sum(map(len, lines_of(case))))) == []


def cut_inside(release: str, scratch: Path, most: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield what is read of one record of each kind, cut at bytes all over it (``most`` of
    them): the records, and where damage is found."""
    kinds: dict[tuple[str, ...], bytes] = {}
    for case in RELEASES[release]:
        for line in lines_of(case):
            known = kinds.setdefault(kind_of(line), line)
            if len(line) < len(known):
                kinds[kind_of(line)] = line
    path = scratch / "cut.jsonl"
    for line in kinds.values():
        for length in range(1, len(line) - 1, max(1, len(line) // most)):
            rewritten(path, BEFORE + line[:length])
            read = jsonlines.read(path, scratch, recover=True)
            yield [record.value for record in read.records], [one.offset for one in read.damage]
    with pytest.raises(DamagedRecord, match=re.escape(f"{path}:2 (byte ")):
        jsonlines.read(path, scratch)


@pytest.mark.parametrize("release", RELEASES)
def test_a_record_of_any_kind_cut_inside_is_no_record_and_costs_none_before_it(
    release: str, tmp_path: Path
) -> None:
    """What a store's reader is given: whole records only, so a cut inside one is no new case."""
    for records, damage in cut_inside(release, tmp_path, most=40):
        assert (records, damage) == ([{"type": "before"}], [len(BEFORE)])


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("release", RELEASES)
def test_a_record_of_any_kind_cut_at_any_byte_is_no_record_and_costs_none_before_it(
    release: str, tmp_path: Path
) -> None:
    for records, damage in cut_inside(release, tmp_path, most=1 << 30):
        assert (records, damage) == ([{"type": "before"}], [len(BEFORE)])


# ------------------------------------------------------------------ it can fail


def _said(number: int, text: str = "a") -> AgentMessage:
    return AgentMessage(id=str(number), author="model", content=(Text(text=text),))


WHOLE = Transcript(
    agent="made",
    session_id="1",
    messages=(
        UserMessage(id="0", author="human", content=(Text(text="Go."),)),
        _said(1),
        CommandExecution(id="2", author="model", name="Bash", command="ls", exit_code=0),
        _said(3),
    ),
)


def _beginning(*messages: Any) -> list[str]:
    return list(departures(WHOLE, replace(WHOLE, messages=messages)))


def test_a_call_without_its_result_is_a_beginning() -> None:
    call = replace(WHOLE.messages[2], exit_code=None, status="unresolved")
    assert _beginning(*WHOLE.messages[:2], call) == []


def test_an_id_that_moves_an_order_that_changes_and_words_that_change_are_found() -> None:
    assert "is in no reading" in _beginning(_said(9))[0]
    assert "another order" in _beginning(WHOLE.messages[3], WHOLE.messages[1])[0]
    assert "content was" in _beginning(_said(1, "b"))[0]


def test_what_nothing_told_may_be_told_later_and_then_stays() -> None:
    told = replace(WHOLE, messages=tuple(replace(one, external_id="x") for one in WHOLE.messages))
    assert list(departures(told, WHOLE)) == []
    assert len(list(departures(WHOLE, told))) == len(WHOLE.messages)


def test_a_server_may_be_told_apart_from_the_name_that_held_it_and_from_no_other() -> None:
    whole = ToolCall(id="4", author="model", name="echo", server="parrot")
    for name, found in (("parrot-echo", 0), ("crow-echo", 1)):
        part = replace(whole, name=name, server=None)
        assert len(list(departures(_lined(whole), _lined(part)))) == found


def _lined(*messages: Any) -> Transcript:
    """Return messages of which each follows the one before it."""
    before = [None, *(one.id for one in messages)]
    lined = [replace(one, follows=at) for one, at in zip(messages, before, strict=False)]
    return replace(WHOLE, messages=tuple(lined))


def test_a_message_may_come_in_between_but_none_may_follow_another_one() -> None:
    first, second, third, last = WHOLE.messages
    assert list(departures(_lined(first, second, third, last), _lined(first, third))) == []
    astray = _lined(first, second, third)
    moved = replace(astray.messages[2], follows=first.id)
    found = list(departures(_lined(first, second, third), _beside(astray, moved)))
    assert found == [f"CommandExecution {third.id} follows another message"]


def _beside(transcript: Transcript, last: Any) -> Transcript:
    return replace(transcript, messages=(*transcript.messages[:-1], last))


def test_a_prompt_that_waited_leaves_the_line_closed() -> None:
    first, second, *_ = WHOLE.messages
    waiting = replace(first, id="w", delivery="queued", in_context=False)
    assert list(departures(_lined(first, second), _lined(waiting, first, second))) == []


def test_an_answer_may_become_a_summary_only_of_its_own_words_and_records() -> None:
    place = Location(path="a", line=1, offset=0, length=9)
    answer = replace(_said(7), sources=(place,))
    boundary = CompactBoundary(id="8", author="harness", summary=answer.content, sources=(place,))
    whole = replace(WHOLE, messages=(boundary,))
    elsewhere = replace(answer, sources=(replace(place, line=2),))
    differently = replace(answer, content=(Text(text="b"),))
    assert list(departures(whole, _lined(answer))) == []
    assert "is in no reading" in next(departures(whole, _lined(elsewhere)))
    assert "is in no reading" in next(departures(whole, _lined(differently)))


def test_a_command_that_changes_is_found_and_so_is_a_response_that_is_torn_apart() -> None:
    call = replace(WHOLE.messages[2], command="rm")
    assert "command was" in _beginning(call)[0]
    together = tuple(replace(one, response="r") for one in (WHOLE.messages[1], WHOLE.messages[3]))
    apart = replace(
        WHOLE, messages=(replace(together[0], response="x"), replace(together[1], response="y"))
    )
    found = list(departures(apart, replace(WHOLE, messages=together)))
    assert "no longer of the response" in found[0]
