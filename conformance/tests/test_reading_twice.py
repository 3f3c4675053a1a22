"""Reading a recording twice, on two paths and in two processes gives equal bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.corpus import Case, cases, find_corpus, opened
from conformance.generated import ROOT
from transcripts.serialise import to_json
from transcripts.stores.base import store_class

CASES = list(cases(find_corpus()))


def _read(home: Path, case: Case) -> str:
    transcript = store_class(case.facts.agent).read_path(home / case.facts.session_path)
    return to_json(transcript)


def _state(home: Path) -> dict[Path, tuple[int, bytes]]:
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(home.rglob("*"))
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recording_reads_the_same_wherever_it_lies(case: Case, tmp_path: Path) -> None:
    with opened(case) as home:
        before = _state(home)
        first = _read(home, case)
        assert _read(home, case) == first
        elsewhere = tmp_path / "another user's home"
        shutil.copytree(home, elsewhere)
        assert _state(home) == before
    assert _read(elsewhere, case) == first


_READ_ALL = """
import hashlib
from conformance.corpus import cases, find_corpus
from conformance.matrix import read_case
from transcripts.serialise import to_json
from transcripts.stores.base import store_class
whole = hashlib.sha256()
for case in cases(find_corpus()):
    whole.update(to_json(read_case(case, store_class(case.facts.agent))).encode())
print(whole.hexdigest())
"""


def test_another_process_reads_the_same() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _READ_ALL],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Pacific/Auckland"))
    }
    assert len(digests) == 1
