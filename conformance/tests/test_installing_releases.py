"""A release that several processes ask for at once is installed by one of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.generated import ROOT

NPM = """#!/bin/sh
# As far as it is asked for here: writes the lock file below --prefix, and takes its time.
echo run >> "$NPM_RUNS"
sleep 1
mkdir -p "$3/node_modules/some-cli"
cp "$NPM_LOCK" "$3/package-lock.json"
"""


@pytest.mark.timeout(60)
def test_processes_that_ask_at_once_install_once_and_all_get_it(tmp_path: Path) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "npm").write_text(NPM, encoding="utf-8")
    (binaries / "npm").chmod(0o755)
    packages = {"node_modules/some-cli": {"version": "1.2.3", "integrity": "sha512-x"}}
    lock, runs = tmp_path / "lock.json", tmp_path / "runs"
    lock.write_text(json.dumps({"packages": packages}), encoding="utf-8")
    ask = "from live.releases import install; print(install('some', 'some-cli', '1.2.3').integrity)"
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", ask],
            cwd=ROOT,
            env={
                "PATH": f"{binaries}:/usr/bin:/bin",
                "PYTHONPATH": str(ROOT),
                "TRANSCRIPT_CONFORMANCE_CACHE": str(tmp_path / "cache"),
                "NPM_RUNS": str(runs),
                "NPM_LOCK": str(lock),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [process.communicate()[0] for process in asking]
    assert said == ["sha512-x\n"] * 3
    assert runs.read_text(encoding="utf-8") == "run\n"
