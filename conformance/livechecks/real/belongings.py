"""What is a person's own in the homes of the CLIs, and what of it these checks made.

Every session file is looked at before anything is asked, and again at the end. Of what is then new
only that was made here which says so itself: it was had in a workspace that was made here, or lies
where a session does that was. Nothing else is ever removed.

The person, or the CLI itself when it tidies up, may change other sessions in the meantime. A change
that bears the mark of these checks is a fault of theirs; any other is told and held against nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from live.real import OwnCli

_BLOCK = 1 << 20


class Change(NamedTuple):
    """A session file that is not as it was; ``ours`` if these checks did that."""

    path: Path
    what: str
    ours: bool

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


class _Kept(NamedTuple):
    size: int
    digest: str


class Belongings:
    """The session files under some CLIs' roots, as they are when this is made."""

    def __init__(
        self, clis: Iterable[type[OwnCli] | OwnCli], environment: Mapping[str, str]
    ) -> None:
        self._places = [(cli, cli.root(environment)) for cli in clis]
        self._directories = set(self._all_directories())
        self._before: dict[Path, _Kept] = {}
        for path in self._files():
            with contextlib.suppress(OSError):
                self._before[path] = _kept(path)
        self._workspaces: list[Path] = []
        self._ids: set[str] = set()

    def marked(self, workspace: Path) -> None:
        """Note that whatever was had in this directory was made here."""
        self._workspaces.append(workspace)

    def placed(self, session_id: str) -> None:
        """Note that whatever lies where this session does was made here."""
        self._ids.add(session_id)

    def made(self) -> Sequence[Path]:
        """Return the files that were made here, sorted."""
        new = [path for path in self._files() if path not in self._before]
        had = {path for path in new if any(had_in(path, one) for one in self._workspaces)}
        ids = set(self._ids)
        for path in had:
            ids |= {one for cli, _ in self._places if (one := cli.session_id(path))}
        return sorted(path for path in new if path in had or _lies_with(path, ids))

    def made_places(self) -> Sequence[Path]:
        """Return the same as few places: directories that are new and hold nothing else."""
        made = set(self.made())
        places: set[Path] = set()
        for path in made:
            place = path
            while place.parent not in self._directories and _all_of(place.parent, made):
                place = place.parent
            places.add(place)
        return sorted(places)

    def changes(self) -> Iterator[Change]:
        """Yield every file that was there before and is no longer as it was."""
        for path, before in self._before.items():
            try:
                if _kept(path) == before:
                    continue
                grown = _kept(path, before.size) == before
                ours = any(had_in(path, one, before.size * grown) for one in self._workspaces)
                yield Change(path, "was written on" if grown else "was changed", ours)
            except OSError:
                yield Change(path, "is gone", ours=False)

    def clean(self) -> Sequence[Path]:
        """Remove the files that were made here, and new directories that held nothing else;
        return what is left of them."""
        left: list[Path] = []
        for path in self.made():
            try:
                path.unlink()
            except OSError:
                left.append(path)
        for directory in sorted(self._all_directories(), reverse=True):
            if directory not in self._directories:
                with contextlib.suppress(OSError):  # not empty: something of the person's
                    directory.rmdir()
        return left

    def _files(self) -> Iterator[Path]:
        for cli, root in self._places:
            yield from cli.files(root)

    def _all_directories(self) -> Iterator[Path]:
        for cli, root in self._places:
            yield from (root, *root.parents)
            yield from (Path(parent) for parent, _, _ in os.walk(root / cli.keeps))


def had_in(path: Path, workspace: Path, start: int = 0) -> bool:
    """Return whether a session file, from a byte on, says that it was had in a directory.

    Not if that is only quoted in it, as by who shows what these checks print.
    """
    spelt = re.escape(json.dumps(str(workspace)).encode())
    try:
        with path.open("rb") as file:
            file.seek(start)
            return any(re.search(rb'"cwd"\s*:\s*' + spelt, line) for line in file)
    except OSError:
        return False


def _lies_with(path: Path, ids: Iterable[str]) -> bool:
    """Return whether a path is named after a session, or is in a directory that is."""
    return any(
        one in path.parts or path.stem == one or path.stem.endswith(f"-{one}") for one in ids
    )


def _all_of(directory: Path, made: set[Path]) -> bool:
    return all(path in made for path in directory.rglob("*") if not path.is_dir())


def _kept(path: Path, first: int | None = None) -> _Kept:
    """Return the size and the digest of a file, or of its first bytes."""
    digest, size = sha256(), 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK if first is None else min(_BLOCK, first - size)):
            digest.update(block)
            size += len(block)
    return _Kept(size, digest.hexdigest())
