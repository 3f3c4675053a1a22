"""One measured piece of work in a process of its own: ``python -m …one_reading WAY AGENT PATH``.

Prints one JSON object. Processor time and memory of one reading can't be told from those of the
next in the same process, so each has its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import orjson

from transcripts.facts import facts_of_path
from transcripts.hooks import CaptureLog, find_dialect
from transcripts.hooks.summaries.summarising import Counter
from transcripts.stores.base import open_store, store_class


def bare(agent: str, path: Path) -> int:
    """Parse the lines and keep nothing: what the ratios are held against."""
    count = 0
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
            count += 1
    return count


def whole(agent: str, path: Path) -> int:
    """Read the session whole, strictly."""
    return len(store_class(agent).read_path(path).messages)


def stream(agent: str, path: Path) -> int:
    """Read the session message by message, keeping none."""
    return sum(1 for _ in store_class(agent).iter_path(path))


def facts(agent: str, path: Path) -> int:
    """Make the sheet of a session, reading it message by message."""
    return facts_of_path(str(path), agent).facts.tool_calls.value or 0


def listing(agent: str, path: Path) -> int:
    """List the sessions under a home."""
    return len(open_store(agent, path).list())


def hooks(agent: str, path: Path) -> int:
    """Count a capture log, turn by turn and session by session."""
    log = CaptureLog(path, find_dialect(agent), keep_payloads=False)
    events = 0
    with Counter(log.dialect) as counter:
        for event in log:
            counter.add(event)
            events += 1
        for session in counter.sessions():
            for _ in session.turns():
                pass
            session.summary()
    return events


WAYS: dict[str, Callable[[str, Path], int]] = {
    "bare": bare,
    "whole": whole,
    "stream": stream,
    "facts": facts,
    "hooks": hooks,
    "listing": listing,
}


def main() -> None:
    """Do one piece of work and say what it took."""
    way, agent, path = sys.argv[1:]
    store_class(agent)
    before, read_before = _peak(), _bytes_read()
    started = process_time()
    count = WAYS[way](agent, Path(path))
    taken = process_time() - started
    print(
        json.dumps(
            {
                "count": count,
                "cpu_s": taken,
                "peak_bytes": _peak(),
                "peak_before_bytes": before,
                "read_bytes": _bytes_read() - read_before,
            }
        )
    )


def _peak() -> int:
    """Return the most memory that this program has had; rusage would count its parent's too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _bytes_read() -> int:
    """Return how many bytes this process has asked the system for so far."""
    counters = Path("/proc/self/io").read_text(encoding="ascii")
    return int(counters.split("rchar: ")[1].split()[0])


if __name__ == "__main__":
    main()
