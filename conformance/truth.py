"""A reader's messages held against what the script says must be found.

Equal in kind, author, status, order on each thread and in every value that the script chose,
exactly once; nothing besides of a person or a model. What a harness wrote by itself is in no
script: it must be marked so and stand in the list for its release (``harness.toml``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import msgspec

from conformance.corpus import Case
from conformance.essence import shown_text, text_of
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    Call,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    FileEdit,
    Opaque,
    PermissionRequest,
    Plan,
    Question,
    Reasoning,
    SubAgent,
    ToolCall,
    Transcript,
    UserMessage,
    UserQuestion,
    WebSearch,
)

_FRAME = frozenset({"kind", "author", "thread", "turn", "response", "status"})
_BY_ITSELF = ("harness", "hook")
_SCRIPTED = (CompactBoundary, Error, PermissionRequest)
"""What a harness writes because the script has it so."""


Aspect = Literal[
    "messages",
    "order",
    "authors",
    "texts",
    "calls",
    "results",
    "exit-codes",
    "statuses",
    "circumstances",
    "attachments",
    "harness",
]
"""In what a transcript is not as the truth says."""

_ASPECTS: Mapping[str, Aspect] = {
    "kind": "messages",
    "author": "authors",
    "status": "statuses",
    "text": "texts",
    "summary": "texts",
    "trigger": "circumstances",
    "output": "results",
    "output_start": "results",
    "output_extent": "results",
    "report": "results",
    "error": "results",
    "status_code": "results",
    "exit_code": "exit-codes",
    "delivery": "circumstances",
    "superseded": "circumstances",
    "inherited": "circumstances",
    "assets": "attachments",
    "opaque": "attachments",
}
"""What a value is about; every other one says what a call is."""


class Fault(NamedTuple):
    """One thing in which a transcript is not as the truth says, in words."""

    aspect: Aspect
    words: str


class HarnessMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of message that a CLI writes by itself: where, and what it is for.

    ``releases`` and ``provenance`` are patterns with ``*``; ``provenance`` is the reader's
    word for the record that it came from.
    """

    agent: str
    releases: tuple[str, ...]
    kind: str
    provenance: str
    begins: str = ""
    """What its text begins with, where the record itself says nothing of its origin."""
    why: str


@cache
def harness_messages() -> tuple[HarnessMessage, ...]:
    """Read the list of what harnesses write by themselves."""
    text = (files("conformance") / "harness.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["message"], tuple[HarnessMessage, ...])


def differences(
    case: Case, transcript: Transcript, known: Sequence[HarnessMessage] | None = None
) -> list[str]:
    """Say everything in which a reader's transcript of a case is not as its truth says."""
    return [fault.words for fault in faults(case, transcript, known)]


def faults(
    case: Case, transcript: Transcript, known: Sequence[HarnessMessage] | None = None
) -> list[Fault]:
    """Return everything in which a reader's transcript of a case is not as its truth says."""
    listed = harness_messages() if known is None else known
    wanted = recorded_messages(case)
    found = _by_thread(message for message in transcript.messages if not is_sealed(message, case))
    names = _thread_names(wanted, found)
    wrong: list[Fault] = []
    for thread, messages in wanted.items():
        have = found.pop(names.get(thread), [])
        wrong += _thread(thread, messages, have, lambda message: _listed(message, case, listed))
    for thread, messages in found.items():
        wrong += [
            Fault("messages", f"thread {thread}: {_label(message)} is in no script")
            for message in messages
            if message.author not in _BY_ITSELF or not _listed(message, case, listed)
        ]
    return wrong


def asked_for(case: Case) -> set[Aspect]:
    """Return the aspects in which a reader can be wrong about a case: what its truth asks for."""
    found: set[Aspect] = {"messages", "order", "authors", "harness"}
    for messages in recorded_messages(case).values():
        for _, values in messages:
            for name in values.keys() - _FRAME | values.keys() & {"status"}:
                found.add(_ASPECTS.get(name, "calls"))
    # That something was rewound or copied can be said wrongly of any message.
    found.add("circumstances")
    return found


def recorded_pairs(case: Case, transcript: Transcript) -> Iterator[tuple[int, AnyMessage]]:
    """Yield each message of the truth that the CLI kept, by its index, with the reader's."""
    wanted = recorded_messages(case)
    found = _by_thread(message for message in transcript.messages if not is_sealed(message, case))
    names = _thread_names(wanted, found)
    for thread, messages in wanted.items():
        have = [
            message
            for message in found.get(names.get(thread), [])
            if message.author not in _BY_ITSELF or isinstance(message, _SCRIPTED)
        ]
        keys = [_key(values) for _, values in messages]
        shown_keys = [_key({"kind": one.kind, **shown(one)}) for one in have]
        matcher = SequenceMatcher(None, keys, shown_keys, autojunk=False)
        for _, i, i_end, j, j_end in matcher.get_opcodes():
            for offset in range(min(i_end - i, j_end - j)):
                yield messages[i + offset][0], have[j + offset]


def shown(message: AnyMessage) -> dict[str, Any]:
    """Return a message's values under the names that truth uses."""
    match message:
        case UserMessage() | AgentMessage() | Reasoning():
            return {"text": text_of(message.content)}
        case CommandExecution():
            values: dict[str, Any] = {
                "command": message.command,
                "exit_code": message.exit_code,
                "background": message.background_id is not None,
            }
        case FileChange():
            values = {"changes": [_edit(edit) for edit in message.changes]}
        case ToolCall():
            values = {
                "name": message.name,
                "server": message.server,
                "arguments": message.arguments,
            }
        case Plan():
            items = [{"text": item.text, "status": item.status} for item in message.items]
            values = {"items": items, "form": message.form, "text": text_of(message.content)}
        case WebSearch():
            results = [{"title": result.title, "url": result.url} for result in message.results]
            values = {"query": message.query, "results": results}
        case SubAgent():
            values = {
                "description": message.description,
                "prompt": message.prompt,
                "report": _result(message),
                "background": message.background,
            }
        case UserQuestion():
            values = {"questions": [_question(question) for question in message.questions]}
        case PermissionRequest():
            return {"tool": message.tool, "decision": message.decision}
        case CompactBoundary():
            summary = None if message.summary is None else text_of(message.summary)
            return {"trigger": message.trigger, "summary": summary}
        case Error():
            return {"text": message.text, "status_code": message.status_code}
        case _:
            return {}
    return {
        "name": message.name,
        "output": _result(message),
        "output_start": _result(message),
        "output_extent": message.output_extent,
        "error": message.error,
        **values,
    }


def circumstances(message: AnyMessage) -> dict[str, Any]:
    """Return what any message may say of itself, under the names that truth uses."""
    superseded = message.superseded_by
    parts = [*getattr(message, "content", ()), *(getattr(message, "output", None) or ())]
    return {
        "delivery": message.delivery,
        "superseded": None if superseded is None else superseded.why,
        "inherited": message.inherited_from is not None,
        "assets": [part.sha256 for part in parts if isinstance(part, Asset)],
        "opaque": [part.data for part in parts if isinstance(part, Opaque)],
    }


# ------------------------------------------------------------------ one thread


def _thread(
    thread: str | None,
    wanted: Sequence[tuple[int, Mapping[str, Any]]],
    found: Sequence[AnyMessage],
    listed: Callable[[AnyMessage], bool],
) -> Iterator[Fault]:
    have = [m for m in found if m.author not in _BY_ITSELF or isinstance(m, _SCRIPTED)]
    for message in found:
        if message not in have and not listed(message):
            words = f"{_label(message)} of the harness ({message.provenance}) is not on the list"
            yield Fault("harness", words)
    where = "" if thread is None else f"thread {thread}: "
    # What a compaction takes away is known by the next request: at the very end there is none.
    unknown = bool(wanted) and wanted[-1][1]["kind"] == "CompactBoundary"
    keys = [_key(values) for _, values in wanted]
    have_keys = [_key({"kind": m.kind, **shown(m)}) for m in have]
    matcher = SequenceMatcher(None, keys, have_keys, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        paired = min(i_end - i, j_end - j)
        for offset in range(paired):
            index, values = wanted[i + offset]
            for aspect, words in _message(values, have[j + offset], unknown=unknown):
                yield Fault(aspect, f"{where}message {index} ({values['kind']}): {words}")
        if tag == "equal":
            continue
        for index, values in wanted[i + paired : i_end]:
            key = _key(values)
            aspect: Aspect = "order" if _as_often(key, keys, have_keys) else "messages"
            yield Fault(aspect, f"{where}message {index} is missing: {key}")
        for message, key in zip(
            have[j + paired : j_end], have_keys[j + paired : j_end], strict=True
        ):
            if message.author not in _BY_ITSELF or not listed(message):
                aspect = "order" if _as_often(key, keys, have_keys) else "messages"
                yield Fault(aspect, f"{where}{_label(message)} is in no script")


def _as_often(key: Any, wanted: Sequence[Any], found: Sequence[Any]) -> bool:
    """Whether a message is there as often as it must be: then it only stands elsewhere."""
    return wanted.count(key) == found.count(key)


def _message(wanted: Mapping[str, Any], found: AnyMessage, *, unknown: bool) -> Iterator[Fault]:
    for name, value in (
        ("kind", found.kind),
        ("author", found.author),
        ("status", found.status),
    ):
        if name in wanted and wanted[name] != value:
            yield Fault(_ASPECTS[name], f"{name} is {value!r}, not {wanted[name]!r}")
    if wanted["kind"] != found.kind:
        return
    values = {**circumstances(found), **shown(found)}
    for name in ("superseded", "inherited"):
        if values[name] == "compaction" and unknown:
            continue
        if values[name] and name not in wanted:
            words = f"{name} is {values[name]!r}, and nothing of the kind happened"
            yield Fault("circumstances", words)
    for name, value in wanted.items():
        if name in _FRAME:
            continue
        aspect = _ASPECTS.get(name, "calls")
        if name not in values:
            yield Fault(aspect, f"{name}: a {found.kind} has no such value")
        elif not _equal(found, name, value, values[name]):
            yield Fault(aspect, f"{name} is {_short(values[name])}, not {_short(value)}")


def _equal(found: AnyMessage, name: str, wanted: Any, value: Any) -> bool:
    if name == "changes":
        return len(wanted) == len(value) and all(
            _equal_edit(one, other) for one, other in zip(wanted, value, strict=True)
        )
    if name == "items":
        return [(i["text"], i["status"]) for i in wanted] == [
            (i["text"], i["status"]) for i in value
        ]
    if isinstance(found, Error) and name == "text":
        # Where the CLI says it in words of its own, the provider's stand in what it kept besides.
        return wanted in value or any(wanted in words for words in _strings(found.raw))
    if name == "error":
        # The script chose the words; every CLI sets a frame of its own around them.
        return wanted == value if wanted is None else wanted in (value or "")
    if name == "output_start":
        return isinstance(value, str) and value.startswith(wanted)
    if name == "summary":
        # What the model summed up, between what the harness says before and behind it.
        return isinstance(value, str) and wanted.rstrip() in value
    if name in ("output", "report") and isinstance(wanted, str) and isinstance(value, str):
        return wanted.rstrip("\r\n") == value.rstrip("\r\n")
    return wanted == value and isinstance(wanted, bool) == isinstance(value, bool)


def _equal_edit(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return all(
        value == found.get(name)
        or (
            isinstance(value, str)
            and isinstance(found.get(name), str)
            and name in ("before", "after")
            and value.rstrip("\n") == found[name].rstrip("\n")
        )
        for name, value in wanted.items()
    )


# ------------------------------------------------------------------ what is expected


def recorded_messages(case: Case) -> dict[str | None, list[tuple[int, Mapping[str, Any]]]]:
    """Return what the truth says of each thread, less what the CLI did not keep."""
    gone: dict[int, set[str] | None] = {}
    for unrecorded in case.facts.unrecorded:
        fields, before = unrecorded.fields, gone.get(unrecorded.message, set[str]())
        gone[unrecorded.message] = None if fields is None or before is None else before | {*fields}
    threads: dict[str | None, list[tuple[int, Mapping[str, Any]]]] = {None: []}
    for index, message in enumerate(case.truth.messages):
        missing = gone.get(index, set[str]())
        if missing is None:
            continue
        kept = {name: value for name, value in message.items() if name not in missing}
        threads.setdefault(message["thread"], []).append((index, kept))
    return threads


def is_sealed(message: AnyMessage, case: Case) -> bool:
    """Whether a message stands for one of which the file holds no word of the script's.

    Its content is sealed, or it is a failure that the CLI told in words of its own.
    """
    wordless = [
        case.truth.messages[unrecorded.message]
        for unrecorded in case.facts.unrecorded
        if unrecorded.fields is None
    ]
    if isinstance(message, Error):
        return any(
            one["kind"] == "Error" and one.get("status_code") == message.status_code
            for one in wordless
        )
    parts = getattr(message, "content", ())
    sealed = bool(parts) and all(isinstance(part, Opaque) for part in parts)
    return sealed and any(one["kind"] == message.kind for one in wordless)


def _by_thread(messages: Iterable[AnyMessage]) -> dict[str | None, list[AnyMessage]]:
    threads: dict[str | None, list[AnyMessage]] = {}
    for message in messages:
        threads.setdefault(message.agent, []).append(message)
    return threads


def _thread_names(
    wanted: Mapping[str | None, Sequence[tuple[int, Mapping[str, Any]]]],
    found: Mapping[str | None, Sequence[AnyMessage]],
) -> dict[str | None, str | None]:
    """Match the script's thread names to the reader's, by the words that were said in each."""
    names: dict[str | None, str | None] = {None: None}
    free = [thread for thread in found if thread is not None]
    for thread, messages in wanted.items():
        if thread is None or not free:
            continue
        texts = {values["text"] for _, values in messages if "text" in values}
        best = max(
            free,
            key=lambda name: len(texts & {shown(m).get("text") for m in found[name]}),
        )
        free.remove(best)
        names[thread] = best
    for thread in wanted:
        # A thread that the reader does not know: nothing is found in it.
        names.setdefault(thread, f"(no thread {thread})")
    return names


def _listed(message: AnyMessage, case: Case, listed: Sequence[HarnessMessage]) -> bool:
    return any(
        entry.agent == case.facts.agent
        and entry.kind == message.kind
        and any(fnmatchcase(case.facts.release, release) for release in entry.releases)
        and fnmatchcase(message.provenance or "", entry.provenance)
        and str(shown(message).get("text", "")).startswith(entry.begins)
        for entry in listed
    )


# ------------------------------------------------------------------ words


def _result(call: Call) -> str | None:
    return None if call.output is None else shown_text(call.output)


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _strings(one)


def _question(question: Question) -> dict[str, Any]:
    return {
        "question": question.text,
        "options": list(question.options),
        "answer": question.answer,
    }


def _edit(edit: FileEdit) -> dict[str, Any]:
    values = msgspec.to_builtins(edit)
    assert isinstance(values, dict)
    return values


def _key(values: Mapping[str, Any]) -> str:
    for name in ("text", "command", "description", "query", "name"):
        if values.get(name) and values["kind"] not in ("Error", "FileChange"):
            return f"{values['kind']} {_short(values[name])}"
    if values.get("changes"):
        return f"FileChange {values['changes'][0]['path']}"
    return values["kind"]


def _label(message: AnyMessage) -> str:
    return _key({"kind": message.kind, **shown(message)})


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:120]}…({len(text)} characters)"
