"""The files that the code generates and the repository keeps: schemas, index, tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from conformance.coverage import coverage
from conformance.index import INDEX, index_text
from conformance.livechecks import stored
from conformance.peers import stored as scored
from conformance.report import facts_page, live_page
from conformance.report.coverage import page
from conformance.report.drift_markdown import rules_table
from conformance.report.hooks import blind_spots
from conformance.report.markdown import placed, table
from conformance.report.scoreboard import files as scoreboard
from conformance.report.timeline_page import timeline_pages
from conformance.shapes import SHAPES, schema_of
from conformance.verdicts import Cell

ROOT = Path(__file__).parent.parent


def is_checkout() -> bool:
    """Whether this runs from a checkout, the only place where files can be generated."""
    return (ROOT / "pyproject.toml").is_file()


def generated(corpus: Path, cells: Callable[[], Sequence[Cell]]) -> dict[Path, str]:
    """Return every generated file of the checkout with the text that it must have."""
    files = {
        ROOT / "conformance" / "schemas" / f"{name}.schema.json": schema_text(name)
        for name in SHAPES
    }
    files[corpus / INDEX] = index_text(corpus)
    files[ROOT / "docs" / "coverage.md"] = page(coverage(corpus))
    live = ROOT / "docs" / "live.md"
    files[live] = live_page.page(stored.load(live.with_suffix(".json")))
    files |= timeline_pages(corpus, *sorted((ROOT / "docs" / "drift").glob("*.json")))
    scores = ROOT / "docs" / "scoreboard.json"
    files |= scoreboard.pages(scores, scored.load(scores))
    facts = ROOT / "docs" / "facts.md"
    files[facts] = placed(facts, facts_page.tables(corpus), "facts")
    hooks = ROOT / "docs" / "hooks.md"
    files[hooks] = placed(hooks, blind_spots(), "dialects")
    drift = ROOT / "docs" / "drift.md"
    files[drift] = placed(drift, rules_table(), "rules")
    readme = ROOT / "README.md"
    files[readme] = placed(readme, table(cells()))
    return files


def outdated(files: Mapping[Path, str]) -> list[Path]:
    """Return the files that are not what the code generates."""
    return [
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def write(files: Mapping[Path, str]) -> list[Path]:
    """Write the files that are outdated; return them."""
    changed = outdated(files)
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    return changed


def schema_text(name: str) -> str:
    """Return the committed text of a shape's JSON Schema."""
    return json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
