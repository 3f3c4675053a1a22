"""Calls that ran at the same time: grouped by their intervals, whatever order they came in."""

from __future__ import annotations

from collections.abc import Sequence

from transcripts.hooks.trees.tree import Node

Interval = tuple[float, float]


def waves(intervals: Sequence[Interval | None]) -> list[list[int]]:
    """Return the groups of two and more intervals that hang together by overlapping.

    Two overlap when each begins before the other ends; that they touch is not enough. What
    has no interval is in no group. Members are places in the sequence given.
    """
    places = sorted(
        (place for place, interval in enumerate(intervals) if interval is not None),
        key=lambda place: (intervals[place], place),
    )
    groups: list[list[int]] = []
    latest = 0.0
    for place in places:
        interval = intervals[place]
        assert interval is not None
        start, end = interval
        # Sorted by start, then end: whatever ends last so far began before, not together with it.
        if groups and start < latest:
            groups[-1].append(place)
            latest = max(latest, end)
        else:
            groups.append([place])
            latest = end
    return [sorted(group) for group in groups if len(group) > 1]


def in_waves(calls: Sequence[Node], clock: Sequence[Interval | None], timed: bool) -> list[Node]:
    """Return nodes for the waves among some calls; ``timed``: the clock shows times, not order."""
    found: list[Node] = []
    for group in waves(clock):
        members = [calls[place] for place in group]
        wave = Node(event=None, kind="wave", name=f"{len(members)} calls", children=members)
        wave.status = "failed" if any(m.status == "failed" for m in members) else "completed"
        starts = [m.started_at for m in members if m.started_at is not None]
        ends = [m.ended_at for m in members if m.ended_at is not None]
        if timed and starts and ends:
            wave.started_at, wave.ended_at = min(starts), max(ends)
            wave.duration_ms = (wave.ended_at - wave.started_at).total_seconds() * 1000
            wave.duration_source = "observed"
        found.append(wave)
    return found
