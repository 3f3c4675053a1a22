"""What a tool reads, held against the script: for each message whether it is there, and whole.

*exact*: all that the tool offers of it is as it was said · *degraded*: it is there, and something
of it is not · *lost*: it is not there · *not offered*: the tool does not claim it. A value that a
tool does not claim to give (``not_offered``) is not looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, get_args

from conformance.corpus import Case
from conformance.essence import leaves, mended, unsaid
from conformance.peers.values import (
    Said,
    Wrong,
    answered,
    asked,
    excerpt,
    is_call,
    missing,
    text_in,
    wrong_values,
)
from conformance.truth import is_sealed, recorded_messages
from live.sanitise.provenance import PLACEHOLDER
from transcripts.model import AgentMessage, AnyMessage, Call, Error, Other, Reasoning, UserMessage

Verdict = Literal["exact", "narrated", "degraded", "lost", "not offered"]
"""Best first; ``narrated`` is only for what was carried: the next model is told it as prose."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_WORDS = (UserMessage, AgentMessage, Reasoning)
_TOLD_APART = ("superseded", "inherited")
"""Whoever does not tell these apart may leave out the messages that they are said of."""

_LONGEST = 4000
_ALIKE = 0.7
_LEAST = 8
"""Characters that a part of a text must have to be known as one."""


class Judged(NamedTuple):
    """What became of one message, or (``stray``) a message that nobody said."""

    kind: str
    verdict: Verdict
    wrong: tuple[Wrong, ...] = ()
    stray: bool = False


def judge(case: Case, messages: Sequence[AnyMessage], lacks: Collection[str] = ()) -> list[Judged]:
    """Judge what a tool reads of a case; ``lacks`` names the kinds and fields it does not offer."""
    wanted = [
        said
        for thread in recorded_messages(case).values()
        for _, said in thread
        if said["kind"] not in lacks and (said["thread"] is None or "thread" not in lacks)
    ]
    found = _Found([one for one in messages if not is_sealed(one, case)])
    pairs = _paired(wanted, found)
    late = _late(wanted, pairs)
    judged = [
        Judged(said["kind"], "not offered")
        for thread in recorded_messages(case).values()
        for _, said in thread
        if said not in wanted
    ]
    for number, said in enumerate(wanted):
        position = pairs.get(number)
        if position is None and _is_beyond(said, lacks):
            judged.append(Judged(said["kind"], "not offered"))
            continue
        if position is None:
            judged.append(Judged(said["kind"], "lost", (Wrong("kind", _named(said), "nothing"),)))
            continue
        wrong = [
            one for one in wrong_values(said, found.messages[position]) if one.field not in lacks
        ]
        if number in late and "order" not in lacks:
            wrong.append(Wrong("order", "its place", f"after what follows it: {_named(said)}"))
        verdict: Verdict = "degraded" if wrong else "exact"
        judged.append(Judged(said["kind"], verdict, tuple(wrong)))
    # Without a place for a compaction, what the model summed up stands among its words.
    summaries = [
        mended(said["summary"]).strip()
        for thread in recorded_messages(case).values()
        for _, said in thread
        if said["kind"] in lacks and said.get("summary")
    ]
    if not {"strays", "author"} & set(lacks):
        judged += [
            Judged(one.kind, "degraded", (Wrong("strays", "nothing", _label(one)),), stray=True)
            for one in found.unclaimed()
            if one.kind not in lacks and not any(text in text_in(one) for text in summaries)
        ]
    return judged


# ------------------------------------------------------------------ pairing


class _Found:
    """A tool's messages, each taken for one of the script's, or for none."""

    def __init__(self, messages: Sequence[AnyMessage]) -> None:
        self.messages = messages
        self.texts = [text_in(one) for one in messages]
        self.taken: set[int] = set()

    def first(self, said: Said, fits: Callable[[int], bool], *, shared: bool = False) -> int | None:
        """Return the first that fits: of the same thread rather than another."""
        fitting = [
            number
            for number in range(len(self.messages))
            if (shared or number not in self.taken) and fits(number)
        ]
        same = [
            number
            for number in fitting
            if (self.messages[number].agent is None) == (said["thread"] is None)
        ]
        return next(iter(same or fitting), None)

    def unclaimed(self) -> Iterator[AnyMessage]:
        """Yield what a person or a model is made to say, and nobody said."""
        for number, one in enumerate(self.messages):
            says = self.texts[number].strip() or isinstance(one, Call)
            if number in self.taken or one.author in ("harness", "hook"):
                continue
            if PLACEHOLDER.match(self.texts[number].lstrip()):
                # By the words that are elided here a tool may know a harness's own.
                continue
            if says and isinstance(one, (*_WORDS, Call)):
                yield one


def _paired(wanted: Sequence[Said], found: _Found) -> dict[int, int]:
    """Return which message is which, by index: what is equal first, then what is alike."""
    pairs: dict[int, int] = {}
    for level in range(_LEVELS):
        for number, said in enumerate(wanted):
            if number in pairs:
                continue
            likeness = list(_likeness(said, found))
            if level >= len(likeness):
                continue
            fits, shared = likeness[level]
            position = found.first(said, fits, shared=shared)
            if position is not None:
                pairs[number] = position
                found.taken.add(position)
    return pairs


_LEVELS = 6


def _likeness(said: Said, found: _Found) -> Iterator[tuple[Callable[[int], bool], bool]]:
    """Yield ever weaker tests of whether a message is the one that was said.

    Beside each stands whether one message may be several of the script's: joined together.
    """
    messages, texts = found.messages, found.texts
    kind = said["kind"]
    if is_call(kind):
        yield from _call_likeness(said, found)
    elif "text" in said and kind != "Error":
        wanted = mended(said["text"])
        same = {number for number, one in enumerate(messages) if one.kind == kind}
        yield (lambda n: n in same and texts[n] == wanted), False
        yield (lambda n: n in same and texts[n].strip() == wanted.strip()), False
        yield (
            (lambda n: isinstance(messages[n], _WORDS) and texts[n].strip() == wanted.strip()),
            False,
        )
        yield (lambda n: bool(wanted.strip()) and wanted.strip() in texts[n]), True
        yield (
            (
                lambda n: (
                    n in same and len(texts[n].strip()) >= _LEAST and texts[n].strip() in wanted
                )
            ),
            False,
        )
        yield (lambda n: n in same and _is_like(wanted, texts[n])), False
    else:
        words = mended(said.get("text") or said.get("summary") or "").rstrip()
        yield (lambda n: messages[n].kind == kind and words in texts[n]), False
        yield (lambda n: messages[n].kind == kind), False
        yield (lambda n: len(words) >= _LEAST and words in texts[n]), True


def _is_like(wanted: str, text: str) -> bool:
    """Whether a text is another one, altered here and there."""
    if not wanted.strip() or not text.strip() or len(wanted) > _LONGEST:
        return False
    return SequenceMatcher(None, wanted, text, autojunk=False).ratio() >= _ALIKE


def _call_likeness(said: Said, found: _Found) -> Iterator[tuple[Callable[[int], bool], bool]]:
    messages = found.messages
    pieces = asked(said)
    name = said.get("name", "") if said["kind"] == "ToolCall" else ""

    def named(number: int) -> bool:
        one = messages[number]
        return isinstance(one, Call) and one.name.endswith(name)

    def whole(number: int) -> bool:
        one = messages[number]
        return isinstance(one, Call) and not missing(said, one)

    def begun(number: int) -> bool:
        one = messages[number]
        return isinstance(one, Call) and bool(pieces) and pieces[0] not in missing(said, one)

    yield (lambda n: named(n) and whole(n) and _has_result(said, messages[n])), False
    yield (lambda n: named(n) and whole(n)), False
    yield (lambda n: bool(pieces) and whole(n)), True
    yield (
        (lambda n: begun(n) or (bool(name) and named(n)) or messages[n].kind == said["kind"]),
        (False),
    )
    yield (
        (
            lambda n: (
                bool(pieces)
                and isinstance(messages[n], (*_WORDS, Other))
                and not unsaid(pieces, found.texts[n])
            )
        ),
        True,
    )
    script = said.get("arguments")
    yield (lambda n: isinstance(script, str) and _is_run_by(script, messages[n])), True


def _is_run_by(script: str, message: AnyMessage) -> bool:
    """Whether a call is one that a script made: a tool may tell what ran instead of the script."""
    if not isinstance(message, Call):
        return False
    own = [one for one in leaves(message.arguments) if len(one) >= _LEAST]
    return bool(own) and not unsaid(own, script)


def _has_result(said: Said, message: AnyMessage) -> bool:
    """Whether a call's result is the one that was said: of equal calls each has its own."""
    return not any(
        one.field in ("output", "error", "status") for one in wrong_values(said, message)
    )


def _is_beyond(said: Said, lacks: Collection[str]) -> bool:
    """Whether a message may be left out by who does not offer what it is all about."""
    sealed = said["kind"] == "Reasoning" and not said.get("text")
    apart = any(said.get(one) and one in lacks for one in _TOLD_APART)
    return apart or (sealed and "opaque" in lacks)


def _late(wanted: Sequence[Said], pairs: Mapping[int, int]) -> set[int]:
    """Return which messages are out of order on their thread: threads run beside each other."""
    threads: dict[str | None, list[tuple[int, int]]] = {}
    for number, said in enumerate(wanted):
        if number in pairs:
            threads.setdefault(said["thread"], []).append((number, pairs[number]))
    return {number for thread in threads.values() for number in _out_of_order(thread)}


def _out_of_order(placed: Sequence[tuple[int, int]]) -> set[int]:
    """Return the fewest messages without which all stand in the order in which they were said."""
    ends: list[int] = []
    chains: list[list[int]] = []
    for number, position in placed:
        # Several that are told in one message stand in their order there.
        place = bisect_left(ends, position + 1)
        chain = [*(chains[place - 1] if place else []), number]
        if place == len(ends):
            ends.append(position)
            chains.append(chain)
        else:
            ends[place], chains[place] = position, chain
    kept = set(chains[-1]) if chains else set[int]()
    return {number for number, _ in placed} - kept


# ------------------------------------------------------------------ words


def _named(said: Said) -> str:
    if is_call(said["kind"]):
        pieces = [said.get("name") or "", *asked(said), *answered(said)]
        return f"{said['kind']} {excerpt(next(filter(None, pieces), ''))}"
    return f"{said['kind']} {excerpt(said.get('text') or said.get('summary') or '')}"


def _label(message: AnyMessage) -> str:
    if isinstance(message, Call):
        return f"{message.kind} {message.name}"
    if isinstance(message, Error):
        return f"Error {excerpt(message.text)}"
    return f"{message.kind} {excerpt(text_in(message))}"
