"""The picture of a format's growth: releases across, places upward, epochs in two shades."""

from __future__ import annotations

from typing import NamedTuple

from conformance.drift.epochs import Timeline
from conformance.drift.timeline_data import known_of

WIDTH, HEIGHT = 960, 260
_LEFT, _TOP, _BOTTOM = 52, 12, 36


class Band(NamedTuple):
    """An epoch: from where to where, and its shade."""

    x: float
    width: float
    shade: str
    title: str


class Dot(NamedTuple):
    """A look: how many places were seen; ``driven`` is false where nothing was recorded."""

    x: float
    y: float
    driven: bool
    title: str


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    text: str
    anchor: str = "middle"


class Picture(NamedTuple):
    """What is drawn; positions are in the picture's own units."""

    width: int
    height: int
    left: int
    top: int
    floor: int
    bands: tuple[Band, ...]
    dots: tuple[Dot, ...]
    line: str
    across: tuple[Tick, ...]
    upward: tuple[Tick, ...]


def picture(found: Timeline) -> Picture:
    """Return the picture of a timeline."""
    versions = [release.version for release in found.file.releases]
    at = {version: place for place, version in enumerate(versions)}
    places = {
        version: len({place for shape in known.shapes.values() for place in shape or {}})
        for version, known in known_of(found.file).items()
    }
    step = (WIDTH - _LEFT - 8) / max(1, len(versions) - 1)
    floor = HEIGHT - _BOTTOM
    top = _round_up(max(places.values(), default=1))

    def x(version: str) -> float:
        return round(_LEFT + at[version] * step, 1)

    def y(count: int) -> float:
        return round(floor - (floor - _TOP) * count / top, 1)

    dots = tuple(
        Dot(x(version), y(count), count > 0, f"{version}: {count or 'no'} places")
        for version, count in places.items()
    )
    bands: list[Band] = []
    for number, epoch in enumerate(found.epochs):
        first, last = x(epoch.looks[0].version), x(epoch.looks[-1].version)
        shade = "undriven" if not epoch.driven else ("odd" if number % 2 else "even")
        width = round(last - first + step * 0.8, 1)
        bands.append(Band(round(first - step * 0.4, 1), width, shade, epoch.name))
    every = max(1, len(versions) // 10)
    return Picture(
        width=WIDTH,
        height=HEIGHT,
        left=_LEFT,
        top=_TOP,
        floor=floor,
        bands=tuple(bands),
        dots=dots,
        line=" ".join(f"{dot.x},{dot.y}" for dot in dots if dot.driven),
        across=tuple(
            Tick(x(version), version, "start" if version == versions[0] else "middle")
            for version in versions[: len(versions) - every // 2 : every]
        ),
        upward=tuple(Tick(y(top * part // 4), str(top * part // 4)) for part in range(5)),
    )


def _round_up(count: int) -> int:
    """Return a round number that is not less, and that four steps divide."""
    return -(-count // 200) * 200
