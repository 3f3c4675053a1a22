"""What a live check asks for stands in one place; hidden there, it fails, and no other does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.corpus import find_corpus
from conformance.crossing import all_stores
from conformance.livechecks import Result
from conformance.livechecks.moving import StoreMover
from conformance.livechecks.planning import newest
from conformance.livechecks.running import Bench, run_check
from conformance.livechecks.sources import Sources
from live.checks import load, names
from live.pictures import digest
from transcripts.model import (
    AnyMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    FileChange,
    Plan,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.base import Store

IN_NO_ANSWER = ("t1", "t2", "t3", "t4", "t5", "t7", "t8", "t10", "t13")
"""Checks of what is known from a call, a plan, a summary or a picture."""


def values(case: str) -> Iterator[str]:
    """Yield what is asked for in a check: what must stand in the places of its answers."""
    check = load(case)
    for turn, said in zip(check.then.turns, check.says, strict=True):
        text = turn.responses[-1].text or ""
        pattern = re.sub(r"\\\{\w+\\\}", "(.+?)", re.escape(text))
        found = re.fullmatch(pattern, said, re.DOTALL)
        assert found is not None, f"{case} wants {said!r} of {text!r}"
        yield from found.groups()


@pytest.mark.parametrize("case", names())
def test_what_is_asked_for_stands_in_no_question(case: str) -> None:
    check = load(case)
    lies_ready = [*check.then.workspace.values(), *check.then.programs.values()]
    asked = "\n".join([*(turn.prompt for turn in check.then.turns), *lies_ready])
    assert [value for value in values(case) if value in asked] == []


@pytest.mark.parametrize("case", IN_NO_ANSWER)
def test_what_a_call_a_plan_or_a_summary_tells_the_source_does_not_say_again(case: str) -> None:
    turns = load(case).source.turns
    said = [turn.prompt for turn in turns]
    said += [one.text or "" for turn in turns for one in turn.responses]
    found = list(values(case))
    assert found
    assert [value for value in found if value in "\n".join(said)] == []


def test_the_picture_that_is_asked_for_is_the_one_that_was_given() -> None:
    (picture,) = load("t10").source.pictures.values()
    assert list(values("t10")) == [digest(picture)]


# ------------------------------------------------------------------ hidden on the way

Hide = Callable[[Sequence[AnyMessage]], Iterator[AnyMessage]]


def without(kind: type[AnyMessage]) -> Hide:
    """Return what leaves out every message of a kind."""

    def hide(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
        return (message for message in messages if not isinstance(message, kind))

    return hide


def results_of_tools(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """Keep what tools were asked, and put something else in place of what they answered."""
    for message in messages:
        if isinstance(message, ToolCall):
            yield replace(message, output=(Text(text="done"),))
        else:
            yield message


def ends_of_results(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """Cut every command's output to its first thousand letters, none of them beyond ASCII."""
    for message in messages:
        if isinstance(message, CommandExecution):
            shown = "".join(part.text for part in message.output or () if isinstance(part, Text))
            plain = shown.encode("ascii", "replace").decode("ascii")[:1000]
            yield replace(message, output=(Text(text=plain),), stdout=None)
        else:
            yield message


def pictures(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """Keep of every picture that there was one."""
    for message in messages:
        if isinstance(message, UserMessage):
            words = (
                Text(text="(a picture)") if isinstance(part, Asset) else part
                for part in message.content
            )
            yield replace(message, content=tuple(words))
        else:
            yield message


def that_it_was_compacted(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    """Tell the summary as a prompt, with all that it stands for before it."""
    for message in messages:
        if isinstance(message, CompactBoundary):
            yield UserMessage(id=message.id, author="human", content=message.summary or ())
        elif message.superseded_by is not None:
            yield replace(message, superseded_by=None, in_context=True)
        else:
            yield message


def forgetful(store: type[Store], hide: Hide) -> type[Store]:
    """Return a store whose reader hides something."""

    class Forgetful(store):  # a store like any other, but for what it forgets
        @classmethod
        def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
            whole = super().read_path(path, recover=recover)
            return replace(whole, messages=tuple(hide(whole.messages)))

    return Forgetful


HIDDEN: dict[str, tuple[str, str, str, Hide, str]] = {
    "edits": ("t1", "codex", "claude", without(FileChange), "It burns at 1180; the shelf is some"),
    "plans": ("t3", "claude", "codex", without(Plan), "From something I was not told"),
    "answers": ("t4", "claude", "copilot", results_of_tools, "badge is something I was not told"),
    "findings": ("t5", "claude", "codex", without(SubAgent), "something I was not told were cou"),
    "summary": ("t7", "codex", "copilot", without(CompactBoundary), "keys are at something I was"),
    "boundary": ("t7", "codex", "claude", that_it_was_compacted, "was shown 'BITTERN-77'"),
    "ends": ("t8", "claude", "copilot", ends_of_results, "The one ends with something I was not"),
    "pictures": ("t10", "codex", "claude", pictures, "It was something I was not told"),
}
"""What is hidden: the check that must notice, in which direction, and what it must notice."""

NOT_TOUCHED = {
    "edits": "t4",
    "plans": "t4",
    "answers": "t1",
    "findings": "t3",
    "summary": "t10",
    "boundary": "t10",
    "ends": "t1",
    "pictures": "t7",
}
"""A check that has none of what is hidden, with the same source or target."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """Lend conversations, each recorded once."""
    return Sources(tmp_path_factory.mktemp("sources"))


def moved_without(hide: Hide, case: str, source: str, target: str, sources: Sources) -> Result:
    """Run a check whose conversation is moved by somebody who hides something of it."""
    stores = all_stores()
    stores[source] = forgetful(stores[source], hide)
    bench = Bench(mover=StoreMover(stores), releases=newest(find_corpus()), sources=sources)
    return run_check(load(case), source, target, bench)


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(900)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_check_fails_when_what_it_asks_for_is_hidden(hidden: str, sources: Sources) -> None:
    case, source, target, hide, words = HIDDEN[hidden]
    result = moved_without(hide, case, source, target, sources)
    assert result.verdict == "failed"
    assert words in result.why


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(900)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_check_of_something_else_does_not_notice(hidden: str, sources: Sources) -> None:
    _, source, target, hide, _ = HIDDEN[hidden]
    result = moved_without(hide, NOT_TOUCHED[hidden], source, target, sources)
    assert (result.verdict, result.why) == ("passed", "")
