"""The table of a run, for people: on the terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.bench.results import Listed, Peer, Reading, Results

_WHOLE = {"small": 3.0, "large": 2.0}
_STREAM_ABOVE = 1.0
_STREAM_PEAK = 100_000_000
_WHOLE_PEAK = 3.0
_HOOKS = 1 / 0.3
_HOOKS_PEAK = 150_000_000
_LISTED = 32 * 1024

_HEAD = """# Performance

Written by `tox -e bench` (`python -m conformance.bench --write`); nothing here is asserted by a
test, for times differ from machine to machine. What is quoted are ratios of processor time against
bare `orjson.loads` over the same lines, the result thrown away, measured in turn in the same run,
each in a process of its own. The sessions are made of the corpus's own records, drawn out to two
committed histograms of sizes (`conformance/bench/sizes.json`).
"""


def markdown(results: Results) -> str:
    """Return the page."""
    return "\n".join(_parts(results)) + "\n"


def _parts(results: Results) -> Iterator[str]:
    yield _HEAD
    yield (
        f"Measured on {results.measured_on} on {results.machine.processor}, Python "
        f"{results.machine.python}; medians of {results.runs} runs."
    )
    yield "\n## Reading a session, strictly\n"
    yield "| store | records | whole | target | streamed | target | peak, whole | target |"
    yield "|---|---|---|---|---|---|---|---|"
    for reading in results.readings:
        yield _reading(reading)
    yield (
        "\n*Whole* and *streamed* are multiples of the bare parsing; the peak of a whole reading is"
        " a multiple of the file's size. What comes later in a file decides about what stands"
        " before, so every reading goes through the links first and makes the messages then."
    )
    if any(reading.stream_at_scale_bytes for reading in results.readings):
        yield "\n## Memory of a streamed reading\n"
        yield "The whole process, the interpreter and its libraries with it. The target is under"
        yield "100 MB for a session of 200 MB, and no more beyond.\n"
        yield "| store | session | peak | reached |"
        yield "|---|---|---|---|"
        for reading in results.readings:
            for size, peak in reading.stream_at_scale_bytes.items():
                reached = _said(peak <= _STREAM_PEAK)
                yield f"| {reading.agent} | {_mb(int(size))} | {_mb(peak)} | {reached} |"
    if results.hook_logs:
        yield "\n## Counting a hook log\n"
        yield "`transcripts hooks summary` over the corpus's own runs with hooks, told again and"
        yield "again as new sessions. The target is 30 % of the rate of the bare parsing, in under"
        yield "150 MB however long the log.\n"
        yield "| harness | events | log | ratio | target | peak | target |"
        yield "|---|---|---|---|---|---|---|"
        for log in results.hook_logs:
            yield (
                f"| {log.agent} | {log.events:,} | {_mb(log.file_bytes)} | {log.ratio:.1f}× "
                f"| {_HOOKS:.1f}×: {_said(log.ratio <= _HOOKS)} | {_mb(log.peak_bytes)} "
                f"| 150 MB: {_said(log.peak_bytes < _HOOKS_PEAK)} |"
            )
    if results.listings:
        yield "\n## Listing\n"
        yield "| store | sessions | median | largest | read of each | target | time each |"
        yield "|---|---|---|---|---|---|---|"
        for listed in results.listings:
            yield _listed(listed)
    if results.peers:
        yield "\n## Beside other tools\n"
        yield (
            f"The same Claude Code session of {_mb(results.peer_file_bytes or 0)} (small records),"
            " as whole processes: processor time less that of the same command over a session of a"
            " few records, against bare `orjson.loads` measured the same way. What each does"
            " differs and is said; a tool that writes or indexes does more than read."
        )
        yield "\n| tool | what it does | ratio | peak |"
        yield "|---|---|---|---|"
        for peer in results.peers:
            yield _peer(peer)


def _reading(reading: Reading) -> str:
    whole, limit = reading.whole_ratio, _WHOLE[reading.sizes]
    above = reading.stream_ratio - whole
    peak = reading.whole_peak_of_file
    middle, mean = reading.median_record_bytes / 1000, reading.mean_record_bytes / 1000
    records = (
        f"{reading.sizes}: {reading.records:,} in {_mb(reading.file_bytes)}, "
        f"median {middle:.1f} KB, mean {mean:.1f} KB"
    )
    return (
        f"| {reading.agent} | {records} | {whole:.1f}× | {limit:.1f}×: {_said(whole <= limit)} "
        f"| {reading.stream_ratio:.1f}× | whole + 1.0×: {_said(above <= _STREAM_ABOVE)} "
        f"| {peak:.1f}× | {_WHOLE_PEAK:.0f}×: {_said(peak <= _WHOLE_PEAK)} |"
    )


def _listed(listed: Listed) -> str:
    return (
        f"| {listed.agent} | {listed.sessions:,} | {listed.median_session_bytes / 1000:.0f} KB "
        f"| {_mb(listed.largest_session_bytes)} | {listed.read_bytes_each / 1024:.1f} KB "
        f"| 32 KB: {_said(listed.read_bytes_each <= _LISTED)} | {listed.cpu_ms_each:.2f} ms |"
    )


def _peer(peer: Peer) -> str:
    if peer.ratio is None:
        return f"| {_tool(peer)} | {peer.does} | not measured: {peer.why} | |"
    return f"| {_tool(peer)} | {peer.does} | {peer.ratio:.1f}× | {_mb(peer.peak_bytes or 0)} |"


def _tool(peer: Peer) -> str:
    return f"{peer.name} {peer.version}".strip()


def _said(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"
