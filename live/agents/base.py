"""What a driver knows of its CLI, and the registry that finds one by its agent's name.

Everything about *driving* a CLI is here and in the drivers; everything about its *format* is
in ``transcripts.stores`` and never imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from live.model.play import Auxiliary, Play, Wire, WireCall
from live.model.script import Call, Response, Scenario


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a reader must find, by kind and by the values that the script chose.

    ``fields`` are named as in the normalised model (``command``, ``exit_code``, ``output``
    …); truth compares exactly these. ``unrecorded`` says of a field why this release does
    not keep it; the recorder proves it on the files.
    """

    kind: str
    fields: Mapping[str, Any]
    unrecorded: Mapping[str, str] = {}


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """A scripted call in the CLI's own words, and what a reader must find of it.

    One native call may stand for several messages (a script in code mode) and the order of
    ``expects`` is theirs. ``then`` are further calls that the model must make before it goes
    on, each in an answer of its own (a CLI that hands out a subagent's report only when
    asked); what a reader must find of them stands in ``expects`` too.
    """

    call: WireCall
    expects: tuple[Expected, ...]
    then: tuple[WireCall, ...] = ()


class CannotDo(Exception):
    """The CLI or this release has no way to do what the scenario asks; the message says why."""


_RESULTS = ("output", "error", "exit_code", "report")


class Driver(ABC):
    """One CLI at one release (``version``) with one ``dialect`` (None: its only one)."""

    agent: ClassVar[str]
    package: ClassVar[str]
    node: ClassVar[int] = 18
    """The oldest major of Node that starts every release driven here."""
    dialects: ClassVar[tuple[str | None, ...]] = (None,)
    """Ways in which one release talks to different models; the first is the default."""

    def __init__(self, version: str, dialect: str | None = None) -> None:
        self.version = version
        self.dialect = self.dialects[0] if dialect is None else dialect

    @property
    @abstractmethod
    def wire(self) -> Wire:
        """The provider's wire that the CLI is configured to speak."""

    @property
    @abstractmethod
    def model(self) -> str:
        """The model name that the CLI is started with."""

    @abstractmethod
    def executable(self, install: Path) -> Sequence[str]:
        """Return the command that starts the CLI from its npm prefix."""

    @abstractmethod
    def environment(self, home: str, port: int) -> Mapping[str, str]:
        """Return the variables to set beside PATH, HOME, LANG, TERM and TZ."""

    @abstractmethod
    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Write the configuration the CLI needs into its (outside view of) home."""

    @abstractmethod
    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return the arguments of one non-interactive run.

        ``resume`` is the id of the session to continue; else ``session_id`` is asked for
        where the CLI lets one choose.
        """

    @abstractmethod
    def translate(self, call: Call, workspace: str) -> Translation:
        """Put a scripted call into the CLI's own words; :class:`CannotDo` if there are none."""

    def translate_response(
        self, response: Response, scenario: Scenario, workspace: str
    ) -> Sequence[Translation]:
        """Put all calls of one answer into the CLI's own words: one by one, unless overridden.

        A CLI in code mode makes parallel calls from inside one script, and a patch that moves
        a file has to quote it: both need more than the call alone.
        """
        del scenario
        return [self.translate(call, workspace) for call in response.calls]

    def cut_short(self, expected: Expected) -> Expected:
        """Return what is left of a call when the CLI is killed before its answer has ended.

        The call without a result, unless the CLI starts tools while the answer still arrives.
        """
        fields = {name: value for name, value in expected.fields.items() if name not in _RESULTS}
        return msgspec.structs.replace(expected, fields={**fields, "status": "unresolved"})

    @property
    def task_unrecorded(self) -> str | None:
        """Why a subagent's task is no message on its own thread, or None if it is one.

        It stands in the call that handed it over in any case.
        """
        return None

    @abstractmethod
    def auxiliaries(self) -> Sequence[Auxiliary]:
        """Return how to tell and answer the requests that the CLI makes on the side."""

    def pace(self, play: Play) -> Play:
        """Return the play with the pauses that make this CLI record in one order every time.

        A CLI that starts a tool while the answer is still arriving, or runs a subagent beside
        its parent, writes down what comes first: recordings would differ by chance.
        """
        return play

    @abstractmethod
    def session_files(self, home: Path) -> Sequence[Path]:
        """Return the files that are the CLI's record of the run, absolute, sorted."""

    @abstractmethod
    def session_id(self, home: Path) -> str:
        """Return the id of the newest main session under a home."""

    @abstractmethod
    def newest_log_line(self, home: Path) -> str | None:
        """Return the CLI's own last word about a failure, where stderr was silent."""


_DRIVERS = {
    "claude": "live.agents.claude:ClaudeDriver",
    "codex": "live.agents.codex:CodexDriver",
    "copilot": "live.agents.copilot:CopilotDriver",
}


def drivers() -> tuple[str, ...]:
    """Return the names of the agents that can be driven."""
    return tuple(_DRIVERS)


def driver_class(agent: str) -> type[Driver]:
    """Return the class of an agent's driver; KeyError if there is none."""
    module, _, name = _DRIVERS[agent].partition(":")
    return getattr(import_module(module), name)


def find_driver(agent: str, version: str, dialect: str | None = None) -> Driver:
    """Return the driver of an agent for a release; KeyError if there is none."""
    return driver_class(agent)(version, dialect)
