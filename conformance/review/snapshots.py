"""Snapshots held against what the code makes today of the recordings: schemas and readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from conformance.corpus import EXPECTED
from conformance.expected import expected_text
from conformance.formats.snapshots import kept_files, recorded_releases, records_of, texts
from conformance.matrix import Tick, read_case
from conformance.review.differences import reading_differences, schema_differences
from conformance.review.pending import Pending
from transcripts.stores.base import store_class


def pending_snapshots(corpus: Path, schemas: Path, tick: Tick) -> Iterator[Pending]:
    """Yield the snapshots that are not what the recordings give, or of nothing recorded."""
    made: set[Path] = set()
    for release, cases in recorded_releases(corpus).items():
        tick(f"making the snapshots of {release.directory}")
        store = store_class(release.agent)
        directory = schemas / release.directory
        found = {
            **_placed(directory, texts(release.agent, [(one, records_of(one)) for one in cases])),
            **{one.directory / EXPECTED: expected_text(read_case(one, store)) for one in cases},
        }
        made |= found.keys()
        for path, text in found.items():
            before = path.read_text(encoding="utf-8") if path.is_file() else None
            if before != text:
                yield _of(path, before, text, corpus.parent)
    for path in _kept(corpus, schemas):
        if path not in made:
            yield Pending(
                name=_name(path, corpus.parent),
                state="unreferenced",
                told=["nothing that is recorded is of it; accepting removes it"],
                before=path.read_text(encoding="utf-8"),
                after="",
                accept=partial(_remove, path),
            )


def _placed(directory: Path, files: Mapping[str, str]) -> dict[Path, str]:
    return {directory / name: text for name, text in files.items()}


def _of(path: Path, before: str | None, after: str, base: Path) -> Pending:
    differ = reading_differences if path.name == EXPECTED else schema_differences
    return Pending(
        name=_name(path, base),
        state="new" if before is None else "changed",
        told=[f"{after.count(chr(10))} lines"] if before is None else differ(before, after),
        before=before or "",
        after=after,
        accept=partial(_write, path, after),
    )


def _kept(corpus: Path, schemas: Path) -> Iterator[Path]:
    for place in sorted(schemas.glob("*/*")):
        yield from kept_files(place)
    yield from sorted(corpus.glob(f"*/*/*/{EXPECTED}"))


def _name(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _remove(path: Path) -> None:
    path.unlink()
    if not any(path.parent.iterdir()):
        path.parent.rmdir()
