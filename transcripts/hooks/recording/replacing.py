"""A file of somebody else's, replaced whole or not at all, if it is still as it was read."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from transcripts.errors import ChangedDuringRead


def read(path: Path) -> bytes | None:
    """Return a file's bytes, or None if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def replace(path: Path, expected: bytes | None, data: bytes | None) -> None:
    """Put new bytes in the place of those that were read, or no file; None is none."""
    if read(path) != expected:
        raise ChangedDuringRead(
            "somebody else has just changed it", path=path, next_step="try again"
        )
    if data is None:
        path.unlink()
    else:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(path, data)


def write(path: Path, data: bytes) -> None:
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


def remove_empty(directories: tuple[str, ...]) -> None:
    """Remove directories that are empty, the innermost last."""
    for directory in reversed(directories):
        with suppress(OSError):
            Path(directory).rmdir()
