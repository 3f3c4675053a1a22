"""What a run found, for machines; the table for people is made of it."""

from __future__ import annotations

import msgspec


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """On what was measured, as far as it explains a number."""

    processor: str
    python: str


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One store reading one session, beside ``orjson.loads`` over the same lines.

    Ratios are medians over the runs, each against the bare parsing of its own run;
    ``stream_at_scale_bytes`` are the peaks of streaming ever longer sessions, by their size.
    """

    agent: str
    sizes: str
    file_bytes: int
    records: int
    median_record_bytes: float
    mean_record_bytes: float
    messages: int
    bare_cpu_s: float
    whole_ratio: float
    stream_ratio: float
    whole_peak_of_file: float
    stream_peak_bytes: int
    stream_at_scale_bytes: dict[str, int] = {}


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One store listing many sessions."""

    agent: str
    sessions: int
    median_session_bytes: float
    largest_session_bytes: int
    read_bytes_each: float
    cpu_ms_each: float


class HookLog(msgspec.Struct, frozen=True, kw_only=True):
    """The summary of one capture log, beside ``orjson.loads`` over the same lines."""

    agent: str
    events: int
    file_bytes: int
    ratio: float
    peak_bytes: int


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """One tool reading the same session as a whole process, start-up taken off.

    ``cpu_s`` is None where the tool could not be installed or failed: ``why`` says so.
    """

    name: str
    version: str
    does: str
    cpu_s: float | None = None
    ratio: float | None = None
    peak_bytes: int | None = None
    why: str | None = None


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    format: int = 1
    measured_on: str
    machine: Machine
    runs: int
    readings: tuple[Reading, ...]
    hook_logs: tuple[HookLog, ...] = ()
    listings: tuple[Listed, ...] = ()
    peer_file_bytes: int | None = None
    peers: tuple[Peer, ...] = ()
