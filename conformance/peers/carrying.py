"""Sessions that a tool carries into another store, gone on with by the real CLI.

What is judged is the request that the CLI then sends: what its model is shown of the conversation.
The message as it was read from the source by the reference reader is what must be found there.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from conformance import adapters
from conformance.adapters import Adapter, AdapterError
from conformance.adapters.moving import Part
from conformance.corpus import Case, opened
from conformance.gathering import resume
from conformance.history import judge_history
from conformance.peers.judging import Judged, Verdict
from conformance.peers.reading import size_of
from conformance.peers.tallying import Tally
from conformance.peers.values import Wrong, excerpt, text_in
from conformance.verdicts import Judgement, load_floor
from live.sandbox import WORKSPACE
from transcripts.errors import TranscriptError
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import AnyMessage, Call
from transcripts.stores.base import open_store

SCENARIOS = (
    *("plain-exchange", "two-turns", "awkward-text", "command-ok", "command-fails"),
    *("parallel-calls", "tool-fails", "mcp-call", "file-edits", "long-output", "reasoning"),
    *("todo-list", "plan", "question", "subagent", "web-search", "image-in"),
    *("permission-denied", "compaction-manual", "failure-recovered"),
)
"""What is carried: every kind, at the price of one start of a real CLI each."""

_NO_PICTURE = "a picture is not shown"
"""What :mod:`conformance.history` says of a message that is whole but for its pictures."""

_USUAL = re.compile(rb'("model_provider": ?)"openai"')
_SCRIPTED = rb'\1"scripted"'

_VERDICTS: dict[str, Verdict] = {
    "exact": "exact",
    "translated": "exact",
    "withheld": "exact",
    "narrated": "narrated",
    "degraded": "degraded",
}


def carry_all(
    adapter: Adapter,
    source: str,
    target: str,
    chosen: Sequence[Case],
    release: str,
    lacks: Collection[str],
    tick: Callable[[str], None],
) -> Tally:
    """Have the scenarios carried into another store, and let its CLI go on with each."""
    tally = Tally("carry", source, target)
    for case in chosen:
        if case.directory.name not in SCENARIOS:
            continue
        tick(f"{adapter.name} carries {case.name} into {target}")
        judged, why = carry_one(adapter, source, target, case, release, lacks)
        if why:
            tally.fail(case.name, size_of(case), why, judged)
        else:
            tally.add(case.name, size_of(case), judged)
    return tally


def carry_one(
    adapter: Adapter, source: str, target: str, case: Case, release: str, lacks: Collection[str]
) -> tuple[list[Judged], str]:
    """Return what the model is shown of a case's messages, and why nothing, or ""."""
    with opened(case) as home, tempfile.TemporaryDirectory(prefix="carried-") as place:
        original = open_store(source, home).read(case.facts.session_id)
        assert original is not None
        sent = original.messages
        try:
            moved = adapters.move(
                adapter,
                source,
                home,
                case.facts.session_id,
                target,
                Path(place),
                new_session_id=derive("scoreboard", adapter.name, case.name),
                cwd=WORKSPACE,
                by=_part(adapter, source, target),
            )
        except (AdapterError, TranscriptError) as error:
            return _nothing(sent, str(error), lacks), str(error)
        _as_here(target, Path(place))
        resumed = resume(target, release, Path(place), moved.session_id)
    if resumed.why is not None:
        return _nothing(sent, resumed.why, lacks), resumed.why
    judgements = judge_history(sent, resumed.history, moved.losses)
    return list(_judged(sent, judgements, lacks)), ""


def _as_here(target: str, home: Path) -> None:
    """Let a session of Codex's usual provider go on with the scripted model in its place.

    Codex goes on with a session only under the provider that it names; a person's is "openai". An
    index of sessions says where they lay in the home in which they were made, which is another one
    now; Codex makes it anew.
    """
    for path in (home / ".codex").glob("*.sqlite*") if target == "codex" else ():
        path.unlink()
    for path in (home / ".codex" / "sessions").rglob("*.jsonl") if target == "codex" else ():
        first, end, rest = path.read_bytes().partition(b"\n")
        path.write_bytes(_USUAL.sub(_SCRIPTED, first) + end + rest)


def _part(adapter: Adapter, source: str, target: str) -> Part:
    return "convert" if target in adapter.offers(source).convert else "write"


def _nothing(sent: Sequence[AnyMessage], why: str, lacks: Collection[str]) -> list[Judged]:
    """Return the verdicts where the CLI shows its model nothing."""
    nothing: Sequence[Loss] = ()
    judgements = {
        identifier: Judgement(verdict="lost", why=why)
        for identifier, judgement in judge_history(sent, (), nothing).items()
        if judgement.verdict == "lost"
    }
    return list(_judged(sent, judgements, lacks))


def _judged(
    sent: Sequence[AnyMessage], judgements: dict[str, Judgement], lacks: Collection[str]
) -> Iterator[Judged]:
    floor = load_floor()
    for message in sent:
        judgement = judgements.get(message.id)
        if judgement is None:
            continue
        verdict = _VERDICTS.get(judgement.verdict, "lost")
        unseen = {*floor.may_lose["all"], *floor.may_lose[message.kind]}
        if verdict == "degraded" and unseen.issuperset(judgement.losses):
            # Who says what no model is shown is no worse than who leaves it out in silence.
            verdict = "exact"
        if judgement.why == _NO_PICTURE and "assets" in lacks:
            verdict = "exact"
        if message.kind in lacks and verdict != "exact":
            yield Judged(message.kind, "not offered")
            continue
        got = judgement.why or ", ".join(judgement.losses) or "told as prose"
        wrong = () if verdict == "exact" else (Wrong("carried", _named(message), got[:200]),)
        yield Judged(message.kind, verdict, wrong)


def _named(message: AnyMessage) -> str:
    if isinstance(message, Call):
        return f"{message.kind} {message.name} {excerpt(message.arguments)}"
    return f"{message.kind} {excerpt(text_in(message))}"
