"""The model witness is judged on the request's own history, and the judgement can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
from msgspec.structs import replace

from conformance.essence import asset_digests, shown_text, text_of
from conformance.history import judge_history
from conformance.kinds import Variant, conversation, variants
from live.model.history import Entry
from transcripts.losses import Loss
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Opaque,
    Reasoning,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
)

BY_NAME = {f"{variant.kind}/{variant.name}": variant for variant in variants()}


def _shown(messages: Sequence[AnyMessage]) -> list[Entry]:
    """Write what a model would be shown of messages that all have a native record."""
    entries: list[Entry] = []
    for number, message in enumerate(messages):
        match message:
            case UserMessage():
                entries.append(Entry(role="user", type="text", text=text_of(message.content)))
                entries += [
                    Entry(role="user", type="image", value={"sha256": digest})
                    for digest in asset_digests(message.content)
                ]
            case AgentMessage():
                entries.append(Entry(role="assistant", type="text", text=text_of(message.content)))
            case Reasoning():
                entries.append(
                    Entry(role="assistant", type="reasoning", text=text_of(message.content))
                )
            case CommandExecution():
                said = shown_text(message.output)
                if message.exit_code:
                    said = f"Exit code {message.exit_code}\n{said}"
                entries += _call(f"c{number}", "run", {"cmd": message.command}, said)
            case ToolCall():
                name = f"mcp__{message.server}__{message.name}" if message.server else message.name
                said = message.error or shown_text(message.output)
                entries += _call(f"c{number}", name, message.arguments, said)
            case _:
                raise AssertionError(message.kind)
    return entries


def _call(identifier: str, name: str, arguments: object, result: str) -> Iterable[Entry]:
    yield Entry(role="assistant", type="call", call_id=identifier, name=name, arguments=arguments)
    yield Entry(role="tool", type="result", call_id=identifier, text=result)


NATIVE = [
    variant
    for variant in variants()
    if variant.kind in ("UserMessage", "AgentMessage", "CommandExecution", "ToolCall")
]


@pytest.mark.parametrize("variant", NATIVE, ids=lambda v: f"{v.kind}/{v.name}")
def test_what_is_shown_whole_is_not_lost(variant: Variant) -> None:
    sent = conversation([variant]).messages
    judged = judge_history(sent, _shown(sent), ())
    wrong = {key: one for key, one in judged.items() if one.verdict not in ("exact", "translated")}
    assert wrong == {}
    assert set(judged) == {message.id for message in sent}


Break = Callable[[list[Entry]], list[Entry]]


def _swap(kind: str) -> Break:
    def swap(entries: list[Entry]) -> list[Entry]:
        first, *_, last = [i for i, entry in enumerate(entries) if entry.type == kind]
        entries[first], entries[last] = entries[last], entries[first]
        return entries

    return swap


def _where(kind: str, change: Callable[[Entry], Entry | None]) -> Break:
    def apply(entries: list[Entry]) -> list[Entry]:
        changed = [change(entry) if entry.type == kind else entry for entry in entries]
        return [entry for entry in changed if entry is not None]

    return apply


BROKEN: dict[str, tuple[str, Break]] = {
    "a prompt is not shown": ("UserMessage/plain", lambda e: e[1:]),
    "one of two equal prompts is not shown": ("UserMessage/equal-twice", lambda e: e[:2] + e[3:]),
    "a prompt is shown twice": ("UserMessage/plain", lambda e: [e[0], *e]),
    "a prompt is said by the model": (
        "UserMessage/plain",
        lambda e: [replace(e[0], role="assistant"), *e[1:]],
    ),
    "an answer is said by the person": (
        "AgentMessage/plain",
        _where("text", lambda entry: replace(entry, role="user")),
    ),
    "the answers change places": (
        "AgentMessage/two-in-a-row",
        lambda e: [e[0], e[2], e[1]],
    ),
    "an exit status is not shown": (
        "CommandExecution/exit-three",
        _where("result", lambda entry: replace(entry, text=(entry.text or "").split("\n")[1])),
    ),
    "only the output names the status": (
        "CommandExecution/exit-words-failing",
        _where("result", lambda entry: replace(entry, text=(entry.text or "").split("\n", 1)[1])),
    ),
    "an output is cut": (
        "CommandExecution/big",
        _where("result", lambda entry: replace(entry, text=(entry.text or "")[:9000])),
    ),
    "a result is not shown": ("ToolCall/plain", _where("result", lambda _: None)),
    "an argument is not shown": (
        "ToolCall/arguments",
        _where("call", lambda entry: replace(entry, arguments={"mark": entry.arguments["mark"]})),
    ),
    "a call has another name": (
        "ToolCall/plain",
        _where("call", lambda entry: replace(entry, name="else")),
    ),
    "an error is not shown": (
        "ToolCall/error",
        _where("result", lambda entry: replace(entry, text="failed")),
    ),
    "the calls change places": ("ToolCall/parallel", _swap("call")),
    "a picture is not shown": ("UserMessage/image", _where("image", lambda _: None)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_shown_right_is_lost(name: str) -> None:
    variant_name, spoil = BROKEN[name]
    sent = conversation([BY_NAME[variant_name]]).messages
    judged = judge_history(sent, spoil(_shown(sent)), ())
    kind = variant_name.split("/")[0]
    assert "lost" in {judged[message.id].verdict for message in sent if message.kind == kind}


def test_a_failure_is_withheld_unless_the_model_is_shown_it() -> None:
    sent = conversation([BY_NAME["Error/recovered"]]).messages
    error = next(message for message in sent if message.kind == "Error")
    others = [message for message in sent if message is not error]
    losses = (Loss(loss="withheld-error", message=error.id),)
    assert judge_history(sent, _shown(others), losses)[error.id].verdict == "withheld"
    said = Entry(role="assistant", type="text", text=getattr(error, "text", ""))
    shown = [*_shown(others), said]
    assert judge_history(sent, shown, losses)[error.id].verdict == "lost"


def test_a_thought_in_marked_prose_is_narrated() -> None:
    sent = conversation([BY_NAME["Reasoning/plain"]]).messages
    shown = [
        replace(entry, type="text", text=f"(thinking) {entry.text}")
        if entry.type == "reasoning"
        else entry
        for entry in _shown(sent)
    ]
    thought = next(message for message in sent if message.kind == "Reasoning")
    assert judge_history(sent, shown, ())[thought.id].verdict == "narrated"


def test_a_call_in_prose_is_narrated_not_translated() -> None:
    sent = conversation([BY_NAME["ToolCall/plain"]]).messages
    call = next(message for message in sent if isinstance(message, Call))
    entries = _shown(sent)
    told = f"(survey_site with gate {shown_text(call.output)} {call.arguments})"
    shown = [
        Entry(role="assistant", type="text", text=told) if entry.type == "call" else entry
        for entry in entries
        if entry.type != "result"
    ]
    assert judge_history(sent, shown, ())[call.id].verdict == "narrated"


SEALED = Reasoning(id="s", author="model", content=(Opaque(form="encrypted", data="c2VhbGVk"),))


def test_a_thought_without_words_is_shown_by_its_seal_and_lost_without_one() -> None:
    sent = (SEALED, AgentMessage(id="a", author="model", content=(Text(text="Safe, WELL-1."),)))
    words = Entry(role="assistant", type="text", text="Safe, WELL-1.")
    seal = Entry(role="assistant", type="opaque", value={"type": "redacted_thinking"})
    other = Entry(role="assistant", type="opaque", value={"type": "compaction"})
    assert judge_history(sent, [seal, words], ())["s"].verdict == "exact"
    assert judge_history(sent, [other, words], ())["s"].verdict == "lost"
    assert judge_history((SEALED, replace(SEALED, id="t")), [seal], ())["t"].verdict == "lost"


def test_what_an_agent_failed_of_may_be_told_when_it_has_failed() -> None:
    failed = SubAgent(
        id="s",
        author="model",
        name="spawn",
        prompt="Look under the benches.",
        status="failed",
        error='the "benches" are shut, BENCH-1',
    )
    call = _call("c", "spawn", {"message": "Look under the benches."}, "started")
    told = Entry(role="user", type="text", text='{"errored":"the \\"benches\\" are shut, BENCH-1"}')
    assert judge_history((failed,), [*call, told], ())["s"].verdict == "translated"
    silent = _call("c", "spawn", {"message": "Look under the benches."}, "started")
    assert judge_history((failed,), [*silent], ())["s"].verdict == "lost"


def test_what_a_compaction_preserves_may_be_shown_behind_its_summary() -> None:
    kept = UserMessage(id="k", author="human", content=(Text(text="Which wheel, WHEEL-1?"),))
    summary = (Text(text="The mill has three wheels, MILL-2."),)
    boundary = CompactBoundary(id="b", author="harness", summary=summary, preserved=("k",))
    later = UserMessage(id="l", author="human", content=(Text(text="Can it be mended, OAK-3?"),))
    shown = [
        Entry(role="user", type="text", text=text)
        for text in ("The mill has three wheels, MILL-2.", "Which wheel, WHEEL-1?")
    ]
    last = Entry(role="user", type="text", text="Can it be mended, OAK-3?")
    judged = judge_history((kept, boundary, later), [*shown, last], ())
    assert {one.verdict for one in judged.values()} == {"exact", "translated"}
    misplaced = judge_history((kept, boundary, later), [last, *shown], ())
    assert misplaced["l"].verdict == "lost"
