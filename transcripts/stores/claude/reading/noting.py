"""What rows say of a session beside its messages: its cost, its pull requests, files put aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from transcripts.model import Lineage
from transcripts.stores.claude.foreign import integer, mapping, string
from transcripts.stores.claude.reading.gathering import Gathered
from transcripts.stores.claude.reading.rows import Row, time_of
from transcripts.stores.notes import LinkedPullRequest, Notes, RecordedTotal

_TOTAL = "cost-state"
_OUTPUT = "outputTokens"
_COUNTS = (
    "inputTokens",
    _OUTPUT,
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
)
"""What an answer's tokens are told apart into; thoughts are part of the output."""


def take_down(notes: Notes, gathered: Gathered, main: Sequence[Row]) -> None:
    """Take down what the rows of a session say; its main thread's tell when it was."""
    notes.session_id = gathered.session_id
    inherited = gathered.inherited
    notes.lineage = Lineage(forked_from=next(iter(inherited.values()), None))
    notes.cwd = next((row.setting.cwd for row in main if row.setting.cwd), None)
    releases = (row.setting.version for row in reversed(main))
    notes.cli_version = next((release for release in releases if release), None)
    own = [row for row in main if not (inherited and row.uuid in inherited)]
    notes.first_at = next(_times(own), None)
    notes.last_at = next(_times(reversed(own)), None)
    total: Row | None = None
    went_on = False
    copied = max((at for at, row in enumerate(gathered.rows) if row.uuid in inherited), default=-1)
    for row in gathered.rows[copied + 1 :]:
        match row.type:
            case "cost-state":
                total, went_on = row, False
            case "assistant":
                went_on = True
            case "pr-link":
                notes.pull_requests.append(_linked(row))
            case "file-history-delta":
                path = string(row.value.get("trackingPath"))
                if path:
                    notes.copied_aside.setdefault(path, row.at("/trackingPath"))
            case "file-history-snapshot":
                backups = mapping(mapping(row.value.get("snapshot")).get("trackedFileBackups"))
                for path in backups:
                    if path not in notes.copied_aside:
                        notes.copied_aside[path] = row.at("/snapshot/trackedFileBackups")
            case _:
                pass
    if total is None:
        return
    if went_on:
        notes.total_unavailable = f"the session went on behind its last {_TOTAL}"
    elif inherited:
        origin = notes.lineage.forked_from
        notes.total_unavailable = f"its {_TOTAL} counts what was copied from session {origin} too"
    else:
        notes.total = _total(total)


def _times(rows: Iterable[Row]) -> Iterator[datetime]:
    return (time for row in rows if (time := time_of(row)) is not None)


def _linked(row: Row) -> LinkedPullRequest:
    value = row.value
    return LinkedPullRequest(
        number=integer(value.get("prNumber")),
        url=string(value.get("prUrl")),
        repository=string(value.get("prRepository")),
        source=row.at(None),
    )


def _total(row: Row) -> RecordedTotal:
    models = [mapping(one) for one in mapping(row.value.get("modelUsage")).values()]
    return RecordedTotal(
        tokens=sum(integer(one.get(name)) or 0 for one in models for name in _COUNTS),
        output=sum(integer(one.get(_OUTPUT)) or 0 for one in models),
        record=_TOTAL,
        source=row.at("/modelUsage"),
    )
