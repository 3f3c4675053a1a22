"""The recorder in its place: what of it has to outlast us, and the command that runs it.

An environment is deleted, a package upgraded, and hooks stay. So the recorder is copied beside
its log and run by the interpreter below any virtual environment; and since an interpreter that
can't find its file ends with 2, which harnesses take for *stop*, the command is made to end well
whatever happens.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from transcripts.errors import UnusableRecorder
from transcripts.hooks.recording.replacing import read, write

PLACE = Path("transcript-conformance", "hooks", "capture.py")
"""Where the recorder lies in a user's data directory."""

_FLAGS = ["-I", "-S"]
_PROBE_SECONDS = 30


def command(recorder: Path, log: Path, event: str) -> str:
    """Return the shell command that records one event and ends with 0 in any case."""
    words = [interpreter(), *_FLAGS, str(recorder), str(log), event]
    return f"{shlex.join(words)} || :"


def recorder_in(line: str) -> str | None:
    """Return the recorder that a command of ours runs, or None if it is none of ours."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    place = words[3] if words[1:3] == _FLAGS and len(words) > 3 else ""
    return place if Path(place).parts[-len(PLACE.parts) :] == PLACE.parts else None


def interpreter() -> str:
    """Return the interpreter below the virtual environment, if this is one.

    The environment may go; and with none of its packages needed, nothing is lost.
    """
    return getattr(sys, "_base_executable", None) or sys.executable


def provide(recorder: Path, log: Path) -> None:
    """Copy the recorder to its place and let it record once, beside the log."""
    code = Path(__file__).with_name("capture.py").read_bytes()
    try:
        recorder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if read(recorder) != code:
            write(recorder, code)
    except OSError as error:
        raise UnusableRecorder(
            f"the recorder can't be put there: {error.strerror}", path=recorder
        ) from error
    probe = log.with_name(f".{log.name}.{os.getpid()}")
    try:
        subprocess.run(
            ["/bin/sh", "-c", command(recorder, probe, "probe")],
            input=b"{}",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_PROBE_SECONDS,
        )
        recorded = probe.is_file() and b'"payload": {}' in probe.read_bytes()
    except (OSError, subprocess.TimeoutExpired):
        recorded = False
    finally:
        with suppress(OSError):
            probe.unlink()
    if not recorded:
        raise UnusableRecorder(
            f"{interpreter()} records nothing there",
            path=log,
            next_step="see whether the directory is yours and writable, or name another "
            "place with --log",
        )
