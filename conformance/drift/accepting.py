"""Changes that somebody looked at and accepted: ``schemas/accepted.toml``.

An acknowledgement is found again by its fingerprint, which holds no version, so it stays valid for
whoever compares with an older release. It names the release that brought the change: a run up to
just that release fails for an acknowledgement of which nothing is found any more.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.drift.findings import Finding

NAME = "accepted.toml"


class BadAcceptance(Exception):
    """The file can't be used; the message names the entry and what to change."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One acknowledged finding: by its fingerprint, with rule and place for people to read."""

    agent: str
    release: str
    fingerprint: str
    rule: str
    place: str
    who: str
    why: str


class _Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    accepted: tuple[Accepted, ...] = ()


def load_accepted(path: Path) -> tuple[Accepted, ...]:
    """Return the acknowledgements, none where there is no file."""
    if not path.is_file():
        return ()
    try:
        found = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _Document).accepted
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadAcceptance(f"{path}: {error}; see docs/drift.md for its shape") from error
    for one in found:
        if not one.who.strip() or not one.why.strip():
            raise BadAcceptance(f"{path}: {one.fingerprint} ({one.rule}) lacks who or why")
    twice = [one for at, one in enumerate(found) if one.fingerprint in _prints(found[:at])]
    if twice:
        raise BadAcceptance(f"{path}: {twice[0].fingerprint} stands there twice; remove one")
    return found


def accept(found: Iterable[Finding], accepted: Sequence[Accepted]) -> list[Finding]:
    """Return findings with what was acknowledged of them."""
    by = {one.fingerprint: f"{one.who}: {one.why}" for one in accepted}
    return [replace(one, accepted=by.get(one.fingerprint)) for one in found]


def unused(
    found: Iterable[Finding], accepted: Iterable[Accepted], agent: str, release: str
) -> list[str]:
    """Return the acknowledgements of a release of which nothing was found, in words."""
    seen = _prints(found)
    return [
        f"{one.fingerprint} ({one.rule} at {one.place}) was accepted and is not found any more"
        for one in accepted
        if (one.agent, one.release) == (agent, release) and one.fingerprint not in seen
    ]


def _prints(of: Iterable[Finding | Accepted]) -> set[str]:
    return {one.fingerprint for one in of}
