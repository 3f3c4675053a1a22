"""An adapter in this process: the stores of a Python package, each with what it has of a store.

What a store answers goes through the same shapes as an answer over the wire, so that an object of
an odd type is told as the broken answer it would be there.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from conformance.adapters.adapter import About, Adapter, Offer, Verb, Written
from conformance.adapters.answers import Listed, checked
from conformance.adapters.errors import Failed, Skipped, Stage
from transcripts.errors import SessionNotFound, TranscriptError
from transcripts.model import Transcript
from transcripts.stores.base import Listing

StoreType = Callable[[Path], Any]
"""A store's class: called with a user's home it gives the store under that home."""


class StoresAdapter(Adapter):
    """The stores of some agents, opened anew for every question."""

    def __init__(
        self, name: str, stores: Mapping[str, StoreType], distribution: str | None = None
    ) -> None:
        self.name = name
        self._stores = dict(stores)
        self._distribution = distribution

    @property
    def about(self) -> About:
        """Return the installed package that the first store is of, and its version."""
        module = getattr(next(iter(self._stores.values())), "__module__", "")
        package = self._distribution or _distribution(module.partition(".")[0])
        return About(
            name=package, version=_version(package), language=f"Python {platform.python_version()}"
        )

    def agents(self) -> Sequence[str]:
        """Return the agents whose stores these are."""
        return tuple(self._stores)

    def offers(self, agent: str) -> Offer:
        """Return which of a store's methods the agent's class has."""
        store = self._stores.get(agent)
        read, write, list_ = (
            callable(getattr(store, verb, None)) for verb in ("read", "write", "list")
        )
        return Offer(read=read, write=write, list=list_)

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        """Read by the store's own reader."""
        store = self._store("read", agent)
        with self._failures("read"):
            answer = store(home).read(session_id, recover=recover)
        if answer is None:
            raise Failed(self.name, "find", f"there is no session {session_id}")
        return checked(self.name, answer, Transcript)

    def write(
        self,
        agent: str,
        home: Path,
        transcript: Transcript,
        *,
        session_id: str,
        cwd: str | None = None,
        model: str | None = None,
        cli_version: str | None = None,
        now: datetime | None = None,
    ) -> Written:
        """Write by the store's own writer."""
        store = self._store("write", agent)
        chosen = {"model": model, "cli_version": cli_version, "now": now}
        given = {name: value for name, value in chosen.items() if value is not None}
        with self._failures("write"):
            made = store(home).write(transcript, session_id=session_id, cwd=cwd, **given)
        return _written(self.name, made)

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        """List by the store's own listing."""
        store = self._store("list", agent)
        with self._failures("read"):
            listing = store(home).list(cwd)
            sessions = tuple(listing)
        failed = getattr(listing, "failed", ())
        answer = {
            "sessions": sessions,
            "seen": getattr(listing, "seen", len(sessions) + len(failed)),
            "failed": failed,
        }
        return checked(self.name, answer, Listed).listing()

    def _store(self, verb: Verb, agent: str) -> StoreType:
        if not getattr(self.offers(agent), verb):
            self.refuse(verb, agent)
        return self._stores[agent]

    @contextmanager
    def _failures(self, stage: Stage) -> Generator[None, None, None]:
        """Tell what a store raises as a process would tell it: where it failed, and why."""
        try:
            yield
        except NotImplementedError as error:
            raise Skipped(self.name, str(error) or "not implemented") from error
        except SessionNotFound as error:
            raise Failed(self.name, "find", str(error)) from error
        except TranscriptError as error:
            raise Failed(self.name, stage, str(error)) from error
        except Exception as error:  # whatever it is, it is this adapter's and this answer's alone
            raise Failed(self.name, "internal", f"{type(error).__name__}: {error}") from error


def _written(adapter: str, made: Any) -> Written:
    answer = {name: getattr(made, name) for name in ("session_id", "losses") if hasattr(made, name)}
    return checked(adapter, answer, Written)


def _distribution(package: str) -> str:
    return next(iter(packages_distributions().get(package, ())), package or "unnamed")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
