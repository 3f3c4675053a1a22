"""Bytes onto the disk, whole or not at all: the one way in which a writer makes files.

Every file is written beside its target, flushed to the disk and renamed into place, private
to its owner. A target that exists is never replaced: a write makes a new session.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from transcripts.errors import SessionExists, UnwritableSession

_PRIVATE_FILE = 0o600
_PRIVATE_DIRECTORY = 0o700


def place_file(target: Path, data: bytes) -> None:
    """Make a new file; :class:`SessionExists` if there is one already."""
    _make_parents(target)
    temporary = _write_beside(target, data)
    try:
        # A hard link fails where a rename would silently replace what is there.
        os.link(temporary, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    _flush_directory(target.parent)


def place_directory(
    target: Path, files: Mapping[str, bytes], folders: tuple[str, ...] = ()
) -> None:
    """Make a new directory with all its files (by relative path) and empty folders."""
    _make_parents(target)
    if target.exists():
        raise _exists(target)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        for name in folders:
            (temporary / name).mkdir(_PRIVATE_DIRECTORY, parents=True)
        for name, data in files.items():
            path = temporary / name
            path.parent.mkdir(_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            _write_beside(path, data).rename(path)
        _flush_directory(temporary)
        try:
            temporary.rename(target)
        except OSError as error:
            raise _exists(target) if target.exists() else _unwritable(target, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _flush_directory(target.parent)


def _make_parents(target: Path) -> None:
    try:
        missing = [parent for parent in target.parents if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir(_PRIVATE_DIRECTORY, exist_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from error


def _write_beside(target: Path, data: bytes) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_PRIVATE_FILE)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise _unwritable(target, error) from error
    return Path(name)


def _flush_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exists(target: Path) -> SessionExists:
    return SessionExists(
        "there is a session here already", path=target, next_step="choose another session id"
    )


def _unwritable(target: Path, error: OSError) -> UnwritableSession:
    return UnwritableSession(
        f"cannot be written: {error.strerror or error}",
        path=target,
        next_step="check the directory and its permissions",
    )
