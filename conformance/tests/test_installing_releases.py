"""A release that several processes ask for at once is installed by one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
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


# What npm itself prints, where there is no such release and where there is no network.
NO_RELEASE = """npm error code ETARGET
npm error notarget No matching version found for @openai/codex@9.9.9.
npm error notarget In most cases you or one of your dependencies are requesting another.
npm error A complete log of this run can be found in: /logs/debug-0.log
"""
NO_NETWORK = """npm error code EAI_AGAIN
npm error syscall getaddrinfo
npm error errno EAI_AGAIN
npm error request to https://registry.example/codex failed, reason: getaddrinfo EAI_AGAIN
npm error A complete log of this run can be found in: /logs/debug-0.log
"""


def asked(tmp_path: Path, npm: str, *words: str) -> subprocess.Popen[str]:
    """Start our command where this is npm, and nothing is in the cache."""
    binaries, temporary = tmp_path / "bin", tmp_path / "temporary"
    binaries.mkdir()
    temporary.mkdir()
    (binaries / "npm").write_text(f"#!/bin/sh\n{npm}", encoding="utf-8")
    (binaries / "npm").chmod(0o755)
    # A runner of tests may have been started where nobody interrupts.
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from conformance.cli import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", start, *words],
        cwd=ROOT,
        env={
            **os.environ,
            "PATH": f"{binaries}:/usr/bin:/bin",
            "TRANSCRIPT_CONFORMANCE_CACHE": str(tmp_path / "cache"),
            "TMPDIR": str(temporary),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("release", "said", "told"),
    [
        (
            "codex@9.9.9",
            NO_RELEASE,
            "failed: No matching version found for @openai/codex@9.9.9. (ETARGET); `npm view ",
        ),
        (
            "codex",
            NO_NETWORK,
            "request to https://registry.example/codex failed, reason: getaddrinfo EAI_AGAIN (EAI",
        ),
        ("codex@0.171", "", "no release called '0.171'; name an exact one"),
    ],
)
def test_a_release_that_can_not_be_had_is_told_in_words_of_npm_and_is_no_drift(
    tmp_path: Path, release: str, said: str, told: str
) -> None:
    npm = f"cat >&2 <<'END'\n{said}END\nexit {1 if said else 0}\n"
    with asked(tmp_path, npm, "drift", release) as process:
        out, errors = process.communicate(timeout=50)
    assert process.returncode == 3, errors
    assert out == ""
    assert told in errors
    assert "Traceback" not in errors


@pytest.mark.timeout(60)
def test_who_stops_an_install_leaves_nothing_behind_and_is_not_told_of_drift(
    tmp_path: Path,
) -> None:
    begun = tmp_path / "begun"
    npm = f'mkdir -p "$3/node_modules"; echo $$ > {begun}; exec sleep 50\n'
    with asked(tmp_path, npm, "drift", "codex@9.9.9") as process:
        try:
            deadline = time.monotonic() + 40
            while not begun.exists() or not begun.read_text("utf-8"):
                assert time.monotonic() < deadline, "npm was not asked"
                time.sleep(0.05)
            # As a terminal does: to all that run in it.
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=40)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert list((tmp_path / "temporary").iterdir()) == []
    left = (tmp_path / "cache" / "releases" / "codex").iterdir()
    assert [path.name for path in left if not path.name.endswith(".lock")] == []
