"""What the vendor itself shows of a session that was written for it, judged; no model is asked.

Beside the CLI that resumes and the model that is asked stand witnesses that some releases
offer: a protocol that replays a session, a reader behind an editor, an importer, schemas
(:mod:`live.witnesses`). What they show is judged as the history of a request is: every prompt,
answer and call with its result is there, in order. None of them shows everything. What each
passes over stands in one table, with the reason; there a message may be absent, and only there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from conformance.corpus import cases, find_corpus
from conformance.essence import text_of
from conformance.history import judge_history
from live.agents.base import Driver, find_driver
from live.releases import Release, install
from live.witnesses import (
    Disagreement,
    Shown,
    Witnessed,
    codex_items,
    codex_threads,
    copilot_acp,
    copilot_events,
    witnesses,
)
from live.witnesses.schemas import in_words
from transcripts.losses import Loss
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    Reasoning,
    SubAgent,
    ToolCall,
    Transcript,
    UserMessage,
    UserQuestion,
)

Verdict = Literal["agrees", "differs", "refuses", "not-offered"]

_MOST = 5

_ABSENT = "it is not shown"
_MOVED = "it is shown in another order"
_PICTURE = "a picture is not shown"
_BY_PATH = "a picture is shown by its path alone"
_SAID = {
    "the model is not shown it": _ABSENT,
    "the model is shown it in another order": _MOVED,
    "the model is shown it more than once": "it is shown more than once",
    "a failure of the provider is shown to the model": "a failure of the provider is shown",
}
"""What is said of a history that a model is sent, in the words for one that people are shown."""


class Unshown(NamedTuple):
    """What may be wrong with what a witness shows of some messages, and why that is so."""

    of: Callable[[AnyMessage], bool]
    what: str
    why: str


def _any(*kinds: type[AnyMessage]) -> Callable[[AnyMessage], bool]:
    return lambda message: isinstance(message, kinds)


def _unresolved(message: AnyMessage) -> bool:
    return isinstance(message, Call) and message.output is None and message.error is None


def _of_no_server(message: AnyMessage) -> bool:
    return isinstance(message, ToolCall) and message.server is None


def _sealed(message: AnyMessage) -> bool:
    return isinstance(message, Reasoning) and not text_of(message.content).strip()


def _failed_change(message: AnyMessage) -> bool:
    return isinstance(message, FileChange) and message.status == "failed"


def _unfinished_change(message: AnyMessage) -> bool:
    return isinstance(message, FileChange) and message.status == "unresolved"


def _incomplete_change(message: AnyMessage) -> bool:
    """Whether a file's old words are not known, without which no difference can be told."""
    return isinstance(message, FileChange) and any(
        edit.operation != "add" and edit.before is None and edit.diff is None
        for edit in message.changes
    )


def _inherited(message: AnyMessage) -> bool:
    return message.inherited_from is not None


UNSHOWN: Mapping[str, Sequence[Unshown]] = {
    copilot_acp.NAME: (
        Unshown(_any(Reasoning), _ABSENT, "thoughts are not replayed"),
        Unshown(_any(UserMessage), _PICTURE, "of a prompt only the words are replayed"),
        Unshown(_unresolved, "the call has no result", "what was broken off is left open"),
        Unshown(
            _any(Error),
            "a failure of the provider is shown",
            "people are told of it; what the model is told is another witness's matter",
        ),
    ),
    codex_threads.NAME: (
        Unshown(
            _any(CommandExecution),
            _ABSENT,
            "releases since 0.130 read commands from records of the paginated form only",
        ),
        Unshown(
            _of_no_server,
            _ABSENT,
            "only calls of MCP servers have an event that every release reads",
        ),
        Unshown(_any(SubAgent, UserQuestion), _ABSENT, "no event that is read tells of it"),
        Unshown(_any(CompactBoundary), _ABSENT, "that it was compacted is shown, not to what"),
        Unshown(_sealed, _ABSENT, "a thought is shown by its words, and it has none"),
        Unshown(_failed_change, _ABSENT, "a patch that could not be applied has no event"),
        Unshown(_unfinished_change, _ABSENT, "a patch that was not over has no event"),
        Unshown(
            _incomplete_change, _ABSENT, "what a file was before is not known: it has no event"
        ),
        Unshown(
            _any(FileChange, CommandExecution, SubAgent),
            "the error is not shown",
            "it is shown that it failed, not with what words",
        ),
        Unshown(_any(UserMessage), _BY_PATH, "a file that was attached is named"),
        Unshown(_inherited, _ABSENT, "it stands in the session from which this one was forked"),
    ),
}
"""By witness: what a message may lack in what the vendor shows. Measured on 0.171 and 1.0.102."""

_BY_END: frozenset[str] = frozenset({codex_threads.NAME})
"""Who shows a call where it ended: parallel and interrupted ones may stand behind later words."""

Places = frozenset[tuple[str, str, str]]
Recorded = Callable[[str], Places]
"""Where the CLI's own recordings disagree with a schema, by the name of the witness."""


class ModelFree(msgspec.Struct, frozen=True, kw_only=True):
    """What one witness says of a session, and how that compares with what was written.

    ``shown`` counts the messages that the vendor shows, None where it shows none. ``unshown``
    says what is absent that this witness cannot show, and why. ``vendors`` are disagreements
    with the vendor's schema in which the CLI's own recordings disagree as well.
    """

    witness: str
    verdict: Verdict
    why: str = ""
    shown: int | None = None
    unshown: Mapping[str, str] = {}
    vendors: tuple[Disagreement, ...] = ()


def model_free(
    agent: str,
    version: str,
    home: Path,
    session_id: str,
    transcript: Transcript,
    losses: Iterable[Loss] = (),
) -> list[ModelFree]:
    """Ask every witness of an agent about a session under a home, and judge what each says.

    ``transcript`` is what was written there, ``losses`` what its writer says did not cross. An
    agent without witnesses has no results; a witness that the release lacks has one that says
    so. The home is not changed.
    """
    asked = witnesses(agent)
    if not asked:
        return []
    driver = find_driver(agent, version)
    release = install(agent, driver.package, version)
    declared = tuple(losses)
    return [
        judge(
            witness(driver, release, home, session_id),
            transcript,
            declared,
            recorded_by(driver, release),
        )
        for witness in asked
    ]


def judge(
    witnessed: Witnessed,
    transcript: Transcript,
    losses: Iterable[Loss] = (),
    recorded: Recorded = lambda _: frozenset(),
) -> ModelFree:
    """Judge what a witness says by what was written."""
    if witnessed.disagreements:
        return _by_schema(witnessed, recorded(witnessed.name))
    if witnessed.shown is None:
        return ModelFree(witness=witnessed.name, verdict=witnessed.verdict, why=witnessed.why)
    return _by_messages(witnessed.name, witnessed.shown, transcript.messages, tuple(losses))


def _by_schema(witnessed: Witnessed, recorded: Places) -> ModelFree:
    """Leave to the vendor what its own recordings do not keep either."""
    ours = [one for one in witnessed.disagreements if one.place not in recorded]
    return ModelFree(
        witness=witnessed.name,
        verdict="refuses" if ours else "agrees",
        why=in_words(ours),
        vendors=tuple(one for one in witnessed.disagreements if one.place in recorded),
    )


def _by_messages(
    witness: str, shown: Shown, messages: Sequence[AnyMessage], losses: Sequence[Loss]
) -> ModelFree:
    wrong: list[str] = []
    unshown: dict[str, str] = {}
    for message, what in _findings(witness, shown, messages, losses):
        reason = next(
            (one.why for one in UNSHOWN[witness] if one.what == what and one.of(message)), None
        )
        if reason is None:
            wrong.append(f"{message.kind} {message.id}: {what}")
        else:
            unshown[f"{message.kind}: {what}"] = reason
    more = [f"and {len(wrong) - _MOST} more"] if len(wrong) > _MOST else []
    return ModelFree(
        witness=witness,
        verdict="differs" if wrong else "agrees",
        why="; ".join([*wrong[:_MOST], *more]),
        shown=len(shown),
        unshown=unshown,
    )


def _findings(
    witness: str, shown: Shown, messages: Sequence[AnyMessage], losses: Sequence[Loss]
) -> Iterator[tuple[AnyMessage, str]]:
    by_path = any(one.type == "image" and "sha256" not in (one.value or {}) for one in shown)
    for message, what in _lost(shown, messages, losses):
        if what == _MOVED and witness in _BY_END:
            continue
        yield message, _BY_PATH if what == _PICTURE and by_path else what
    if witness in _BY_END:
        said = [one for one in messages if isinstance(one, UserMessage | AgentMessage)]
        yield from ((one, what) for one, what in _lost(shown, said, losses) if what == _MOVED)


def _lost(
    shown: Shown, messages: Sequence[AnyMessage], losses: Sequence[Loss]
) -> Iterator[tuple[AnyMessage, str]]:
    named = {message.id: message for message in messages}
    for identifier, judgement in judge_history(messages, shown, losses).items():
        if judgement.verdict == "lost":
            for said in judgement.why.split("; "):
                yield named[identifier], _SAID.get(said, said)


# ------------------------------------------------------------------ the vendor's own recordings


def recorded_by(driver: Driver, release: Release) -> Recorded:
    """Return how to ask where the recordings of a release disagree with its own schemas."""
    return lambda witness: _recorded(witness, driver.agent, release.version)


@cache
def _recorded(witness: str, agent: str, version: str) -> Places:
    driver = find_driver(agent, version)
    release = install(agent, driver.package, version)
    pattern, schema = {
        copilot_events.NAME: (".copilot/session-state/*/events.jsonl", copilot_events),
        codex_items.NAME: (".codex/sessions/**/rollout-*.jsonl", codex_items),
    }[witness]
    homes = [case.home for case in cases(find_corpus(), agent, version)]
    files = (path for home in homes for path in home.glob(pattern))
    return frozenset(one.place for one in schema.disagreements(driver, release, files))
