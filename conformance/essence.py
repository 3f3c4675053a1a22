"""What makes a message itself: the words by which it is recognised wherever it went."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    FileEdit,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
    UserQuestion,
    WebSearch,
)

TOKEN = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]{4,}\b")
"""A planted word, in a made conversation or in a scenario."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Atom(NamedTuple):
    """The smallest thing that can cross by itself: a message, or one file of a change.

    CLIs differ in how many files one edit holds and where its words stand, so a
    :class:`FileChange` is compared file by file, and its prose as an answer of its own.
    """

    message: AnyMessage
    edit: FileEdit | None = None
    prose: bool = False

    @property
    def kind(self) -> str:
        """The kind by which the atom is compared."""
        return "AgentMessage" if self.prose else self.message.kind


def atoms(messages: Iterable[AnyMessage]) -> list[Atom]:
    """Split messages into what can cross by itself, in order."""
    found: list[Atom] = []
    for message in messages:
        if isinstance(message, FileChange) and message.changes:
            if text_of(message.content):
                found.append(Atom(message, prose=True))
            found.extend(Atom(message, edit=edit) for edit in message.changes)
        else:
            found.append(Atom(message))
    return found


# ------------------------------------------------------------------ words


def text_of(content: Content | None) -> str:
    """Return the words of some parts, one part a line."""
    return "\n".join(part.text for part in content or () if isinstance(part, Text))


def shown_text(content: Content | None) -> str:
    """Return the words and JSON values of some parts, as a reader of text would see them."""
    shown: list[str] = []
    for part in content or ():
        if isinstance(part, Text):
            shown.append(part.text)
        elif isinstance(part, Structured):
            shown.append(orjson.dumps(part.value).decode())
    return "\n".join(shown)


def mended(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced, as strict UTF-8 needs it."""
    return _SURROGATE.sub("\ufffd", text)


def has_half_pair(value: Any) -> bool:
    """Whether any string of a JSON value holds half a surrogate pair."""
    return any(_SURROGATE.search(text) for text in leaves(value))


def leaves(value: Any) -> Iterator[str]:
    """Yield every scalar of a JSON value as text (true, false and null say nothing)."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def words(atom: Atom) -> str | None:
    """Return the text that *is* the message, for kinds that consist of words."""
    message = atom.message
    if atom.prose and isinstance(message, FileChange):
        return text_of(message.content)
    if isinstance(message, UserMessage | AgentMessage | Reasoning):
        return text_of(message.content)
    return None


def essence(atom: Atom) -> tuple[str, ...]:
    """Return what must be found of a message wherever it is said in prose.

    Paths, words, questions and answers; never the wording around them.
    """
    message = atom.message
    said = words(atom)
    if said is not None:
        return tuple(_pieces([said]))
    match message:
        case FileChange():
            return tuple(_pieces(_edit_essence(atom.edit)))
        case Plan():
            return tuple(_pieces([text_of(message.content), *(i.text for i in message.items)]))
        case WebSearch():
            hits = [text for hit in message.results for text in (hit.title, hit.url)]
            return tuple(_pieces([message.query, *hits, *_result(message)]))
        case SubAgent():
            return tuple(_pieces([message.description, message.prompt, *_result(message)]))
        case UserQuestion():
            asked = [text for one in message.questions for text in (one.text, one.answer)]
            return tuple(_pieces(asked or _result(message)))
        case CommandExecution():
            return tuple(_pieces([message.command, *_result(message)]))
        case Call():
            return tuple(_pieces([message.name, *leaves(message.arguments), *_result(message)]))
        case PermissionRequest():
            return tuple(_pieces([*leaves(message.arguments), message.reason]))
        case CompactBoundary():
            return tuple(_pieces([text_of(message.summary)])) or ("compacted",)
        case Error():
            return tuple(_pieces([message.text]))
        case Other():
            return tuple(_pieces(leaves(message.value)))
        case _:
            return ()


def unsaid(pieces: Iterable[str], text: str) -> list[str]:
    """Return the pieces that a text does not say, neither plainly nor as JSON spells them."""
    return [
        piece
        for piece in pieces
        if piece not in text and json.dumps(piece, ensure_ascii=False)[1:-1] not in text
    ]


def tokens(atom: Atom) -> frozenset[str]:
    """Return the planted words in a message."""
    return frozenset(TOKEN.findall("\n".join(_strings(atom))))


def identity(atom: Atom) -> Any:
    """Return the value by which a message and its copy are the same one, or None."""
    message = atom.message
    said = words(atom)
    if said is not None:
        assets = () if atom.prose else tuple(asset_digests(getattr(message, "content", ())))
        return (mended(said), assets) if said or assets else None
    match message:
        case CommandExecution():
            return mended(message.command)
        case FileChange():
            return (atom.edit.path, atom.edit.operation, atom.edit.after) if atom.edit else None
        case ToolCall():
            return (message.name, message.server, _canonical(message.arguments))
        case Call():
            return essence(atom) or None
        case _:
            return essence(atom) or None


def asset_digests(content: Content | None) -> list[str]:
    """Return the digests of the attachments among some parts."""
    return [part.sha256 or part.path or "" for part in content or () if isinstance(part, Asset)]


def opaque(content: Content) -> list[str]:
    """Return what only a provider can read among some parts."""
    return [part.data for part in content if isinstance(part, Opaque)]


def without_noise(message: AnyMessage) -> AnyMessage:
    """Return the message without what names it, places it or links it to others."""
    return replace(
        message,
        id="",
        external_id=None,
        follows=None,
        turn=None,
        response=None,
        caller=None,
        caller_evidence="none",
        sources=(),
        at=None,
        at_source=None,
        inherited_from=None,
    )


def _edit_essence(edit: FileEdit | None) -> list[str | None]:
    if edit is None:
        return []
    diff = [line[1:] for line in (edit.diff or "").split("\n") if line[:1] in ("+", "-")]
    after = None if edit.operation == "delete" else edit.after
    return [edit.path, edit.moved_to, after, *diff]


def _result(call: Call) -> list[str]:
    if call.error is not None:
        return [call.error]
    return [shown_text(call.output)]


def _pieces(texts: Iterable[str | None]) -> Iterator[str]:
    for text in texts:
        for line in mended(text or "").replace("\r", "\n").split("\n"):
            if line.strip():
                yield line.strip()


def _strings(atom: Atom) -> Iterator[str]:
    message = atom.message
    yield from essence(atom)
    if isinstance(message, Call) and not atom.prose:
        yield from leaves(message.arguments)
        yield shown_text(message.output)
        yield message.error or ""
    if isinstance(message, FileChange) and atom.edit:
        yield atom.edit.before or ""


def _canonical(value: Any) -> str:
    return repr(value) if not isinstance(value, dict) else repr(sorted(value.items(), key=str))
