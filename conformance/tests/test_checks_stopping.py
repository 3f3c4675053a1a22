"""A check that is broken off leaves no process and no directory, and does not go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.generated import ROOT

# Whoever is started in the background ignores interrupts, and so does what it starts.
_MAIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from conformance.cli import main
main()
"""

# It says who it is, and answers nothing after that.
_SLOW = """
import json, os, sys, time
from pathlib import Path
Path(sys.argv[1], str(os.getpid())).touch()
about = {"name": "slow", "version": "1", "language": "Python"}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    if asked["cmd"] == "run":
        Path(sys.argv[1], f"asked-{os.getpid()}").touch()
        time.sleep(600)
    ok = {"reply": "ok", "protocol": 1, "adapter": about, "stores": {"codex": {"read": True}}}
    print(json.dumps({"seq": asked["seq"], **ok}), flush=True)
"""


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("at_terminal", [True, False], ids=["interrupted", "terminated"])
def test_nothing_is_left_of_it(jobs: str, at_terminal: bool, tmp_path: Path) -> None:
    program, seen, scratch = (tmp_path / name for name in ("slow.py", "seen", "scratch"))
    program.write_text(_SLOW, "utf-8")
    seen.mkdir()
    scratch.mkdir()
    adapter = f"exec:{sys.executable} {program} {seen}"
    with subprocess.Popen(
        [sys.executable, "-c", _MAIN, "check", adapter, "--only", "read.*", "--jobs", jobs],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        start_new_session=True,
    ) as check:
        patience = time.monotonic() + 60
        while len(list(seen.glob("asked-*"))) < int(jobs) and check.poll() is None:
            assert time.monotonic() < patience
            time.sleep(0.1)
        assert len(list(seen.glob("asked-*"))) == int(jobs)
        if at_terminal:
            os.killpg(check.pid, signal.SIGINT)
        else:
            check.terminate()
        _, said = check.communicate(timeout=60)
    assert b"Traceback" not in said, said.decode()
    assert check.returncode == 128 + (signal.SIGINT if at_terminal else signal.SIGTERM)
    assert [one for one in seen.glob("[0-9]*") if _is_there(int(one.name))] == []
    assert list(scratch.iterdir()) == []
