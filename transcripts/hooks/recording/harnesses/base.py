"""What has to be known of a harness to register the recorder with it: its table."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

Scope = Literal["user", "project"]

_RELEASE = re.compile(r"\d+\.\d+\.\d+")


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """One harness: which events it knows since when, and how its hooks are configured.

    ``since`` has the releases in which events came to be, the oldest first; events are added
    and never taken away. A harness whose releases can't be told apart here has one entry. A
    release below ``user_since`` (None: the oldest) reads no file in the user's home.
    ``grouped`` says that hooks stand in groups with a matcher. ``left_out`` are events that
    must not be registered, with the reason.
    """

    name: str
    title: str
    documentation: str
    programs: tuple[str, ...]
    since: tuple[tuple[str, tuple[str, ...]], ...]
    directory: str
    variable: str | None = None
    user_file: str
    project_file: str
    user_since: str | None = None
    grouped: bool = False
    command_key: str = "command"
    hook: Mapping[str, Any] = {}
    beside: Mapping[str, Any] = {}
    left_out: Mapping[str, str] = {}
    trust: Mapping[Scope, str] = {}
    notes: tuple[str, ...] = ()

    @property
    def telling(self) -> bool:
        """Whether the events depend on the release."""
        return len(self.since) > 1

    def known(self, release: str | None) -> tuple[str, ...]:
        """Return the events that a release knows, in the order in which they came to be."""
        return tuple(
            event
            for since, events in self.since
            if not self.telling or (release is not None and not older(release, since))
            for event in events
        )

    def registered(self, release: str | None) -> tuple[str, ...]:
        """Return the events to register with a release."""
        return tuple(event for event in self.known(release) if event not in self.left_out)

    def entry(self, command: str) -> dict[str, Any]:
        """Return what stands in an event's list for a command."""
        hook = {**self.hook, self.command_key: command, **self._limit()}
        return {"hooks": [hook]} if self.grouped else hook

    def config(self, home: Path | None, scope: Scope, cwd: Path) -> Path:
        """Return the file in which hooks are registered."""
        if scope == "project":
            return cwd / self.project_file
        configured = os.environ.get(self.variable) if self.variable and home is None else None
        base = Path(configured) if configured else (home or Path.home()) / self.directory
        return base / self.user_file

    def _limit(self) -> dict[str, int]:
        return {"timeoutSec" if self.command_key == "bash" else "timeout": LIMIT}


LIMIT = 10
"""Seconds that a harness gives the recorder, which takes a hundredth of one."""


def older(release: str, than: str) -> bool:
    """Whether a release came before another."""
    return _numbers(release) < _numbers(than)


def release_in(text: str) -> str | None:
    """Return the release that the output of ``--version`` names."""
    found = _RELEASE.search(text)
    return found[0] if found else None


def _numbers(release: str) -> tuple[int, ...]:
    found = _RELEASE.search(release)
    return tuple(int(number) for number in found[0].split(".")) if found else ()
