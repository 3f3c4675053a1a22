"""The one way in which snapshots are written: syrupy, started from here, then what is left over.

The test that compares is the test that writes, so that what is written passes. Outside this
command syrupy's own flag is refused.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from conformance.corpus import EXPECTED, case_directories
from conformance.formats.snapshots import kept_files, recorded_releases, records_of, texts

VARIABLE = "TRANSCRIPT_CONFORMANCE_SNAPSHOTS"
ALLOWED = "update"
TESTS = Path(__file__).parent.parent / "tests" / "test_snapshots.py"
NEEDS = ("pytest", "syrupy")


class NotUpdated(Exception):
    """The snapshots could not be made; the message is what pytest said."""


def missing() -> str | None:
    """Return what is not installed and needed for writing, or None."""
    return next((name for name in NEEDS if find_spec(name) is None), None)


def update(corpus: Path, schemas: Path) -> list[Path]:
    """Remove the snapshots of nothing and write all others anew; return what changed."""
    before = _contents(corpus, schemas)
    for path in left_over(corpus, schemas):
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    command = [sys.executable, "-m", "pytest", "-q", "--snapshot-update", "-k", "kept", str(TESTS)]
    done = subprocess.run(
        command,
        cwd=TESTS.parent.parent.parent,
        env={**os.environ, VARIABLE: ALLOWED},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotUpdated(done.stdout.strip() or done.stderr.strip())
    after = _contents(corpus, schemas)
    return sorted(path for path in before | after if before.get(path) != after.get(path))


def left_over(corpus: Path, schemas: Path) -> list[Path]:
    """Return the snapshots of which nothing is recorded."""
    made = {
        schemas / release.directory / name
        for release, found in recorded_releases(corpus).items()
        for name in texts(release.agent, [(case, records_of(case)) for case in found])
    }
    recorded = set(case_directories(corpus))
    return sorted(
        [path for path in _schema_files(schemas) if path not in made]
        + [path for path in corpus.glob(f"*/*/*/{EXPECTED}") if path.parent not in recorded]
    )


def _schema_files(schemas: Path) -> Iterable[Path]:
    return (path for place in sorted(schemas.glob("*/*")) for path in kept_files(place))


def _contents(corpus: Path, schemas: Path) -> dict[Path, bytes]:
    paths = [*_schema_files(schemas), *corpus.glob(f"*/*/*/{EXPECTED}")]
    return {path: path.read_bytes() for path in paths}
