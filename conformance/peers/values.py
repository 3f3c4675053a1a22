"""What of a message of the script stands in what a tool gives for it, value by value.

A tool need not have our kinds of calls: one that gives every call as a name, arguments and a
result is held to whether the script's values stand in them, as the request of a CLI would be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from conformance.essence import leaves, mended, shown_text, text_of, unsaid
from conformance.kinds import CWD
from conformance.truth import circumstances, shown
from live.sanitise.provenance import PLACEHOLDER
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Error,
    PermissionRequest,
    ToolCall,
)

_EXCERPT = 90

Said = Mapping[str, Any]
"""A message of the truth."""


class Wrong(NamedTuple):
    """One value that is not as the script has it, in a line each: what it is, what was given."""

    field: str
    expected: str
    got: str


def text_in(message: AnyMessage) -> str:
    """Return the words that a message consists of, whatever its kind."""
    if isinstance(message, CompactBoundary):
        return mended(text_of(message.summary))
    if isinstance(message, Error):
        return mended("\n".join([message.text, *leaves(message.raw)]))
    return mended(text_of(getattr(message, "content", ())))


def given(message: Call) -> str:
    """Return all that a call is given, as text."""
    values: Any = shown(cast("AnyMessage", message))
    own = {
        name: value
        for name, value in values.items()
        if name not in ("output", "output_start", "output_extent", "error", "report", "exit_code")
    }
    return mended("\n".join([*leaves(message.arguments), *leaves(own)]))


def resulting(message: Call) -> str:
    """Return all that came of a call, as text."""
    printed = [getattr(message, name, None) for name in ("stdout", "stderr")]
    texts = [shown_text(message.output), message.error, *printed]
    return mended("\n".join(text for text in texts if text))


def asked(said: Said) -> list[str]:
    """Return what must stand in what a call is given: the first tells it from other calls."""
    wanted: list[Any] = []
    match said["kind"]:
        case "CommandExecution":
            return [mended(said["command"])]
        case "FileChange":
            for change in said["changes"]:
                after = "" if change["operation"] == "delete" else change.get("after") or ""
                path = str(change["path"]).removeprefix(f"{CWD}/")
                wanted += [path, change.get("moved_to") or "", *after.split("\n")]
        case "Plan":
            items = [item["text"] for item in said.get("items", ())]
            wanted += items + (said.get("text") or "").split("\n")
        case "UserQuestion":
            for question in said["questions"]:
                wanted += [question["question"], *question["options"]]
        case _:
            values = [said.get(name) for name in ("arguments", "query", "prompt", "description")]
            wanted += [line for text in leaves(values) for line in text.split("\n")]
    return [text for one in wanted if (text := mended(str(one)).strip())]


def answered(said: Said) -> list[str]:
    """Return the lines that must stand in what came of a call."""
    texts = [said.get(name) for name in ("output", "output_start", "report")]
    texts += [result.get("url") for result in said.get("results", ())]
    texts += [question.get("answer") for question in said.get("questions", ())]
    return [text for one in texts if one and (text := mended(str(one)).rstrip("\r\n"))]


def missing(said: Said, message: Call) -> list[str]:
    """Return the pieces of what a call is given that a message does not hold."""
    return unsaid(asked(said), given(message))


def wrong_values(said: Said, found: AnyMessage) -> Iterator[Wrong]:
    """Yield every value in which a message is not as it was said."""
    kind = said["kind"]
    any_call = isinstance(found, ToolCall) and is_call(kind)
    if found.kind != kind and not any_call:
        yield Wrong("kind", kind, found.kind)
    if found.author != said["author"]:
        yield Wrong("author", said["author"], found.author)
    if (found.agent is None) != (said["thread"] is None):
        yield Wrong("thread", said["thread"] or "the main one", found.agent or "the main one")
    # What runs on in the background has not ended where it is called.
    if found.status != said["status"] and not (_is_elided(found) or said.get("background")):
        yield Wrong("status", said["status"], found.status)
    if isinstance(found, Call) and is_call(kind):
        yield from _wrong_call(said, found)
    else:
        yield from _wrong_words(said, found)
    yield from _wrong_circumstances(said, found)


def _is_elided(message: AnyMessage) -> bool:
    """Whether the recording leaves out the words by which a tool may know how a call ended."""
    return isinstance(message, Call) and PLACEHOLDER.search(resulting(message)) is not None


def is_call(kind: str) -> bool:
    """Whether messages of a kind are calls of tools."""
    return kind in _CALLS


_CALLS = frozenset(kind.__name__ for kind in Call.__subclasses__())


def _wrong_words(said: Said, found: AnyMessage) -> Iterator[Wrong]:
    text = text_in(found)
    match found:
        case PermissionRequest():
            for name in ("tool", "decision"):
                if said.get(name) is not None and getattr(found, name) != said[name]:
                    yield Wrong("arguments", excerpt(said[name]), excerpt(getattr(found, name)))
        case CompactBoundary():
            summary = mended(said.get("summary") or "").rstrip()
            if summary not in text:
                yield Wrong("text", excerpt(summary), excerpt(text))
            if said.get("trigger") not in (None, found.trigger):
                yield Wrong("trigger", said["trigger"], str(found.trigger))
        case Error():
            if mended(said.get("text") or "") not in text and not PLACEHOLDER.search(text):
                yield Wrong("text", excerpt(said["text"]), excerpt(text))
            if said.get("status_code") not in (None, found.status_code):
                yield Wrong("error", str(said["status_code"]), str(found.status_code))
        case _:
            # Told as words, a call is found by its pieces: there is no one text that it must be.
            wanted = said.get("text")
            if wanted is not None and mended(wanted) != text:
                yield Wrong("text", *_apart(mended(wanted), text))


def _wrong_call(said: Said, found: Call) -> Iterator[Wrong]:
    if said["kind"] == "ToolCall":
        server = said.get("server") or ""
        joined = f"{found.server or ''} {found.name}"
        if not found.name.endswith(said["name"]) or server not in joined:
            yield Wrong("name", f"{server} {said['name']}".strip(), joined.strip())
    absent = missing(said, found)
    if absent:
        yield Wrong("arguments", excerpt(absent[0]), excerpt(given(found)))
    result = resulting(found)
    # An answer may stand with its question, in what the call was given.
    unseen = unsaid(answered(said), f"{result}\n{given(found)}")
    if unseen:
        yield Wrong("output", *_apart(unseen[0], result))
    extent = said.get("output_extent")
    if extent not in (None, found.output_extent):
        yield Wrong("output_extent", extent, found.output_extent)
    error = mended(said.get("error") or "")
    if error not in result:
        yield Wrong("error", excerpt(error), excerpt(result))
    yield from _wrong_exit(said, found, result)


def _wrong_exit(said: Said, found: Call, result: str) -> Iterator[Wrong]:
    wanted = said.get("exit_code")
    if wanted is None:
        return
    if isinstance(found, CommandExecution):
        if found.exit_code != wanted:
            yield Wrong("exit_code", str(wanted), str(found.exit_code))
        return
    # A tool without a field for it may leave it in the words of the result.
    around = result
    for text in answered(said):
        around = around.replace(text, "", 1)
    if wanted and not re.search(rf"(?<!\d){wanted}(?!\d)", around):
        yield Wrong("exit_code", str(wanted), excerpt(around))


def _wrong_circumstances(said: Said, found: AnyMessage) -> Iterator[Wrong]:
    values = circumstances(found)
    for name in ("assets", "opaque"):
        wanted: Sequence[str] = said.get(name, ())
        absent = [one for one in wanted if one not in values[name]]
        if absent:
            have = f"{len(values[name])} of them" if values[name] else "none"
            yield Wrong(name, excerpt(absent[0]), have)
    if said.get("delivery") not in (None, values["delivery"]):
        yield Wrong("delivery", said["delivery"], str(values["delivery"]))
    for name in ("superseded", "inherited"):
        wanted_here, have_here = said.get(name) or False, values[name] or False
        # What a compaction takes away is known by the next request: at the end there is none.
        if have_here not in (wanted_here, "compaction"):
            yield Wrong(name, str(wanted_here), str(have_here))


def _apart(wanted: str, found: str) -> tuple[str, str]:
    """Return two texts from shortly before where they differ, so that a line shows it."""
    at = next(
        (n for n, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
        min(len(wanted), len(found)),
    )
    start = max(0, at - _EXCERPT // 3)
    return excerpt(wanted[start:], cut=start > 0), excerpt(found[start:], cut=start > 0)


def excerpt(value: Any, *, cut: bool = False) -> str:
    """Return a value in a short line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = mended(text)
    shown_part = json.dumps(text[:_EXCERPT], ensure_ascii=False)
    return ("…" if cut else "") + shown_part + ("…" if len(text) > _EXCERPT else "")
