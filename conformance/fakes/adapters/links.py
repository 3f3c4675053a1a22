"""Adapters that go wherever a link or an id leads."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import LINKED
from transcripts.model import Transcript
from transcripts.stores.base import Listing, store_class


@contextmanager
def _followed(home: Path) -> Generator[Path, None, None]:
    """Lend a home in which there is a copy of what each link leads to."""
    if not any(path.is_symlink() for path in home.rglob("*")):
        yield home
        return
    with tempfile.TemporaryDirectory() as directory:
        yield shutil.copytree(home, Path(directory) / "home")


class ReadsWhereLinksLead(Fake):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.links": LINKED}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        with _followed(home) as there:
            return super().read(agent, there, session_id, recover=recover)


class ListsWhereLinksLead(Fake):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"list.links": LINKED}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        with _followed(home) as there:
            return super().list(agent, there, cwd=cwd)


class TakesAPathForAnId(Fake):
    fails: ClassVar[Failing] = {"read.paths": {"command-ok/path"}}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        if Path(session_id).is_file():
            return store_class(agent).read_path(Path(session_id), recover=recover)
        return super().read(agent, home, session_id, recover=recover)
