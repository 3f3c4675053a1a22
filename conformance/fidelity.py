"""What became of each message that crossed: a verdict for each, and what was lost of it.

Messages are matched by what they *are* (:mod:`conformance.essence`), never by their ids or by
the wording of a narration; then everything that differs is named, and held against the
losses that the writer declared. Losing more than declared is ``lost``, less is ``stale``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from conformance.essence import (
    Atom,
    asset_digests,
    atoms,
    essence,
    has_half_pair,
    identity,
    leaves,
    mended,
    shown_text,
    text_of,
    tokens,
    unsaid,
    without_noise,
    words,
)
from conformance.verdicts import Judgement, Verdict, in_order
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
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


class Fidelity(NamedTuple):
    """The judgement of each message that crossed, by its id, and what came back besides.

    ``strays`` are messages of a person or a model that nobody sent across, each with the id
    of the message after which it stands (None: before all).
    """

    judged: Mapping[str, Judgement]
    strays: Sequence[tuple[str | None, AnyMessage]]


class Difference(NamedTuple):
    """One thing that is not as it was. ``excuses`` are the losses that may declare it; with
    ``soft`` it needs no declaration."""

    what: str
    excuses: frozenset[LossId]
    soft: bool = False


def compare(
    sent: Sequence[AnyMessage],
    came_back: Sequence[AnyMessage],
    losses: Iterable[Loss],
    cwd: str | None = None,
) -> Fidelity:
    """Judge every message that was sent across by what came back and what was declared.

    ``cwd`` is the session's directory: a command without one of its own ran there.
    """
    sent = [_located(message, cwd) for message in sent]
    came_back = [_located(message, cwd) for message in came_back]
    declared: dict[str | None, set[LossId]] = {}
    for loss in losses:
        declared.setdefault(loss.message, set()).add(loss.loss)
    there, back = atoms(sent), atoms(came_back)
    pairs = _pair(there, back)
    misplaced = _misplaced(there, pairs)
    by_message: dict[str, list[tuple[Atom, Atom | None]]] = {}
    for index, atom in enumerate(there):
        partner = pairs.get(index)
        by_message.setdefault(atom.message.id, []).append(
            (atom, None if partner is None else back[partner])
        )
    doubled, strays = _strays(there, back, pairs)
    everywhere = declared.get(None, set())
    # A thread that stays behind stays whole: said once, it holds for all of it.
    flattened = {
        message.agent
        for message in sent
        if message.agent and "thread-flattened" in declared.get(message.id, ())
    }
    judged: dict[str, Judgement] = {}
    for message in sent:
        if message.agent in flattened:
            declared.setdefault(message.id, set()).add("thread-flattened")
        found = by_message[message.id]
        notes = [misplaced[message.id]] if message.id in misplaced else []
        notes += doubled.get(message.id, [])
        judged[message.id] = _judge(found, notes, declared.get(message.id, set()), everywhere)
    return Fidelity(judged, strays)


def _located(message: AnyMessage, cwd: str | None) -> AnyMessage:
    if isinstance(message, CommandExecution) and message.cwd is None:
        return replace(message, cwd=cwd)
    return message


# ------------------------------------------------------------------ who is who


_EQUAL, _SAME, _TOKEN, _CALL, _PROSE, _TRACE = 1000, 900, 500, 300, 200, 50


def _pair(there: Sequence[Atom], back: Sequence[Atom]) -> dict[int, int]:
    """Match atoms one to one, the likest first, equals in the order in which they stand."""
    marks = [(identity(atom), tokens(atom), tuple(essence(atom))) for atom in back]
    said = [mended(words(atom) or "") for atom in back]
    likely: list[tuple[int, int, int]] = []
    for i, atom in enumerate(there):
        one = (identity(atom), tokens(atom), essence(atom))
        for j, other in enumerate(back):
            score = _likeness(atom, one, other, marks[j], said[j])
            if score:
                likely.append((-score, i, j))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in sorted(likely):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _likeness(
    one: Atom,
    mark: tuple[Any, frozenset[str], tuple[str, ...]],
    other: Atom,
    other_mark: tuple[Any, frozenset[str], tuple[str, ...]],
    other_words: str,
) -> int:
    shared = len(mark[1] & other_mark[1])
    alike = one.kind == other.kind
    if alike and mark[0] is not None and mark[0] == other_mark[0]:
        return _EQUAL + shared + (20 if _same_result(one, other) else 0)
    if alike and mark[2] and mark[2] == other_mark[2]:
        return _SAME + shared
    if alike and shared and not (words(one) and len(other_words) > 2 * len(words(one) or "")):
        return _TOKEN + shared
    if alike and _unmistakable(one, other):
        return _TOKEN
    if isinstance(one.message, Call) and isinstance(other.message, Call) and not one.prose:
        return _CALL + shared if shared else 0
    if other_words and mark[2] and not unsaid(mark[2], other_words):
        return _PROSE + shared
    return _TRACE + shared if shared and other_words else 0


def _same_result(one: Atom, other: Atom) -> bool:
    if isinstance(one.message, Call) and isinstance(other.message, Call):
        return shown_text(one.message.output) == shown_text(other.message.output)
    return True


def _unmistakable(one: Atom, other: Atom) -> bool:
    """Whether two messages without words of their own are the same by what they are."""
    mine, theirs = one.message, other.message
    if isinstance(mine, FileChange) and isinstance(theirs, FileChange):
        return bool(one.edit and other.edit and one.edit.path == other.edit.path)
    if isinstance(mine, Call) and isinstance(theirs, Call):
        return mine.external_id is not None and mine.external_id == theirs.external_id
    if isinstance(mine, Reasoning | UserMessage) and isinstance(theirs, Reasoning | UserMessage):
        # Codex seals what one of its agents writes to another.
        return bool(_opaque(mine.content)) and _opaque(mine.content) == _opaque(theirs.content)
    return isinstance(mine, CompactBoundary) and isinstance(theirs, CompactBoundary)


def _opaque(content: Content) -> list[str]:
    return [part.data for part in content if isinstance(part, Opaque)]


def _misplaced(there: Sequence[Atom], pairs: Mapping[int, int]) -> dict[str, str]:
    """Name the messages that stand in another order than they were sent in."""
    wrong: dict[str, str] = {}
    matched = sorted(pairs)
    highest_before: list[int] = []
    highest = -1
    for i in matched:
        highest_before.append(highest)
        highest = max(highest, pairs[i])
    lowest_after = len(pairs) + max(pairs.values(), default=0) + 1
    for position in range(len(matched) - 1, -1, -1):
        i = matched[position]
        if highest_before[position] > pairs[i] or lowest_after < pairs[i]:
            wrong[there[i].message.id] = "came back in another order"
        lowest_after = min(lowest_after, pairs[i])
    return wrong


def _strays(
    there: Sequence[Atom], back: Sequence[Atom], pairs: Mapping[int, int]
) -> tuple[dict[str, list[str]], list[tuple[str | None, AnyMessage]]]:
    """Find what came back more than once, and what came back that nobody sent."""
    partner_of = {j: i for i, j in pairs.items()}
    sent = [(identity(atom), tokens(atom), atom) for atom in there]
    doubled: dict[str, list[str]] = {}
    strays: list[tuple[str | None, AnyMessage]] = []
    after: str | None = None
    for j, atom in enumerate(back):
        if j in partner_of:
            after = there[partner_of[j]].message.id
            continue
        if atom.message.author not in ("human", "model"):
            continue
        mark, planted = identity(atom), tokens(atom)
        copied = next(
            (
                original.message.id
                for other, theirs, original in sent
                if (other is not None and other == mark and original.kind == atom.kind)
                or (planted and planted & theirs)
            ),
            None,
        )
        if copied is None:
            strays.append((after, atom.message))
        else:
            doubled.setdefault(copied, []).append(f"came back twice (as {atom.kind} too)")
    return doubled, strays


# ------------------------------------------------------------------ what differs


def _judge(
    found: Sequence[tuple[Atom, Atom | None]],
    notes: Sequence[str],
    declared: set[LossId],
    everywhere: set[LossId],
) -> Judgement:
    """Hold what differs against what was declared."""
    differences: list[Difference] = [Difference(note, frozenset()) for note in notes]
    narrated = missing = 0
    same_form = True
    for index, (atom, other) in enumerate(found):
        if other is None:
            missing += 1
            differences.extend(_absent(atom))
        elif _is_prose_of(atom, other):
            narrated += 1
            differences.extend(_narrated(atom, other))
        else:
            differences.extend(_native(atom, other, first=index == 0))
            same_form = same_form and _same_form(atom, other)
    allowed = declared | everywhere
    lost = [d.what for d in differences if not d.soft and not d.excuses & allowed]
    used: set[LossId] = {loss for d in differences for loss in d.excuses & allowed}
    if narrated or missing:
        # A message that is gone or prose has no fields left to compare: what else was
        # declared of it can be neither shown nor refuted.
        used |= declared
    idle = sorted(declared - used)
    losses = in_order(used)
    if lost:
        return Judgement(verdict="lost", losses=losses, why="; ".join(lost))
    if idle:
        why = f"declared {', '.join(idle)}, but nothing of it was lost"
        return Judgement(verdict="stale", losses=losses, why=why)
    verdict: Verdict = "exact"
    if missing == len(found) and "withheld-error" in used:
        verdict = "withheld"
    elif narrated:
        verdict = "narrated"
    elif losses:
        verdict = "degraded"
    elif not same_form:
        verdict = "translated"
    return Judgement(verdict=verdict, losses=losses)


def _absent(atom: Atom) -> Iterator[Difference]:
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
        if isinstance(message, Reasoning) and _opaque(message.content):
            excuses.add("reasoning-opaque-dropped")
        if asset_digests(getattr(message, "content", ())):
            excuses.add("asset-dropped")
    yield Difference("did not come back", frozenset(excuses))


def _is_prose_of(atom: Atom, other: Atom) -> bool:
    return words(other) is not None and atom.kind != other.kind


def _narrated(atom: Atom, other: Atom) -> Iterator[Difference]:
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


def _native(atom: Atom, other: Atom, *, first: bool = True) -> Iterator[Difference]:
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
        yield Difference(f"author {mine.author} became {theirs.author}", frozenset())
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
    if any(data not in _opaque(theirs) for data in _opaque(mine)):
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


def _same_form(atom: Atom, other: Atom) -> bool:
    """Whether the copy is the same in every field, beyond its meaning."""
    if atom.prose or other.prose:
        return atom.prose == other.prose
    mine, theirs = without_noise(atom.message), without_noise(other.message)
    return mine == theirs


__all__ = ["Fidelity", "compare"]
