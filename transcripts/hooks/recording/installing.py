"""Register the recorder with a harness, and take away again exactly what was registered.

A receipt beside the log says what was put where. While nobody has touched the file since, its
bytes are what they were; else the recorder's entries are taken out of what is there now.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from transcripts.errors import UnknownRelease, UnusableRecorder
from transcripts.hooks.recording import jsonc
from transcripts.hooks.recording.harnesses import HARNESSES, Harness, Scope
from transcripts.hooks.recording.harnesses.base import older, release_in
from transcripts.hooks.recording.recorder import PLACE, command, provide
from transcripts.hooks.recording.registering import Config, made, new_text, taken_back
from transcripts.hooks.recording.replacing import read, remove_empty, replace, write

SENSITIVE = (
    "prompts, commands, file contents, what tools answered and any secret among them, "
    "in plain text, in a file that only you can read"
)

_SWITCHED_OFF = "the file says disableAllHooks: nothing is recorded until it no longer does"
_VERSION_SECONDS = 30
_QUIET = {"DISABLE_AUTOUPDATER": "1", "COPILOT_AUTO_UPDATE": "false"}


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """An event that the release knows and that is not registered, and why."""

    event: str
    why: str


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """What ``hooks install`` did, and what whoever runs it has to know.

    ``changed`` is False if all was there already. ``release_from`` says who named the
    release: the option, the program on the PATH, or nobody, where events don't depend on it.
    ``remove`` is the command that undoes it; the log is not part of that.
    """

    agent: str
    release: str | None
    release_from: Literal["option", "program"] | None
    scope: Scope
    config: str
    changed: bool
    events: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    log: str
    recorder: str
    stores: str
    trust: str | None
    notes: tuple[str, ...]
    remove: tuple[str, ...]
    documentation: str


class Uninstallation(msgspec.Struct, frozen=True, kw_only=True):
    """What ``hooks uninstall`` did.

    ``restored``: the file's former bytes (or that there was none), or only that our entries
    are out of it because somebody has changed it since, or nothing, because none were there.
    ``log`` is kept, whatever else goes.
    """

    agent: str
    scope: Scope
    config: str
    restored: Literal["bytes", "entries", "nothing"]
    config_removed: bool
    events: tuple[str, ...]
    log: str | None
    notes: tuple[str, ...]


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was put into one file: ``pieces`` in the order of their coming, None for all of it.

    ``existed`` says whether there was a file before our first entry; ``created`` are members
    that came to be for our entries, ``directories`` those made for the file.
    """

    format: Literal[1]
    agent: str
    config: str
    log: str
    existed: bool
    before: str | None
    after: str
    pieces: tuple[jsonc.Insertion, ...] | None
    created: tuple[str, ...]
    directories: tuple[str, ...]


class _Places(msgspec.Struct, frozen=True, kw_only=True):
    config: Path
    data: Path

    @property
    def recorder(self) -> Path:
        return self.data / PLACE.name

    @property
    def receipts(self) -> Path:
        return self.data / "installed"

    def receipt(self, agent: str) -> Path:
        digest = sha256(os.fsencode(self.config)).hexdigest()[:16]
        return self.receipts / f"{agent}-{digest}.json"


def install(
    agent: str,
    *,
    home: Path | None = None,
    log: Path | None = None,
    scope: Scope = "user",
    cwd: Path | None = None,
    release: str | None = None,
) -> Installation:
    """Register the recorder for every event that the installed release knows.

    What is registered already stays where it is. UnknownRelease, UnreadableConfig and
    UnusableRecorder say why nothing was done.
    """
    if os.name == "nt":
        raise UnusableRecorder(
            "hooks can't be installed on Windows yet: how its shells quote was not tried",
            next_step="register the command of transcripts/hooks/recording/capture.py by hand",
        )
    harness = HARNESSES[agent]
    release, release_from = _release(harness, release)
    events = _events(harness, release, scope)
    places = _places(harness, home, scope, cwd)
    place = _log_place(log, places, agent)
    commands = {event: command(places.recorder, place, event) for event in events}

    found = read(places.config)
    plan = _planned(harness, places, found, _receipt(places.receipt(agent)), commands, place)
    try:
        provide(places.recorder, place)
    except UnusableRecorder:
        _clear_away(places)
        raise
    if plan is not None:
        places.receipts.mkdir(mode=0o700, parents=True, exist_ok=True)
        note = msgspec.json.format(msgspec.json.encode(plan.receipt))
        write(places.receipt(agent), note)
        replace(places.config, found, plan.data)
    now = read(places.config) or b""
    off = () if not Config.of(now, places.config).switched_off() else (_SWITCHED_OFF,)
    return Installation(
        agent=agent,
        release=release,
        release_from=release_from,
        scope=scope,
        config=str(places.config),
        changed=plan is not None,
        events=events,
        left_out=tuple(
            LeftOut(event=event, why=why)
            for event, why in harness.left_out.items()
            if event in harness.known(release)
        ),
        log=str(place),
        recorder=str(places.recorder),
        stores=SENSITIVE,
        trust=harness.trust.get(scope),
        notes=harness.notes + off + _others(now, places),
        remove=_removal(agent, home, scope, cwd),
        documentation=harness.documentation,
    )


def uninstall(
    agent: str, *, home: Path | None = None, scope: Scope = "user", cwd: Path | None = None
) -> Uninstallation:
    """Take away what :func:`install` registered, and nothing else; the log stays."""
    places = _places(HARNESSES[agent], home, scope, cwd)
    found = read(places.config)
    receipt = _receipt(places.receipt(agent))
    events: tuple[str, ...] = ()
    left, restored = found, "nothing"
    if found is not None:
        events = tuple(Config.of(found, places.config).registered(places.recorder))
        left, restored = _without(found, receipt, places)
    if restored != "nothing":
        replace(places.config, found, left)
    if receipt is not None and left is None:
        remove_empty(receipt.directories)
    places.receipt(agent).unlink(missing_ok=True)
    _clear_away(places)
    log = Path(receipt.log) if receipt else places.data / f"{agent}.jsonl"
    return Uninstallation(
        agent=agent,
        scope=scope,
        config=str(places.config),
        restored=restored,
        config_removed=found is not None and left is None,
        events=events,
        log=str(log) if log.exists() else None,
        notes=_others(left, places),
    )


# ------------------------------------------------------------------ what is known beforehand


def _release(
    harness: Harness, asked: str | None
) -> tuple[str | None, Literal["option", "program"] | None]:
    if asked is not None:
        release = release_in(asked)
        if release is None:
            raise UnknownRelease(f"{asked!r} is no release", next_step="give it as in 1.2.3")
        return release, "option"
    if not harness.telling:
        return None, None
    for program in harness.programs:
        path = shutil.which(program)
        release = path and _said_by(path)
        if release:
            return release, "program"
    raise UnknownRelease(
        f"{harness.title} is not on the PATH or doesn't say its release, and hooks that a "
        "release doesn't know may switch all others off",
        next_step="name it with --release",
    )


def _said_by(program: str) -> str | None:
    try:
        done = subprocess.run(
            [program, "--version"],
            env={**os.environ, **_QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_VERSION_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return release_in(done.stdout.decode("utf-8", "replace"))


def _events(harness: Harness, release: str | None, scope: Scope) -> tuple[str, ...]:
    events = harness.registered(release)
    if not events:
        raise UnknownRelease(
            f"{harness.title} {release} has no hooks that are known here",
            next_step=f"the oldest release that is known to have some is {harness.since[0][0]}",
        )
    first = harness.user_since
    if scope == "user" and release and first and older(release, first):
        raise UnknownRelease(
            f"{harness.title} {release} reads no hooks from the home directory",
            next_step=f"use --scope project, or {first} or newer",
        )
    return events


def _places(harness: Harness, home: Path | None, scope: Scope, cwd: Path | None) -> _Places:
    config = harness.config(home, scope, (cwd or Path.cwd()).absolute())
    if home is not None:
        base = home / ".local" / "share"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    # Links are followed now: later, whoever sets one must not lead us astray.
    data = (base / PLACE.parent).resolve()
    return _Places(config=config.resolve(), data=data)


def _log_place(log: Path | None, places: _Places, agent: str) -> Path:
    if log is None:
        place = places.data / f"{agent}.jsonl"
    else:
        log = log.expanduser().absolute()
        place = log.parent.resolve() / log.name
    with suppress(FileNotFoundError, NotADirectoryError):
        found = place.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
            raise UnusableRecorder(
                "this is not a file of your own, so nothing would be recorded there",
                path=place,
                next_step="name another place with --log",
            )
    return place


def _removal(agent: str, home: Path | None, scope: Scope, cwd: Path | None) -> tuple[str, ...]:
    words = ["transcripts", "hooks", "uninstall", agent]
    if home is not None:
        words += ["--home", str(home.absolute())]
    if scope == "project":
        words += ["--scope", scope, "--cwd", str((cwd or Path.cwd()).absolute())]
    return tuple(words)


# ------------------------------------------------------------------ what is put and taken


def _clear_away(places: _Places) -> None:
    """Remove the recorder once no harness runs it, and the directories if nothing is left."""
    if places.receipts.is_dir() and any(places.receipts.iterdir()):
        return
    with suppress(FileNotFoundError):
        places.recorder.unlink()
    remove_empty((str(places.data.parent), str(places.data), str(places.receipts)))


class _Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it will be, and the receipt for it."""

    data: bytes
    receipt: Receipt


def _planned(
    harness: Harness,
    places: _Places,
    found: bytes | None,
    receipt: Receipt | None,
    commands: Mapping[str, str],
    log: Path,
) -> _Planned | None:
    """Return what is to be written, or None if all is there already."""
    before, how = found, "nothing"
    if found is not None:
        if Config.of(found, places.config).registered(places.recorder) == commands:
            return None
        before, how = _without(found, receipt, places)
    earlier = receipt if how == "entries" else None
    if before is None:
        text, pieces, created = new_text(harness, commands), None, made(commands)
    else:
        done = Config.of(before, places.config).with_entries(harness, commands)
        text, pieces, created = done.text, done.pieces, done.created
    if earlier is not None:
        created = tuple(dict.fromkeys(earlier.created + created))
    missing = [parent for parent in places.config.parents if not parent.exists()]
    directories = tuple(str(parent) for parent in reversed(missing))
    if receipt is not None and how != "nothing":
        directories = receipt.directories + directories
    data = text.encode("utf-8")
    note = Receipt(
        format=1,
        agent=harness.name,
        config=str(places.config),
        log=str(log),
        existed=earlier.existed if earlier else before is not None,
        before=None if before is None else sha256(before).hexdigest(),
        after=sha256(data).hexdigest(),
        pieces=pieces,
        created=created,
        directories=directories,
    )
    return _Planned(data=data, receipt=note)


def _without(
    data: bytes, receipt: Receipt | None, places: _Places
) -> tuple[bytes | None, Literal["bytes", "entries", "nothing"]]:
    """Return a file as it is without us (None: not at all), and how that was found out."""
    if receipt is not None and sha256(data).hexdigest() == receipt.after:
        if receipt.pieces is None:
            return None, "bytes"
        before = taken_back(data.decode("utf-8"), receipt.pieces).encode("utf-8")
        if sha256(before).hexdigest() == receipt.before:
            return before, "bytes"
    config = Config.of(data, places.config)
    if not config.registered(places.recorder):
        return data, "nothing"
    left = config.without_entries(places.recorder, receipt.created if receipt else ())
    if receipt is not None and not receipt.existed and left.says_nothing():
        return None, "entries"
    return left.text.encode("utf-8"), "entries"


def _receipt(path: Path) -> Receipt | None:
    data = read(path)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=Receipt)
    except msgspec.MsgspecError:
        return None  # as if lost: our entries are found by what they run


def _others(data: bytes | None, places: _Places) -> tuple[str, ...]:
    """Return a note for each other recorder of ours that a file runs, registered by others."""
    recorders = Config.of(data or b"", places.config).recorders() - {str(places.recorder)}
    return tuple(
        f"events are recorded too by {recorder}, registered by another user or home"
        for recorder in sorted(recorders)
    )
