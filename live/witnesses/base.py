"""The one face of all witnesses: a session laid into a home, and what the CLI says of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from semver import Version

from live.agents.base import Driver
from live.model.history import Entry
from live.releases import Release
from live.sandbox import Sandbox
from live.sanitise import restore

Shown = tuple[Entry, ...]
"""Messages in the order in which a CLI shows them, in the words that a request is told in."""


class NoSession(Exception):
    """No file under the home is of the session that the witness was asked about."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A record is not as the vendor's own schema has it.

    ``kind`` is the record's type, ``pointer`` the place in it with ``*`` for every item;
    ``rule`` is the word of the schema that is broken (``type``, ``required`` …) and ``why``
    says what stands there, shortly.
    """

    kind: str
    pointer: str
    rule: str
    line: int
    why: str

    @property
    def place(self) -> tuple[str, str, str]:
        """What it has in common with the same disagreement of another record."""
        return (self.kind, self.pointer, self.rule)


class Witnessed(msgspec.Struct, frozen=True, kw_only=True):
    """What one witness says of a session.

    ``shown`` are the messages that the CLI shows, None where it judges and shows none.
    ``disagreements`` are where records break the vendor's schema, each place once.
    """

    name: str
    verdict: Literal["agrees", "refuses", "not-offered"]
    why: str = ""
    shown: Shown | None = None
    disagreements: tuple[Disagreement, ...] = ()


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """One way of asking a CLI: its name, the releases that have it, and how it is asked.

    ``since`` is the first release that was seen to have it, ``before`` says what the ones
    before it do instead.
    """

    name: str
    since: str
    before: str
    ask: Callable[[Driver, Release, Path, str], Witnessed]

    def offered(self, version: str) -> bool:
        """Whether a release has it."""
        return Version.parse(version) >= Version.parse(self.since)

    def __call__(self, driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
        """Ask a release about a session in a copy of ``home``, a user's or a recorded case's."""
        if not self.offered(release.version):
            return Witnessed(name=self.name, verdict="not-offered", why=self.before)
        return self.ask(driver, release, home, session_id)


@contextmanager
def laid(driver: Driver, release: Release, home: Path) -> Generator[Sandbox, None, None]:
    """Lend a sandbox with a copy of a home in it, where no model listens on the model's port."""
    with Sandbox(release.prefix, node_at_least=driver.node) as box:
        box.lay({})
        restore(home, box.home)
        driver.prepare(box.home, box.workspace_inside, box.port, None)
        yield box
