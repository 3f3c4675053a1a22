"""Register the recorder with a harness, and take away again exactly what was registered.

What is installed has to outlast us: an environment that is deleted, a package that is
upgraded. So the recorder is copied beside its log and started by the interpreter below any
virtual environment; and since an interpreter that can't find its file ends with 2, which
harnesses take for *stop*, the command is made to end well whatever happens.

A receipt beside the log says what was put where. While nobody has touched the file since, its
bytes are what they were; else the recorder's entries are taken out of what is there now.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from transcripts.errors import (
    ChangedDuringRead,
    UnknownRelease,
    UnreadableConfig,
    UnusableRecorder,
)
from transcripts.hooks import jsonc
from transcripts.hooks.harnesses import HARNESSES, Harness, Scope
from transcripts.hooks.harnesses.base import older, release_in

SENSITIVE = (
    "prompts, commands, file contents, what tools answered and any secret among them, "
    "in plain text, in a file that only you can read"
)

_RECORDER = Path("transcript-conformance", "hooks", "capture.py")
_COMMANDS = {harness.command_key for harness in HARNESSES.values()}
_BLANK = "\ufeff \t\r\n"
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
        return self.data / _RECORDER.name

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
            next_step="register the command of transcripts/hooks/capture.py by hand",
        )
    harness = HARNESSES[agent]
    release, release_from = _release(harness, release)
    events = _events(harness, release, scope)
    places = _places(harness, home, scope, cwd)
    place = _log_place(log, places, agent)
    commands = {event: command(places.recorder, place, event) for event in events}

    found = _read(places.config)
    receipt = _receipt(places.receipt(agent))
    _provide_recorder(places, place)
    changed = found is None or _registered(found, places) != commands
    if changed:
        _register(harness, places, found, receipt, commands, place)
    now = _read(places.config)
    notes = harness.notes + _switched_off(now, places.config) + _others(now, places)
    return Installation(
        agent=agent,
        release=release,
        release_from=release_from,
        scope=scope,
        config=str(places.config),
        changed=changed,
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
        notes=notes,
        remove=_removal(agent, home, scope, cwd),
        documentation=harness.documentation,
    )


def uninstall(
    agent: str, *, home: Path | None = None, scope: Scope = "user", cwd: Path | None = None
) -> Uninstallation:
    """Take away what :func:`install` registered, and nothing else; the log stays."""
    places = _places(HARNESSES[agent], home, scope, cwd)
    found = _read(places.config)
    receipt = _receipt(places.receipt(agent))
    events: tuple[str, ...] = ()
    left, restored = found, "nothing"
    if found is not None:
        events = tuple(_registered(found, places))
        left, restored = _without(found, receipt, places)
    if restored != "nothing":
        _replace(places.config, found, left)
    if receipt is not None:
        if left is None:
            _remove_empty(receipt.directories)
        places.receipt(agent).unlink()
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


def command(recorder: Path, log: Path, event: str) -> str:
    """Return the shell command that records one event and ends with 0 in any case."""
    words = [interpreter(), "-I", "-S", str(recorder), str(log), event]
    return f"{shlex.join(words)} || :"


def interpreter() -> str:
    """Return the interpreter below the virtual environment, if this is one.

    The environment may go; and with none of its packages needed, nothing is lost.
    """
    return getattr(sys, "_base_executable", None) or sys.executable


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
    data = (base / _RECORDER.parent).resolve()
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


def _switched_off(data: bytes | None, config: Path) -> tuple[str, ...]:
    text = _text(data or b"{}", config)
    found = _member(_scanned(text, config), "disableAllHooks", text, config)
    if found is None or found.value.plain is not True:
        return ()
    return ("the file says disableAllHooks: nothing is recorded until it no longer does",)


# ------------------------------------------------------------------ the recorder


def _provide_recorder(places: _Places, log: Path) -> None:
    """Copy the recorder to its place and let it record once, beside the log."""
    code = Path(__file__).with_name("capture.py").read_bytes()
    try:
        places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _read(places.recorder) != code:
            _write(places.recorder, code)
    except OSError as error:
        raise UnusableRecorder(
            f"the recorder can't be put there: {error.strerror}", path=places.recorder
        ) from error
    probe = log.with_name(f".{log.name}.{os.getpid()}")
    try:
        subprocess.run(
            ["/bin/sh", "-c", command(places.recorder, probe, "probe")],
            input=b"{}",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_VERSION_SECONDS,
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


def _clear_away(places: _Places) -> None:
    """Remove the recorder once no harness runs it, and the directories if nothing is left."""
    if places.receipts.is_dir() and any(places.receipts.iterdir()):
        return
    with suppress(FileNotFoundError):
        places.recorder.unlink()
    _remove_empty((str(places.data.parent), str(places.data), str(places.receipts)))


# ------------------------------------------------------------------ the configuration


def _register(
    harness: Harness,
    places: _Places,
    found: bytes | None,
    receipt: Receipt | None,
    commands: Mapping[str, str],
    log: Path,
) -> None:
    before, how = found, "nothing"
    if found is not None:
        before, how = _without(found, receipt, places)
    earlier = receipt if how == "entries" else None
    pieces: tuple[jsonc.Insertion, ...] | None = None
    created: tuple[str, ...] = ("hooks", *(f"hooks/{event}" for event in commands))
    if before is None:
        entries = {event: [harness.entry(line)] for event, line in commands.items()}
        text = jsonc.document({**harness.beside, "hooks": entries})
    else:
        old = _text(before, places.config)
        text, pieces, created = _inserted(old, harness, commands, places.config)
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
    places.receipts.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(places.receipt(harness.name), msgspec.json.format(msgspec.json.encode(note)))
    _replace(places.config, found, data)


def _inserted(
    text: str, harness: Harness, commands: Mapping[str, str], config: Path
) -> tuple[str, tuple[jsonc.Insertion, ...], tuple[str, ...]]:
    """Return the text with our entries, the pieces put into it, and the members they needed."""
    if not text.strip(_BLANK):
        entries = {event: [harness.entry(line)] for event, line in commands.items()}
        piece = jsonc.document({**harness.beside, "hooks": entries})
        whole = jsonc.Insertion(at=len(text), text=piece)
        return text + piece, (whole,), ("hooks", *(f"hooks/{event}" for event in commands))
    pieces: list[jsonc.Insertion] = []
    created: list[str] = []

    def put(container: jsonc.Value, value: Any, key: str | None) -> None:
        nonlocal text
        new = jsonc.append(text, container, value, key)
        text = jsonc.insert(text, new)
        # Counted from now on in the text that has those before them.
        shift = 0
        for piece in new:
            pieces.append(jsonc.Insertion(at=piece.at + shift, text=piece.text))
            shift += len(piece.text)

    for event, line in commands.items():
        root = _scanned(text, config)
        hooks = _hooks(root, text, config)
        entry = harness.entry(line)
        if hooks is None:
            put(root, {event: [entry]}, "hooks")
            created += ["hooks", f"hooks/{event}"]
            continue
        listed = _member(hooks, event, text, config)
        if listed is None:
            put(hooks, [entry], event)
            created.append(f"hooks/{event}")
        elif listed.value.array:
            put(listed.value, entry, None)
        else:
            raise _unreadable(f"the hooks of {event} are no list", text, listed.start, config)
    return text, tuple(pieces), tuple(created)


def _without(
    data: bytes, receipt: Receipt | None, places: _Places
) -> tuple[bytes | None, Literal["bytes", "entries", "nothing"]]:
    """Return a file as it is without us (None: not at all), and how that was found out."""
    if receipt is not None and sha256(data).hexdigest() == receipt.after:
        if receipt.pieces is None:
            return None, "bytes"
        text = data.decode("utf-8")
        for piece in reversed(receipt.pieces):
            text = text[: piece.at] + text[piece.at + len(piece.text) :]
        before = text.encode("utf-8")
        if sha256(before).hexdigest() == receipt.before:
            return before, "bytes"
    text = _text(data, places.config)
    if not any(True for _ in _entries(text, places)):
        return data, "nothing"
    while (ours := next(_entries(text, places), None)) is not None:
        text = jsonc.remove(text, ours.container, ours.item)
    if receipt is not None:
        text = _without_empty(text, receipt.created, places.config)
        if not receipt.existed and _says_nothing(text, places.config):
            return None, "entries"
    return text.encode("utf-8"), "entries"


def _without_empty(text: str, created: tuple[str, ...], config: Path) -> str:
    """Take away the members that came to be for our entries and that nothing is left in."""
    for path in sorted(created, key=lambda one: -one.count("/")):
        container = _scanned(text, config)
        *outer, last = path.split("/")
        for key in outer:
            item = _member(container, key, text, config)
            container = container if item is None else item.value
        item = _member(container, last, text, config)
        if item is not None and item.value.items == ():
            text = jsonc.remove(text, container, item)
    return text


def _says_nothing(text: str, config: Path) -> bool:
    root = _scanned(text, config)
    only = {item.key for item in root.items or ()} <= {"version"}
    return only and "//" not in text and "/*" not in text


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a recorder of ours: the largest item that holds nothing else, and its place.

    ``recorder`` is the file that it runs.
    """

    event: str
    command: str
    recorder: str
    container: jsonc.Value
    item: jsonc.Item


def _entries(text: str, places: _Places) -> Iterator[_Entry]:
    """Yield the entries that run this recorder; another home's are somebody else's."""
    recorder = str(places.recorder)
    return (entry for entry in _recorders(text, places.config) if entry.recorder == recorder)


def _others(data: bytes | None, places: _Places) -> tuple[str, ...]:
    """Return the other recorders of ours that a file runs, which we did not register."""
    found = _recorders(_text(data or b"", places.config), places.config)
    recorders = {entry.recorder for entry in found} - {str(places.recorder)}
    return tuple(
        f"events are recorded too by {recorder}, registered by another user or home"
        for recorder in sorted(recorders)
    )


def _recorders(text: str, config: Path) -> Iterator[_Entry]:
    if not text.strip(_BLANK):
        return
    hooks = _hooks(_scanned(text, config), text, config)
    for listed in (hooks.items or ()) if hooks is not None else ():
        for item in (listed.value.items or ()) if listed.value.array else ():
            group = _member(item.value, "hooks", text, config) if item.value.is_object else None
            if group is None:
                yield from _entry(listed, listed.value, item, item)
                continue
            inner = group.value.items or ()
            for hook in inner:
                # A group that holds nothing else goes with its hook.
                whole = len(inner) == 1
                container = listed.value if whole else group.value
                yield from _entry(listed, container, item if whole else hook, hook)


def _entry(
    listed: jsonc.Item, container: jsonc.Value, item: jsonc.Item, hook: jsonc.Item
) -> Iterator[_Entry]:
    for member in hook.value.items or ():
        line: Any = member.value.plain if member.key in _COMMANDS else None
        recorder = _recorder_in(line) if isinstance(line, str) else None
        if recorder is not None:
            yield _Entry(
                event=listed.key or "",
                command=line,
                recorder=recorder,
                container=container,
                item=item,
            )


def _recorder_in(line: str) -> str | None:
    """Return the recorder that a command of ours runs, or None if it is none of ours."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    place = words[3] if words[1:3] == ["-I", "-S"] and len(words) > 3 else ""
    return place if Path(place).parts[-3:] == _RECORDER.parts else None


def _registered(data: bytes, places: _Places) -> dict[str, str]:
    """Return our command of each event that has one; several make it another command."""
    found: dict[str, str] = {}
    for entry in _entries(_text(data, places.config), places):
        before = found.get(entry.event)
        found[entry.event] = entry.command if before is None else f"{before}\n{entry.command}"
    return found


def _hooks(root: jsonc.Value, text: str, config: Path) -> jsonc.Value | None:
    found = _member(root, "hooks", text, config)
    if found is not None and not found.value.is_object:
        raise _unreadable("its hooks are no object", text, found.start, config)
    return found.value if found is not None else None


def _member(value: jsonc.Value, key: str, text: str, config: Path) -> jsonc.Item | None:
    try:
        return value.member(key)
    except jsonc.Malformed as error:
        raise _unreadable(error.why, text, error.offset, config) from None


def _scanned(text: str, config: Path) -> jsonc.Value:
    try:
        root = jsonc.scan(text)
    except jsonc.Malformed as error:
        raise _unreadable(f"not JSON: {error.why}", text, error.offset, config) from None
    if not root.is_object:
        raise _unreadable("it is no object", text, root.start, config)
    return root


def _text(data: bytes, config: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableConfig(
            "not UTF-8", path=config, offset=error.start, next_step=_LEFT_ALONE
        ) from None


_LEFT_ALONE = "nothing was changed; mend it and try again"


def _unreadable(why: str, text: str, at: int, config: Path) -> UnreadableConfig:
    return UnreadableConfig(
        why,
        path=config,
        line=text.count("\n", 0, at) + 1,
        offset=len(text[:at].encode("utf-8")),
        next_step=_LEFT_ALONE,
    )


# ------------------------------------------------------------------ files


def _receipt(path: Path) -> Receipt | None:
    data = _read(path)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=Receipt)
    except msgspec.MsgspecError:
        return None  # as if lost: our entries are found by what they run


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _replace(path: Path, expected: bytes | None, data: bytes | None) -> None:
    """Put new bytes in the place of those that were read, or nothing."""
    if _read(path) != expected:
        raise ChangedDuringRead(
            "somebody else has just changed it", path=path, next_step="try again"
        )
    if data is None:
        path.unlink()
    else:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, data)


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; one that is there keeps its owner and mode."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                old = path.stat()
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
                with suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _remove_empty(directories: tuple[str, ...]) -> None:
    """Remove directories that are empty, the innermost last."""
    for directory in reversed(directories):
        with suppress(OSError):
            Path(directory).rmdir()
