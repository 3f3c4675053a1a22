"""A look at one release: installed, taken through a few scenarios, its shape, and gone again.

What the CLI left is kept as it is in the user's cache, so that a shape can be made anew without
an install. The release itself is removed, unless it was there before.
"""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from conformance.drift.timeline_data import CORE, Look, Seen, Shape
from conformance.drift.timeline_shapes import shape_of
from live.agents.base import CannotDo, Driver, Untaught, driver_class, find_driver
from live.model import script
from live.model.log import Exchange
from live.model.script import Scenario
from live.releases import Release, ReleaseError, cache_root, install, installed
from live.running import Run, perform

_RECORDING = Lock()
"""One CLI at a time in one process; another thread may install the next release meanwhile."""

_NO_REGISTRY = (
    *("EAI_AGAIN", "ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT"),
    *("npm is not installed", "took more than"),
)
"""What says nothing of a release: a search ends there, and nothing is kept."""

_MOST_WORDS = 200
_WANTS_NODE = re.compile(r"requires Node\.js v(\d+)")
_OUR_PLACES = re.compile(r"(?:--prefix \S+ )?(?:--\S+ )*|(?<![\w.])/(?:tmp|root|home|srv|work)/\S*")
_SIDES = ("-wal", "-shm")


def look(agent: str, version: str, *, again: bool = False) -> Look:
    """Look at a release, or take what is kept of an earlier look.

    With ``again`` not of one that found something wanting.
    """
    kept = kept_look(agent, version)
    if kept is not None and not (again and kept.wanting):
        return kept
    place = look_place(agent, version)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{version}-") as scratch:
        target = Path(scratch) / "look"
        target.mkdir()
        found = _look(agent, version, target)
        (target / "look.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)))
        if place.exists():
            shutil.rmtree(place)
        target.rename(place)
    return found


def look_place(agent: str, version: str) -> Path:
    """Return where a look at a release is kept."""
    return cache_root() / "timeline" / "looks" / agent / version


def kept_look(agent: str, version: str) -> Look | None:
    """Return an earlier look at a release in the scenarios as they are now, if one is kept."""
    try:
        content = (look_place(agent, version) / "look.json").read_bytes()
        found = msgspec.json.decode(content, type=Look)
    except (OSError, msgspec.MsgspecError):
        return None
    revisions = {name: script.load(name).revision for name in CORE}
    current = all(one.revision == revisions.get(name) for name, one in found.seen.items())
    return found if current else None


def shapes(found: Look) -> Mapping[str, Shape | None]:
    """Return the shape of each scenario of a look that is kept; None is one that was not done."""
    made: dict[str, Shape | None] = dict.fromkeys(CORE)
    for name, seen in found.seen.items():
        if seen.why is not None:
            continue
        archive = look_place(found.agent, found.version) / f"{name}.tar.xz"
        with tempfile.TemporaryDirectory(prefix="look-") as scratch:
            with tarfile.open(archive) as packed:
                packed.extractall(scratch, filter="data")
            made[name] = shape_of(found.agent, Path(scratch), script.load(name), seen.offered)
    return made


# ------------------------------------------------------------------ looking


def _look(agent: str, version: str, target: Path) -> Look:
    began = time.monotonic()
    on = datetime.now(UTC).date().isoformat()
    seen: dict[str, Seen] = {}
    integrity: str | None = None
    why: str | None = None
    try:
        with _lent(agent, version) as release:
            integrity = release.integrity
            with _RECORDING:
                recorder = _Recorder(find_driver(agent, version), release, target)
                for name in CORE:
                    seen[name] = recorder.record(name)
                    if seen[name].why is not None and not seen[name].by_design and len(seen) == 1:
                        why = seen.pop(name).why
                        break
    except ReleaseError as error:
        if any(word in str(error) for word in _NO_REGISTRY):
            raise
        why = _worded(error)
    return Look(
        agent=agent,
        version=version,
        on=on,
        seconds=round(time.monotonic() - began),
        integrity=integrity,
        why=why,
        seen=seen,
    )


@contextmanager
def _lent(agent: str, version: str) -> Generator[Release, None, None]:
    """Lend a release: the one in the cache, else one that is installed apart and then removed."""
    package = driver_class(agent).package
    present = installed(agent, package, version)
    if present is not None:
        yield present
        return
    apart = cache_root() / "timeline" / "releases"
    before = _unpacked(agent, version)
    try:
        yield install(agent, package, version, apart=apart)
    finally:
        for path in (apart / agent / version, *(_unpacked(agent, version) - before)):
            shutil.rmtree(path, ignore_errors=True)
        (apart / agent / f".{version}.lock").unlink(missing_ok=True)


def _unpacked(agent: str, version: str) -> set[Path]:
    """Return the directories into which a release has unpacked itself."""
    root = cache_root() / "unpacked" / agent
    return {*root.glob(f"*/{version}"), *root.glob(f"*/*/{version}")}


class _Recorder:
    """Records one release in scenarios, with another Node if the release asks for it."""

    def __init__(self, driver: Driver, release: Release, target: Path) -> None:
        self._driver = driver
        self._release = release
        self._target = target
        self._node: int | None = None

    def record(self, name: str) -> Seen:
        """Take the release through a scenario, once more if it did not go as scripted."""
        scenario = script.load(name)
        why = ""
        for _ in range(2):
            try:
                return self._once(scenario)
            except (CannotDo, Untaught) as error:
                by_design = isinstance(error, CannotDo)
                return Seen(revision=scenario.revision, why=_worded(error), by_design=by_design)
            except Exception as error:  # whatever it is, the next release has nothing to do with it
                why = _worded(error)
                if wants := _WANTS_NODE.search(str(error)):
                    self._node = int(wants[1])
        return Seen(revision=scenario.revision, why=why)

    def _once(self, scenario: Scenario) -> Seen:
        with tempfile.TemporaryDirectory(prefix="look-") as scratch:
            run = perform(
                scenario, self._driver, self._release, Path(scratch), node_at_least=self._node
            )
            _as_scripted(run)
            _keep(self._driver, run, self._target / f"{scenario.name}.tar.xz")
            return Seen(revision=scenario.revision, offered=tuple(_offered(run.exchanges)))


class NotAsScripted(Exception):
    """A run ended well, and yet other things happened in it than the script says."""


def _as_scripted(run: Run) -> None:
    """See that every scripted answer was asked for: a call that was refused leads elsewhere."""
    asked = {(one.thread, one.turn, one.response) for one in run.exchanges if one.kind == "turn"}
    for thread in run.play.threads:
        for number, turn in enumerate(thread.turns):
            for response in turn.responses:
                if (thread.name, number, response.id) not in asked:
                    raise NotAsScripted(f"the model was never asked for {response.id!r}")


def _keep(driver: Driver, run: Run, archive: Path) -> None:
    with tarfile.open(archive, "w:xz") as packed:
        for path in driver.session_files(run.home):
            for side in ("", *_SIDES):
                one = path.with_name(path.name + side)
                if one.is_file():
                    packed.add(one, one.relative_to(run.home).as_posix())


def _offered(exchanges: tuple[Exchange, ...]) -> list[str]:
    """Return the names of the tools in the requests of turns; a namespace's before its own."""
    names: set[str] = set()
    for exchange in exchanges:
        if exchange.kind == "turn" and isinstance(exchange.body, dict):
            body: dict[str, Any] = exchange.body
            entries = body.get("input")
            lists = [body.get("tools")]
            if isinstance(entries, list):
                lists += [one.get("tools") for one in entries if isinstance(one, dict)]
            for tools in lists:
                names |= set(_named(tools, ""))
    return sorted(names)


def _named(tools: Any, before: str) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else []:
        inner = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        name = f"{before}{inner.get('name') or inner.get('type')}"
        if isinstance(tool.get("tools"), list):
            yield from _named(tool["tools"], f"{name}.")
        else:
            yield name


def _worded(error: Exception) -> str:
    """Return an error in a line that names no place of this machine."""
    line = " ".join(_OUR_PLACES.sub("", str(error)).split())
    if not isinstance(error, CannotDo | Untaught | ReleaseError):
        line = f"{type(error).__name__}: {line}"
    return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}…"
