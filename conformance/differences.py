"""Everything in which a message that came back is not as it was sent, each named.

Each difference says which losses may declare it; one that no loss excuses is always a defect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from conformance.essence import (
    Atom,
    asset_digests,
    essence,
    has_half_pair,
    leaves,
    mended,
    opaque,
    shown_text,
    text_of,
    unsaid,
    without_noise,
    words,
)
from transcripts.losses import LossId
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    Other,
    PermissionRequest,
    Plan,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserQuestion,
    WebSearch,
)


class Difference(NamedTuple):
    """One thing that is not as it was. ``excuses`` are the losses that may declare it; with
    ``soft`` it needs no declaration."""

    what: str
    excuses: frozenset[LossId]
    soft: bool = False


def absent(atom: Atom) -> Iterator[Difference]:
    """Yield what it means that a message did not come back."""
    message = atom.message
    excuses: set[LossId] = set()
    if isinstance(message, Error):
        excuses.add("withheld-error")
    if message.author in ("harness", "hook"):
        excuses.add("harness-dropped")
    if message.superseded_by is not None:
        excuses.add("superseded-dropped")
    if message.agent is not None:
        excuses.add("thread-flattened")
    if not essence(atom):
        excuses.add("empty-dropped")
        if isinstance(message, Reasoning) and opaque(message.content):
            excuses.add("reasoning-opaque-dropped")
        if asset_digests(getattr(message, "content", ())):
            excuses.add("asset-dropped")
    yield Difference("did not come back", frozenset(excuses))


def is_prose_of(atom: Atom, other: Atom) -> bool:
    """Whether a message came back as words of another kind."""
    return words(other) is not None and atom.kind != other.kind


def narrated(atom: Atom, other: Atom) -> Iterator[Difference]:
    """Yield what a message that became prose lost: by its words and who says them."""
    message = atom.message
    said = mended(words(other) or "")
    if words(atom) is not None and not isinstance(message, Reasoning):
        yield Difference(f"{atom.kind} came back as {other.kind}", frozenset())
        return
    yield Difference("became prose", frozenset({"narrated", "orphan-result-narrated"}))
    absent = unsaid(essence(atom), said)
    if absent:
        yield Difference(f"the prose lacks {absent[0][:60]!r}", frozenset())
    speaker = other.message.author
    if (message.author == "model" and speaker != "model") or (
        message.author in ("harness", "hook") and speaker == "human"
    ):
        yield Difference(f"the {speaker} now says it", frozenset())
    if other.kind == "Reasoning":
        yield Difference("became a thought", frozenset())


def native(atom: Atom, other: Atom, *, first: bool = True) -> Iterator[Difference]:
    """Yield what differs between two records; ``first`` is False for later files of a change."""
    mine, theirs = atom.message, other.message
    yield from _circumstances(mine, theirs)
    said = words(atom)
    if said is not None:
        yield from _content(
            "text",
            getattr(mine, "content", ()),
            getattr(theirs, "content", ()),
            prose=atom.prose or other.prose,
            one=said,
            two=words(other) or "",
        )
        return
    if isinstance(mine, Call) and isinstance(theirs, Call):
        yield from _fate(mine, theirs, whole=first)
    if mine.kind != theirs.kind:
        yield from _meaning_elsewhere(atom, other)
        return
    match mine, theirs:
        case CommandExecution(), CommandExecution():
            yield from _command(mine, theirs)
        case FileChange(), FileChange():
            yield from _edit(atom, other)
        case ToolCall(), ToolCall():
            yield from _tool(mine, theirs)
        case _:
            yield from _rest(mine, theirs)


def _circumstances(mine: AnyMessage, theirs: AnyMessage) -> Iterator[Difference]:
    if mine.author != theirs.author:
        # A call that a harness made by itself is the model's wherever only models make calls.
        made = isinstance(mine, Call) and mine.author in ("harness", "hook")
        excuses: frozenset[LossId] = frozenset({"provenance-dropped"} if made else ())
        yield Difference(f"author {mine.author} became {theirs.author}", excuses)
    if mine.agent is not None and theirs.agent is None:
        yield Difference("left its thread", frozenset({"thread-flattened"}))
    elif mine.agent is None and theirs.agent is not None:
        yield Difference("went into another thread", frozenset())
    if mine.superseded_by is not None and theirs.superseded_by is None:
        yield Difference("no longer superseded", frozenset({"superseded-dropped"}))
    elif mine.superseded_by is None and theirs.superseded_by is not None:
        yield Difference("became superseded", frozenset())
    if mine.at is not None and mine.at != theirs.at:
        yield Difference("time differs", frozenset({"time-moved"}))
    if mine.usage is not None and mine.usage != theirs.usage:
        yield Difference("usage differs", frozenset({"usage-dropped"}))
    if mine.model is not None and mine.model != theirs.model:
        yield Difference("model differs", frozenset({"model-dropped"}))
    if mine.provenance != theirs.provenance or mine.delivery != theirs.delivery:
        yield Difference("provenance differs", frozenset({"provenance-dropped"}), soft=True)


def _fate(mine: Call, theirs: Call, *, whole: bool = True) -> Iterator[Difference]:
    """Compare what came of a call; ``whole`` is False for all but the first file of a change."""
    open_ended = mine.output is None and mine.error is None
    if open_ended:
        # Whether the record holds a made-up result can't be seen where the reader knows its
        # own mark and says again that there was none.
        yield Difference("closed", frozenset({"call-closed"}), soft=True)
    if mine.status != theirs.status:
        closed = mine.status == "unresolved" and theirs.status != "completed"
        excuses: frozenset[LossId] = frozenset({"call-closed"}) if closed else frozenset()
        yield Difference(f"status {mine.status} became {theirs.status}", excuses)
    if mine.error != theirs.error:
        if mine.error is not None and theirs.error is None:
            yield Difference("the error is gone or became an output", frozenset())
        elif mine.error is None:
            # A record of a refusal holds words about it; the refusal itself is the status.
            yield Difference(
                "an error was added",
                frozenset({"call-closed"}) if open_ended else frozenset(),
                soft=mine.status == theirs.status and mine.status in ("declined", "cancelled"),
            )
        elif mended(mine.error or "") == theirs.error:
            yield Difference("error mended", frozenset({"replacement-character"}))
        else:
            yield Difference(f"error became {(theirs.error or '')[:60]!r}", frozenset())
    if mine.output is None and theirs.output is not None:
        made_up = text_of(theirs.output) != ""
        if open_ended:
            yield Difference("a result was added", frozenset({"call-closed"}))
        elif mine.error is None and made_up:
            yield Difference("a result was made up", frozenset())
    elif not whole or (isinstance(mine, UserQuestion) and mine.questions):
        # One result can't be repeated for every file; an answer is compared as one.
        pass
    elif mine.output is not None and theirs.output is None:
        if mine.output and shown_text(mine.output):
            yield Difference("the output is gone", frozenset())
    elif mine.output is not None and theirs.output is not None:
        yield from _content("output", mine.output, theirs.output)
    if mine.duration_ms is not None and theirs.duration_ms != mine.duration_ms:
        yield Difference("duration differs", frozenset({"duration-dropped"}))


def _content(
    what: str,
    mine: Content,
    theirs: Content,
    *,
    prose: bool = False,
    one: str | None = None,
    two: str | None = None,
) -> Iterator[Difference]:
    """Compare parts: words exactly (trailing line ends of a result apart), the rest by digest."""
    mine_text = text_of(mine) if one is None else one
    their_text = text_of(theirs) if two is None else two
    lost_json = [part for part in mine if isinstance(part, Structured)]
    kept_json = [part for part in theirs if isinstance(part, Structured)]
    for part in lost_json:
        if part in kept_json:
            continue
        said = set(leaves(part.value))
        if all(leaf in shown_text(theirs) for leaf in said):
            yield Difference("JSON became text", frozenset({"structured-as-text"}))
        else:
            yield Difference("a JSON value is gone", frozenset())
    if lost_json and not kept_json:
        mine_text, their_text = "", ""
    if what == "output":
        mine_text, their_text = mine_text.rstrip("\r\n"), their_text.rstrip("\r\n")
    if mine_text != their_text:
        if mended(mine_text) == their_text:
            yield Difference(f"{what} mended", frozenset({"replacement-character"}))
        elif _without_blank_lines(mine_text) != _without_blank_lines(their_text):
            yield Difference(_changed(what, mine_text, their_text), frozenset())
        elif len([p for p in mine if isinstance(p, Text)]) < 2:
            yield Difference(f"{what} differs in line ends", frozenset())
    if prose:
        return
    if [digest for digest in asset_digests(mine) if digest not in asset_digests(theirs)]:
        yield Difference("an attachment is gone", frozenset({"asset-dropped"}))
    if any(data not in opaque(theirs) for data in opaque(mine)):
        yield Difference("an opaque part is gone", frozenset({"reasoning-opaque-dropped"}))


def _changed(what: str, mine: str, theirs: str) -> str:
    place = next(
        (i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b),
        min(len(mine), len(theirs)),
    )
    before = max(0, place - 10)
    return (
        f"{what} differs at character {place}: {mine[before : place + 30]!r} "
        f"became {theirs[before : place + 30]!r}"
    )


def _without_blank_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def _command(mine: CommandExecution, theirs: CommandExecution) -> Iterator[Difference]:
    if mine.command != theirs.command:
        if mended(mine.command) == theirs.command:
            yield Difference("command mended", frozenset({"replacement-character"}))
        else:
            yield Difference(_changed("command", mine.command, theirs.command), frozenset())
    if mine.exit_code != theirs.exit_code:
        closed = mine.status == "unresolved" and mine.exit_code is None
        yield Difference(
            f"exit code {mine.exit_code} became {theirs.exit_code}",
            frozenset({"call-closed"}) if closed else frozenset(),
        )
    elif mine.exit_code_source == "field" and theirs.exit_code_source != "field":
        yield Difference("the status is in words", frozenset({"exit-code-as-text"}))
    if mine.cwd is not None and mine.cwd != theirs.cwd:
        yield Difference("directory differs", frozenset({"cwd-dropped"}))


def _edit(atom: Atom, other: Atom) -> Iterator[Difference]:
    mine, theirs = atom.edit, other.edit
    if mine is None or theirs is None:
        if mine is not None:
            yield Difference("the file is gone", frozenset())
        return
    for field in ("path", "operation", "moved_to"):
        if getattr(mine, field) != getattr(theirs, field):
            was, now = getattr(mine, field), getattr(theirs, field)
            yield Difference(f"{field} {was!r} became {now!r}", frozenset())
    for field in ("before", "after"):
        was, now = getattr(mine, field), getattr(theirs, field)
        if was is not None and was != now:
            if now is not None and mended(was) == now:
                yield Difference(f"{field} mended", frozenset({"replacement-character"}))
            elif now is not None and not mine.whole and was.rstrip("\n") == now.rstrip("\n"):
                # A fragment by lines and a fragment by characters say the same.
                continue
            else:
                yield Difference(_changed(field, was, now or ""), frozenset())
    if mine.diff is not None and mine.before is None and mine.after is None:
        pieces = essence(atom)
        held = "\n".join((*essence(other), theirs.before or "", theirs.after or ""))
        if not all(piece in held for piece in pieces):
            yield Difference("the diff is gone", frozenset())


def _tool(mine: ToolCall, theirs: ToolCall) -> Iterator[Difference]:
    if (mine.name, mine.server) != (theirs.name, theirs.server):
        was, now = (mine.server, mine.name), (theirs.server, theirs.name)
        yield Difference(f"tool {was} became {now}", frozenset())
    if mine.arguments != theirs.arguments:
        if has_half_pair(mine.arguments):
            yield Difference("arguments mended", frozenset({"replacement-character"}))
        elif not _wrapped(mine.arguments, theirs.arguments):
            yield Difference(f"arguments became {str(theirs.arguments)[:80]}", frozenset())


def _wrapped(mine: Any, theirs: Any) -> bool:
    """Whether free text became the only value of an object, where a target takes no text."""
    return isinstance(mine, str) and isinstance(theirs, Mapping) and list(theirs.values()) == [mine]


def _rest(mine: AnyMessage, theirs: AnyMessage) -> Iterator[Difference]:
    """Compare what is particular to the kinds that may be narrated."""
    match mine, theirs:
        case Plan(), Plan():
            fields = ("form", "items")
            yield from _content("plan", mine.content, theirs.content)
        case WebSearch(), WebSearch():
            fields = ("query", "results")
        case SubAgent(), SubAgent():
            fields = ("description", "prompt")
        case UserQuestion(), UserQuestion():
            fields = ("questions",)
        case PermissionRequest(), PermissionRequest():
            fields = ("tool", "arguments", "reason", "decision")
        case CompactBoundary(), CompactBoundary():
            fields = ("trigger", "pre_tokens", "post_tokens")
            yield from _content("summary", mine.summary or (), theirs.summary or ())
        case Error(), Error():
            fields = ("text", "failure", "status_code")
        case Other(), Other():
            fields = ("record", "value")
        case _:
            fields = ()
    for field in fields:
        was, now = getattr(mine, field), getattr(theirs, field)
        if was not in (None, ()) and was != now:
            yield Difference(f"{field} {str(was)[:60]!r} became {str(now)[:60]!r}", frozenset())


def _meaning_elsewhere(atom: Atom, other: Atom) -> Iterator[Difference]:
    """Compare with a call of another kind: whatever the message is must be in it."""
    call = other.message
    if not isinstance(call, Call):
        yield Difference(f"{atom.kind} became {other.kind}", frozenset())
        return
    held = [*leaves(call.arguments), shown_text(call.output), call.error or "", call.name]
    if isinstance(call, CommandExecution):
        held.append(call.command)
    everything = mended("\n".join(held))
    absent = unsaid(essence(atom), everything)
    if absent:
        yield Difference(f"as {other.kind} it lacks {absent[0][:60]!r}", frozenset())


def same_form(atom: Atom, other: Atom) -> bool:
    """Whether the copy is the same in every field, beyond its meaning."""
    if atom.prose or other.prose:
        return atom.prose == other.prose
    mine, theirs = without_noise(atom.message), without_noise(other.message)
    return mine == theirs
