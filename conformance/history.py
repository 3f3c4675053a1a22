"""What a model is shown of a carried conversation: the request's own history, judged.

A session is only written right when the CLI that resumes it puts the whole of it into its
next request, in order and in the right roles. The history comes from the scripted model's
log, so nothing here has passed through a reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.essence import (
    TOKEN,
    Atom,
    asset_digests,
    atoms,
    essence,
    leaves,
    mended,
    opaque,
    shown_text,
    unsaid,
    words,
)
from conformance.kinds import CWD
from conformance.verdicts import Judgement, Verdict, in_order, together
from live.model.history import Entry
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Error,
    FileEdit,
    Plan,
    Reasoning,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
)

_LONG = 32_000
"""Characters of a result beyond which CLIs were seen to show only its beginning and its end."""


_SEALED = ("reasoning", "redacted_thinking")
"""What providers call a thought of which a request holds no word."""


class Place(NamedTuple):
    """Where in the history something is shown: the entry, and the character in its text."""

    entry: int
    offset: int = 0


class Found(NamedTuple):
    """How a message is shown, and what is wrong with that."""

    place: Place
    verdict: Verdict
    wrong: tuple[str, ...] = ()


class ShownCall(NamedTuple):
    """A call in the history with the text of its result."""

    place: Place
    name: str
    arguments: Any
    result: str | None


class History:
    """A request's history, searched by what messages are; what is found once is used up."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.texts = [mended(entry.text or "") for entry in entries]
        self.calls = list(_calls(entries))
        self._used: dict[int, list[tuple[int, int]]] = {}
        self._used_calls: dict[int, str] = {}

    def words(self, text: str, roles: Iterable[str], after: Place) -> Place | None:
        """Find words said in one of the roles: from a place on, or else anywhere."""
        places = list(self._words(text, frozenset(roles)))
        place = next((place for place in places if place >= after), None)
        place = place or next(iter(places), None)
        if place is not None:
            self._used.setdefault(place.entry, []).append((place.offset, place.offset + len(text)))
        return place

    def prose(self, pieces: Sequence[str], roles: Iterable[str], after: Place) -> Place | None:
        """Find one text that says all the pieces."""
        wanted = frozenset(roles)
        found = [
            Place(index, text.find(pieces[0]))
            for index, text in enumerate(self.texts)
            if self.entries[index].type in ("text", "reasoning")
            and self.entries[index].role in wanted
            and not unsaid(pieces, text)
        ]
        return next((place for place in found if place >= after), next(iter(found), None))

    def sealed(self, after: Place) -> Place | None:
        """Find a thought that only its provider can read."""
        found = [
            Place(index)
            for index, entry in enumerate(self.entries)
            if entry.type == "opaque"
            and isinstance(entry.value, Mapping)
            and entry.value.get("type") in _SEALED
            and index not in self._used
        ]
        place = next((place for place in found if place >= after), next(iter(found), None))
        if place is not None:
            self._used[place.entry] = []
        return place

    def quotes(self, text: str) -> bool:
        """Whether any text or result says a text, as it is or inside JSON."""
        once = json.dumps(text, ensure_ascii=False)[1:-1]
        spelt = (text, once, json.dumps(once, ensure_ascii=False)[1:-1])
        return any(one in shown for one in spelt for shown in self.texts)

    def says(self, text: str) -> bool:
        """Whether any text or result says all lines of a text."""
        pieces = [line.strip() for line in text.split("\n") if line.strip()]
        return any(not unsaid(pieces, shown) for shown in self.texts)

    def call(self, atom: Atom, after: Place) -> ShownCall | None:
        """Find the call that is the message's."""
        found = [
            (number, call)
            for number, call in enumerate(self.calls)
            # One call may change several files of one message.
            if self._used_calls.get(number, atom.message.id) == atom.message.id
            and _is_call_of(atom, call)
        ]
        chosen = next((one for one in found if one[1].place >= after), next(iter(found), None))
        if chosen is None:
            return None
        self._used_calls[chosen[0]] = atom.message.id
        return chosen[1]

    def _words(self, text: str, roles: frozenset[str]) -> Iterator[Place]:
        for index, entry in enumerate(self.entries):
            if entry.type not in ("text", "reasoning") or entry.role not in roles:
                continue
            start = self.texts[index].find(text)
            while start >= 0:
                end = start + len(text)
                if all(end <= a or start >= b for a, b in self._used.get(index, [])):
                    yield Place(index, start)
                start = self.texts[index].find(text, start + 1)


def judge_history(
    sent: Sequence[AnyMessage], entries: Sequence[Entry], losses: Iterable[Loss]
) -> dict[str, Judgement]:
    """Judge each message by what the model is shown of it.

    A message that no request would hold (superseded, of another thread, a harness's mark)
    and that is not shown has no judgement.
    """
    declared: dict[str | None, set[LossId]] = {}
    for loss in losses:
        declared.setdefault(loss.message, set()).add(loss.loss)
    history = History(entries)
    # What an agent failed of is what its parent's call came to: there it belongs.
    results = [one.error for one in sent if isinstance(one, Call) and one.error]
    judged: dict[str, list[Judgement]] = {}
    places: list[tuple[str, Place]] = []
    after = Place(0)
    inside = [atom for atom in atoms(sent) if not _is_outside(atom.message)]
    # What no request of the source's held (a command inside a script in code mode) may be
    # shown by the target; it must not be taken for a call that stands for something else.
    outside = [atom for atom in atoms(sent) if _is_outside(atom.message)]
    for atom in (*inside, *outside):
        message = atom.message
        # What a compaction preserves stands before it, and is shown behind its summary.
        ordered = not _is_outside(message) and not getattr(message, "preserved", ())
        found = _find(atom, history, after if ordered else Place(0))
        told = isinstance(message, Error) and any(message.text in one for one in results)
        judgement = _judgement(atom, found, declared.get(message.id, set()), told_by_call=told)
        if judgement is not None:
            judged.setdefault(message.id, []).append(judgement)
        if found is not None and ordered:
            places.append((message.id, found.place))
            after = max(after, found.place)
    for identifier, why in (*_misplaced(places), *_repeated(sent, history)):
        judged.setdefault(identifier, []).append(Judgement(verdict="lost", why=why))
    return {identifier: together(found) for identifier, found in judged.items()}


# ------------------------------------------------------------------ finding


def _find(atom: Atom, history: History, after: Place) -> Found | None:
    message = atom.message
    pieces = essence(atom)
    said = mended(words(atom) or "")
    if said.strip():
        roles = ("user",) if isinstance(message, UserMessage) else ("assistant",)
        place = history.words(said.rstrip("\n"), roles, after)
        place = place or history.words(said.strip(), roles, after)
        place = place or _in_parts(atom, history, roles, after)
        if place is None and isinstance(message, UserMessage) and said.startswith("/"):
            # A command is shown taken apart, and as what it stands for.
            given = [one for one in said.strip().split(" ", 1) if one]
            place = history.prose(given, roles, after)
        if place is None:
            return None
        verdict: Verdict = "exact"
        if atom.kind == "Reasoning" and history.entries[place.entry].type == "text":
            verdict = "narrated"
        return Found(place, verdict, tuple(_assets(atom, history)))
    if isinstance(message, Call) and not atom.prose:
        call = history.call(atom, after)
        if call is not None:
            return Found(call.place, "translated", tuple(_result(message, call, history)))
    if not pieces:
        sealed = isinstance(message, Reasoning) and opaque(message.content)
        place = history.sealed(after) if sealed else None
        return None if place is None else Found(place, "exact")
    roles = ("assistant",) if message.author == "model" else ("assistant", "user")
    place = history.prose(pieces, roles, after)
    return None if place is None else Found(place, "narrated")


def _in_parts(atom: Atom, history: History, roles: Iterable[str], after: Place) -> Place | None:
    """Find a message that is shown part by part: where its first part stands."""
    parts = [
        mended(part.text)
        for part in getattr(atom.message, "content", ())
        if isinstance(part, Text) and part.text.strip()
    ]
    if len(parts) < 2:
        return None
    places: list[Place] = []
    for part in parts:
        place = history.words(part, roles, places[-1] if places else after)
        if place is None or (places and place < places[-1]):
            return None
        places.append(place)
    return places[0]


def _is_call_of(atom: Atom, call: ShownCall) -> bool:
    message = atom.message
    given = mended("\n".join(leaves(call.arguments)))
    if isinstance(message, CommandExecution):
        command = mended(message.command)
        # A script in code mode quotes the command as JSON.
        return command in given or json.dumps(command, ensure_ascii=False)[1:-1] in given
    if isinstance(message, ToolCall):
        # Each CLI joins a server and its tool in its own way. Where no model is asked a call may
        # be shown without its name.
        joined = call.name.endswith(message.name) and (message.server or "") in call.name
        named = not call.name or joined
        return named and set(leaves(message.arguments)) <= set(leaves(call.arguments))
    own = set(leaves(message.arguments)) if isinstance(message, Call) else set[str]()
    if own and call.name == getattr(message, "name", "") and own <= set(leaves(call.arguments)):
        # The CLI's own call, word for word: what it means may stand in calls before it.
        return True
    everything = f"{given}\n{mended(call.result or '')}"
    if atom.edit is not None:
        return _is_edit(atom.edit, given)
    if isinstance(message, SubAgent) and message.prompt:
        return mended(message.prompt) in given
    pieces = essence(atom)
    return bool(pieces) and not unsaid(pieces, everything)


def _is_edit(edit: FileEdit, given: str) -> bool:
    """Whether a call names the file, and what was changed in it where that is known."""
    said = [edit.path, edit.moved_to or ""]
    if edit.operation != "delete":
        said += (edit.after or "").split("\n")
    # A CLI may name the file as its model did, from the working directory on.
    pieces = [mended(one).removeprefix(f"{CWD}/").strip() for one in said]
    return not unsaid([piece for piece in pieces if piece], given)


def _result(message: Call, call: ShownCall, history: History) -> Iterator[str]:
    """Say what the model is not shown of a call's result."""
    result = mended(call.result or "")
    output = mended(shown_text(message.output)).strip()
    if call.result is None:
        yield "the call has no result"
        return
    error = mended(message.error or "")
    # What an agent failed of is told when it has failed, not when it was called.
    told = isinstance(message, SubAgent) and history.quotes(error)
    if error not in result and not told:
        yield "the error is not shown"
    if isinstance(message, SubAgent) and output and not history.says(output):
        yield "the report is not shown"
    if output and not isinstance(message, CommandExecution | ToolCall):
        return
    if output and output not in result:
        lines = [line.strip() for line in output.split("\n") if line.strip()]
        if len(output) > _LONG:
            # What a CLI shows of a long result is its own choice: where it begins and ends.
            lines = [lines[0], lines[-1]]
        absent = [line for line in lines if line not in result]
        if absent:
            yield f"{len(absent)} of {len(lines)} lines of the output are not shown"
    if isinstance(message, CommandExecution) and message.exit_code:
        around = result.replace(output, "", 1) if output else result
        if not re.search(rf"(?<!\d){message.exit_code}(?!\d)", around):
            yield "the exit status is not shown"


def _assets(atom: Atom, history: History) -> Iterator[str]:
    shown = {
        entry.value.get("sha256")
        for entry in history.entries
        if entry.type == "image" and isinstance(entry.value, Mapping)
    }
    if atom.prose:
        return
    for digest in asset_digests(getattr(atom.message, "content", ())):
        if digest not in shown:
            yield "a picture is not shown"


# ------------------------------------------------------------------ judging


def _judgement(
    atom: Atom, found: Found | None, declared: set[LossId], *, told_by_call: bool
) -> Judgement | None:
    message = atom.message
    if isinstance(message, Error):
        if found is not None and not told_by_call:
            return Judgement(verdict="lost", why="a failure of the provider is shown to the model")
        return Judgement(verdict="withheld", losses=("withheld-error",))
    losses = in_order(declared)
    if found is None:
        absent = {
            "empty-dropped",
            "harness-dropped",
            "superseded-dropped",
            "thread-flattened",
            "reasoning-opaque-dropped",
        }
        if _is_outside(message) and "narrated" not in declared:
            return None
        if message.author in ("harness", "hook") and "narrated" not in declared:
            return None
        if declared & absent:
            return Judgement(verdict="degraded", losses=losses)
        return Judgement(verdict="lost", losses=losses, why="the model is not shown it")
    wrong = [why for why in found.wrong if not _excused(why, declared)]
    if wrong:
        return Judgement(verdict="lost", losses=losses, why="; ".join(wrong))
    verdict = found.verdict
    recorded = isinstance(message, CompactBoundary | Plan) and "narrated" not in declared
    if verdict == "narrated" and recorded:
        # The target's own record of it, of which its CLI shows the model words of its own.
        verdict = "translated"
    if verdict == "narrated" or not losses:
        return Judgement(verdict=verdict, losses=losses)
    return Judgement(verdict="degraded", losses=losses)


def _is_outside(message: AnyMessage) -> bool:
    """Whether the next request need not hold a message, or need not hold it in its place.

    What a harness tells its model in the user's place it tells anew in every process.
    """
    told = isinstance(message, UserMessage) and message.author in ("harness", "hook")
    gone = not message.in_context or message.superseded_by is not None
    return gone or told or message.agent is not None or isinstance(message, Error)


def _excused(why: str, declared: set[LossId]) -> bool:
    return why == "a picture is not shown" and "asset-dropped" in declared


def _misplaced(places: Sequence[tuple[str, Place]]) -> Iterator[tuple[str, str]]:
    highest = Place(-1)
    for identifier, place in places:
        if place < highest:
            yield identifier, "the model is shown it in another order"
        highest = max(highest, place)


def _repeated(sent: Sequence[AnyMessage], history: History) -> Iterator[tuple[str, str]]:
    """Find prompts that the model is shown more often than they were said."""
    prompts = [message for message in sent if isinstance(message, UserMessage)]
    said = "\n".join(mended(shown_text(message.content)) for message in prompts)
    shown = "\n".join(
        text
        for text, entry in zip(history.texts, history.entries, strict=True)
        if entry.type == "text" and entry.role == "user"
    )
    for message in prompts:
        for word in TOKEN.findall(shown_text(message.content)):
            if shown.count(word) > said.count(word):
                yield message.id, "the model is shown it more than once"
                break


def _calls(entries: Sequence[Entry]) -> Iterator[ShownCall]:
    for index, entry in enumerate(entries):
        if entry.type == "opaque" and isinstance(entry.value, Mapping):
            # A call that the provider itself carries out, call and result in one item.
            yield ShownCall(Place(index), str(entry.value.get("type", "")), entry.value, "")
        if entry.type != "call":
            continue
        results = [
            later.text or ""
            for later in entries[index + 1 :]
            if later.type == "result" and later.call_id == entry.call_id
        ]
        name = f"{entry.namespace}__{entry.name}" if entry.namespace else entry.name or ""
        yield ShownCall(Place(index), name, entry.arguments, results[0] if results else None)
