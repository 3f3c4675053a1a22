"""What a driver knows of its CLI, and the registry that finds one by its agent's name.

Everything about *driving* a CLI is here and in the drivers; everything about its *format* is
in ``transcripts.stores`` and never imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from live.conversation import Conversation
from live.hooklog import LOG
from live.model.play import Auxiliary, Play, Wire, WireCall
from live.model.script import Call, Failure, Response, Scenario, Turn, needs_person
from live.releases import resolve
from live.sandbox import Sandbox


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a reader must find, by kind and by the values that the script chose.

    ``fields`` are named as in the normalised model (``command``, ``exit_code``, ``output``
    …); truth compares exactly these. ``unrecorded`` says of a field why this release does
    not keep it; the recorder proves it on the files. ``author`` is who a reader must say
    wrote it: calls are the model's.
    """

    kind: str
    fields: Mapping[str, Any]
    unrecorded: Mapping[str, str] = {}
    author: Literal["model", "harness", "human"] = "model"


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """A scripted call in the CLI's own words, and what a reader must find of it.

    One native call may stand for several messages (a script in code mode) and the order of
    ``expects`` is theirs. Where a CLI's models say a thing in words of their answer and call
    nothing, ``call`` is None and ``words`` are behind the answer's own. ``then`` are further
    calls that the model must make before it goes on, each in an answer of its own (a CLI that
    hands out a subagent's report only when asked); what a reader must find of them stands in
    ``expects`` too. ``afterwards`` is what the model calls with the next words of the script,
    having gone on in the meantime.
    """

    call: WireCall | None
    expects: tuple[Expected, ...]
    words: str = ""
    then: tuple[WireCall, ...] = ()
    afterwards: tuple[Translation, ...] = ()


class CannotDo(Exception):
    """The CLI or this release has no way to do what the scenario asks; the message says why."""


class Untaught(Exception):
    """A driver does not know how to do what the scenario asks: nothing is said of the CLI."""


_RESULTS = ("output", "error", "exit_code", "report")


class Driver(ABC):
    """One CLI at one release (``version``) with one ``dialect`` (None: its only one)."""

    agent: ClassVar[str]
    package: ClassVar[str]
    node: ClassVar[int] = 18
    """The oldest major of Node that starts every release driven here."""
    dialects: ClassVar[tuple[str | None, ...]] = (None,)
    """Ways in which one release talks to different models; the first is the default."""

    def __init__(self, version: str, dialect: str | None = None, *, hooked: bool = False) -> None:
        self.version = version
        self.dialect = self.dialects[0] if dialect is None else dialect
        self.hooked = hooked
        """Whether hooks are registered, which a CLI may need to be told in its arguments."""

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
    def environment(
        self, home: str, port: int, scenario: Scenario | None = None
    ) -> Mapping[str, str]:
        """Return the variables to set beside PATH, HOME, LANG, TERM and TZ."""

    @abstractmethod
    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Write the configuration the CLI needs into its (outside view of) home."""

    def register_hooks(self, home: Path, workspace: str, command: str) -> Sequence[str]:
        """Have a command run at every hook event that this release knows; return their names.

        It is given the event's name as its argument and must be told nothing that this CLI
        would act on. Called after :meth:`prepare`, whose files it adds to. :class:`CannotDo` if
        the release has no hooks.
        """
        del home, workspace, command
        raise Untaught(f"no way is known to register hooks in {self.agent} {self.version}")

    def hook_log(self, event: str) -> str:
        """Return the name of the log in which an event is kept: one, unless events are registered
        under two names of which each makes a log of its own."""
        del event
        return LOG

    def workspace_files(self, scenario: Scenario) -> Mapping[str, str]:
        """Return what the scenario's instructions and commands are as files of the workspace.

        :class:`CannotDo` if this CLI looks for no such file.
        """
        if scenario.instructions is not None or scenario.commands:
            raise Untaught(f"no file is known in which {self.agent} looks for such a thing")
        return {}

    @abstractmethod
    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return the arguments of one non-interactive run.

        ``resume`` is the id of the session to continue; else ``session_id`` is asked for
        where the CLI lets one choose.
        """

    def turn_arguments(
        self, turn: Turn, scenario: Scenario, *, resume: str | None, session_id: str
    ) -> Sequence[str]:
        """Return the arguments of the run that takes one turn of a scenario.

        Those of the bare prompt, unless a driver knows how to give what else the turn asks
        for (pictures, a slash command, a fork, a worktree); :class:`CannotDo` if it has no way.
        """
        if turn.images or turn.forks or turn.slash or scenario.worktree:
            raise Untaught(f"no way is known to give {self.agent} such a turn as an argument")
        return self.arguments(turn.prompt, resume=resume, session_id=session_id)

    def typed(self, turn: Turn, scenario: Scenario) -> str:
        """Return the words by which a turn is given, as a record must hold them: its slash
        command or its prompt, with whatever names its pictures where they are named in it."""
        del scenario
        return turn.prompt if turn.slash is None else turn.slash.typed

    def talks(self, scenario: Scenario) -> bool:
        """Return whether the scenario is taken in a :class:`Conversation`, not turn by turn."""
        return needs_person(scenario)

    def converse(
        self,
        scenario: Scenario,
        box: Sandbox,
        executable: Sequence[str],
        port: int,
        *,
        resume: str | None,
        session_id: str,
    ) -> Conversation:
        """Start the CLI for somebody who talks to it; :class:`CannotDo` if there is no way."""
        del scenario, box, executable, port, resume, session_id
        raise Untaught(f"no way is known to talk to {self.agent} {self.version}")

    def pick(
        self, box: Sandbox, executable: Sequence[str], port: int, *, words: str
    ) -> Conversation:
        """Open a session from the CLI's own list of sessions, as a person finds it: by the words
        of its first prompt.

        Of words too long for a line of the list their beginning is looked for. Called after
        :meth:`prepare`. What comes back has the session open and takes a prompt;
        :class:`~live.conversation.Silent` with the screen and the recording if it is not
        listed, and then nothing is left of the CLI. :class:`CannotDo` if the release has no list.
        """
        del box, executable, port, words
        raise Untaught(f"no way is known to choose a session in {self.agent} {self.version}")

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

    def interrupted(self, expected: Expected) -> Expected:
        """Return what is left of a call that was running when the person interrupted it.

        The call without a result, unless the CLI makes one up.
        """
        fields = {name: value for name, value in expected.fields.items() if name not in _RESULTS}
        return msgspec.structs.replace(expected, fields={**fields, "status": "cancelled"})

    def exit_codes(self, turn: Turn) -> tuple[int, ...]:
        """Return the codes with which a run may end that went as its turn says."""
        del turn
        return (0,)

    def refusal(self, failure: Failure) -> Failure:
        """Put a provider's failure into the words of this CLI's provider."""
        return failure

    def failure_unrecorded(self, failure: Failure) -> Mapping[str, str]:
        """Return which values of a failure (``text``, ``status_code``) this CLI does not record,
        and why, where it does record that there was one."""
        del failure
        return {}

    def retried(self, failure: Failure) -> Sequence[Expected]:
        """Return what a reader must find of a failure after which a second attempt succeeded."""
        del failure
        return ()

    @property
    def full_context(self) -> int:
        """How many tokens of input tell this CLI, as configured here, that its context is full."""
        return 150_000

    @property
    def compaction_words(self) -> tuple[str, ...]:
        """Words by which this CLI's request for a summary is told from a turn.

        :class:`CannotDo` if it has no such request.
        """
        raise Untaught(f"no way is known to let {self.agent} {self.version} compact")

    @property
    def compact_prompt(self) -> str | None:
        """What the person says to have the conversation compacted, where this CLI records it
        among the prompts."""
        return None

    @property
    def resumes_anew(self) -> bool:
        """Whether going on with a session makes a new one that begins with a copy of it."""
        return False

    @property
    def queues_until_end(self) -> bool:
        """Whether what is typed ahead waits until the turn before is over; else the model sees
        it with the next result."""
        return False

    @property
    def typed_ahead(self) -> Literal["queued", "steered"]:
        """How a prompt reaches the model that was given while another turn still ran."""
        return "queued"

    @property
    def compacts_behind_prompt(self) -> bool:
        """Whether a compaction of its own, due with the next prompt, stands behind that prompt
        in the record; else before it."""
        return False

    @property
    def compacts_beside_answer(self) -> bool:
        """Whether a compaction of its own goes on while the prompt that was due is answered, so
        that it stands behind the answer."""
        return False

    @property
    def never_recorded(self) -> Mapping[str, str]:
        """What this CLI records of no message (``delivery``, ``inherited``, ``superseded``), and
        why: fields that a truth would else ask for."""
        return {}

    @property
    def hangs_after_failure(self) -> bool:
        """Whether the CLI's process stays when its turn has failed, and has to be killed."""
        return False

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

    def streamed(self, said: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return the records that each process wrote for programs, where this release is told to.

        ``said`` is the standard output of every process. What comes in another order or
        number each time (pieces of text, progress) is left out.
        """
        del said
        return ()

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


def exact_release(agent: str, version: str) -> str:
    """Return what an agent's release is numbered: a dist-tag, such as ``latest``, is asked of npm.

    :class:`live.releases.ReleaseError` if it is neither.
    """
    return resolve(driver_class(agent).package, version)


def find_driver(
    agent: str, version: str, dialect: str | None = None, *, hooked: bool = False
) -> Driver:
    """Return the driver of an agent for a release; KeyError if there is none."""
    return driver_class(agent)(version, dialect, hooked=hooked)
