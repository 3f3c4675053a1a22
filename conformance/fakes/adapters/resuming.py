"""Writers of files that a release refuses, or resumes with loss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from conformance.fakes.adapters.fake import Failing
from conformance.fakes.adapters.miniature import CALLING, KEPT, MADE, MANY
from conformance.fakes.adapters.writing import WritesWrongly

Rows = list[dict[str, Any]]


class SpoilsRows(WritesWrongly):
    """Does something to the rows that were written."""

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            rows = self.rows([json.loads(line) for line in path.read_bytes().splitlines()])
            path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))

    def rows(self, rows: Rows) -> Rows:
        return rows


class WritesNoTimes(SpoilsRows):
    fails: ClassVar[Failing] = {"write.resumes": MADE, "round-trip.kept": MADE}

    def rows(self, rows: Rows) -> Rows:
        return [{name: row[name] for name in row if name != "timestamp"} for row in rows]


class NamesAnotherSession(SpoilsRows):
    fails: ClassVar[Failing] = {
        "write.resumes": MADE,
        "round-trip.session": MADE,
        "stateful.ids": MANY,
        "stateful.listed": MANY,
        "stateful.directories": MANY,
        "kept.listed": KEPT,
    }

    def rows(self, rows: Rows) -> Rows:
        rows[0]["payload"]["id"] = "0badc0de-3333-4333-8333-000000000001"
        return rows


class LeavesCallsOpen(SpoilsRows):
    # Of a command's end an event tells too, which no model is shown.
    fails: ClassVar[Failing] = {
        "write.resumes": CALLING,
        "write.words": {"ToolCall/arguments"},
        "write.results": {"ToolCall/arguments"},
        "round-trip.kept": {"ToolCall/arguments"},
    }

    def rows(self, rows: Rows) -> Rows:
        return [row for row in rows if row["payload"].get("type") != "function_call_output"]


class ChainsNothing(SpoilsRows):
    fails: ClassVar[Failing] = {"write.resumes": MADE}
    agent: ClassVar[str] = "claude"

    def rows(self, rows: Rows) -> Rows:
        return [{**row, "parentUuid": None} for row in rows]


class CopiesAnEventWithoutItsIds(SpoilsRows):
    fails: ClassVar[Failing] = {"write.resumes": MADE}
    agent: ClassVar[str] = "copilot"

    def rows(self, rows: Rows) -> Rows:
        return [{name: row[name] for name in row if name != "parentId"} for row in rows]
