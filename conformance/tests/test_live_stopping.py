"""A live run that is stopped ends at once what it waits for, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from conformance.generated import ROOT

HANGS = """
import json, os, pathlib, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        about = {"name": "hangs", "version": "1", "language": "Python"}
        stores = {"claude": {"convert": ["codex"]}}
        said = {"seq": 0, "reply": "ok", "protocol": 1, "adapter": about, "stores": stores}
        print(json.dumps(said), flush=True)
    else:
        pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(600)
"""

RUN = """
import shlex, signal, sys
from pathlib import Path
from conformance.corpus import find_corpus
from conformance.livechecks.command import moved_by
from conformance.livechecks.planning import Planned, newest, run_all
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import Source, Sources

class Ready(Sources):
    def get(self, check, agent, release):
        home = Path(sys.argv[2])
        return Source(
            agent=agent, release=release, home=home, workspace=home, session_id="1", cwd="/srv"
        )

# A runner of tests may have been started where nobody interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
words = shlex.join([sys.executable, "-I", "-S", sys.argv[1], sys.argv[3]])
checks = [Planned("t0", "claude", "codex")] * 4
with moved_by("exec:" + words) as mover:
    bench = Bench(mover=mover, releases=newest(find_corpus()), sources=Ready(Path(sys.argv[2])))
    run_all(checks, bench, 2, lambda word: print(word, flush=True))
"""


def test_who_stops_a_run_waits_for_no_adapter_and_nothing_is_left(tmp_path: Path) -> None:
    """Ctrl-C twice, as somebody in a hurry presses it: the second must not break the tidying."""
    adapter, begun, temporary = tmp_path / "hangs.py", tmp_path / "begun", tmp_path / "temporary"
    adapter.write_text(HANGS, "utf-8")
    (tmp_path / "home").mkdir()
    temporary.mkdir()
    words = [sys.executable, "-c", RUN, str(adapter), str(tmp_path / "home"), str(begun)]
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            deadline = time.monotonic() + 60
            while not begun.exists() or not begun.read_text("utf-8"):
                assert time.monotonic() < deadline, "the adapter was not asked"
                time.sleep(0.05)
            run.send_signal(signal.SIGINT)
            assert run.stdout is not None
            assert "stopping" in run.stdout.readline()
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=60)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in errors
    assert not Path(f"/proc/{begun.read_text('utf-8')}").exists()
    assert list(temporary.iterdir()) == []
