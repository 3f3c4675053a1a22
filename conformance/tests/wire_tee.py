"""Stands between the two sides of the wire and writes down what each says: ``LOG COMMAND...``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

with (
    Path(sys.argv[1]).open("ab") as log,
    subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as adapter,
):
    assert adapter.stdin is not None
    assert adapter.stdout is not None
    for request in sys.stdin.buffer:
        log.write(b"> " + request)
        adapter.stdin.write(request)
        adapter.stdin.flush()
        if b'"cmd":"stop"' in request:
            break
        answer = adapter.stdout.readline()
        log.write(b"< " + answer)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    sys.exit(adapter.wait())
