"""An adapter that is a program: asked by lines on its standard input, heard on its output.

Every fault of the wire is a typed error of its own (:mod:`conformance.adapters.errors`), apart
from an adapter's own failures and from wrong answers. After a fault the program is started again
for the next question: it costs one answer, not all that follow.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from conformance.adapters.adapter import About, Adapter, Offer, Verb, Written
from conformance.adapters.answers import Listed, shaped, zoned
from conformance.adapters.errors import (
    AdapterError,
    Failed,
    Hung,
    Noise,
    Skipped,
    SplitAnswer,
    TransportFault,
    UnknownAdapter,
    WrongProtocol,
    WrongSequence,
)
from conformance.adapters.messages import (
    PROTOCOL,
    ConvertRequest,
    ErrorReply,
    ListAnswer,
    ListRequest,
    ReadAnswer,
    ReadRequest,
    Request,
    SkippedReply,
    StartAnswer,
    StartOk,
    StartRequest,
    StopRequest,
    WriteAnswer,
    WriteRequest,
    to_line,
)
from conformance.adapters.process import AdapterProcess, excerpt
from transcripts.model import Transcript
from transcripts.records import jsonlines
from transcripts.stores.base import Listing

DEADLINE = 300.0
"""Seconds for any one answer: far more than work takes, so that only a hang meets it."""

_HANGS = 2
"""So many answers in a row may stay away; then no more are waited for."""

_STOP_SECONDS = 30.0


class WireAdapter(Adapter):
    """A command that speaks the wire; started at once, so that a bad one is told at once.

    Threads may share it: it is asked one thing at a time.
    """

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        deadline: float = DEADLINE,
        directory: Path | None = None,
    ) -> None:
        self.name = name
        self._argv = tuple(argv)
        self._directory = directory
        self._deadline = deadline
        self._process: AdapterProcess | None = None
        self._seq = 0
        self._lock = Lock()
        self._abandoned = False
        self._hangs = 0
        self._greeting = self._start()

    @property
    def about(self) -> About:
        """Who the adapter says it is."""
        return self._greeting.adapter

    @property
    def pid(self) -> int | None:
        """The process that is running, if one is."""
        return None if self._process is None else self._process.pid

    def agents(self) -> Sequence[str]:
        """Return the agents of whose stores it offers anything."""
        return tuple(self._greeting.stores)

    def offers(self, agent: str) -> Offer:
        """Return what it says it offers of an agent's store."""
        return self._greeting.stores.get(agent, Offer())

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        """Have a session read."""
        self._offered("read", agent)
        answer: Any = self._run(
            lambda seq: ReadRequest(
                seq=seq,
                verb="read",
                agent=agent,
                home=_absolute(home),
                session_id=session_id,
                recover=recover,
            ),
            ReadAnswer,
        )
        return zoned(self.name, answer.transcript)

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
        """Have a session written."""
        self._offered("write", agent)
        answer: Any = self._run(
            lambda seq: WriteRequest(
                seq=seq,
                verb="write",
                agent=agent,
                home=_absolute(home),
                session_id=session_id,
                cwd=cwd,
                transcript=transcript,
                model=model,
                cli_version=cli_version,
                now=now,
            ),
            WriteAnswer,
        )
        return Written(session_id=answer.session_id, losses=answer.losses)

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        """Have the sessions listed."""
        self._offered("list", agent)
        answer: Any = self._run(
            lambda seq: ListRequest(
                seq=seq, verb="list", agent=agent, home=_absolute(home), cwd=cwd
            ),
            ListAnswer,
        )
        listed = Listed(sessions=answer.sessions, seen=answer.seen, failed=answer.failed)
        return zoned(self.name, listed).listing()

    def convert(
        self,
        agent: str,
        home: Path,
        session_id: str,
        target_agent: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str | None = None,
        recover: bool = False,
    ) -> Written:
        """Have a session carried into another store."""
        if target_agent not in self.offers(agent).convert:
            self.refuse("convert", agent, target_agent)
        answer: Any = self._run(
            lambda seq: ConvertRequest(
                seq=seq,
                verb="convert",
                agent=agent,
                home=_absolute(home),
                session_id=session_id,
                target_agent=target_agent,
                target_home=_absolute(target_home),
                new_session_id=new_session_id,
                cwd=cwd,
                recover=recover,
            ),
            WriteAnswer,
        )
        return Written(session_id=answer.session_id, losses=answer.losses)

    def reopen(self) -> None:
        """End the program; the next question starts it again."""
        self.close()

    def close(self) -> None:
        """Tell the program to stop and see that it does, with nothing left of it."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            try:
                seconds = min(self._deadline, _STOP_SECONDS)
                process.end_well(to_line(StopRequest(seq=self._seq + 1)), seconds)
            finally:
                process.kill()

    def abandon(self) -> None:
        """Kill the program, whoever waits for its answer, and never start it again."""
        self._abandoned = True
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    # ------------------------------------------------------------------ asking

    def _offered(self, verb: Verb, agent: str) -> None:
        if not getattr(self.offers(agent), verb):
            self.refuse(verb, agent)

    def _run(self, request: Callable[[int], Request], shape: Any) -> Any:
        """Ask what a number makes the request of, with the program running that it is for."""
        with self._lock:
            if self._abandoned:
                raise Skipped(self.name, "was ended: nobody waits for its answer")
            if self._hangs >= _HANGS:
                raise Hung(
                    self.name,
                    f"is asked no more: {_HANGS} answers in a row did not come "
                    f"within {self._deadline:g} s",
                )
            try:
                if self._process is None:
                    self._greeting = self._start()
                self._seq += 1
                answer = self._ask(request(self._seq), shape)
            except Hung:
                self._hangs += 1
                raise
            except AdapterError:
                self._hangs = 0
                raise
            self._hangs = 0
            return answer

    def _start(self) -> StartOk:
        self._seq = 0
        self._process = AdapterProcess(self.name, self._argv, self._directory)
        try:
            return self._ask(StartRequest(seq=0, protocol=PROTOCOL), StartAnswer)
        except BaseException:
            self._abandon()
            raise

    def _ask(self, request: Request, shape: Any) -> Any:
        """Send a request and return the ``ok`` that answers it."""
        assert self._process is not None
        what = request.verb if not isinstance(request, StartRequest | StopRequest) else "start"
        try:
            line = self._process.exchange(to_line(request), what, self._deadline)
            answer = self._message(line)
            if isinstance(request, StartRequest):
                self._same_protocol(answer)
            self._same_sequence(answer, request.seq)
        except BaseException:
            # Whatever else it may say belongs to a question that nobody asks any more.
            self._abandon()
            raise
        reply = shaped(self.name, answer, shape, f"the answer to {what} breaks its schema")
        if isinstance(reply, SkippedReply):
            raise Skipped(self.name, reply.why)
        if isinstance(reply, ErrorReply):
            raise Failed(self.name, reply.stage, reply.message)
        return reply

    def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _message(self, line: bytes) -> dict[str, Any]:
        try:
            value = jsonlines.parse(line)
        except (ValueError, RecursionError):
            raise self._unparsed(line) from None
        if not isinstance(value, dict):
            raise self._fault(Noise, f"wrote a line that is no JSON object: {excerpt(line)}")
        return value

    def _unparsed(self, line: bytes) -> TransportFault:
        """Tell half an answer from something that is none."""
        if _is_half(line):
            return self._fault(
                SplitAnswer,
                f"wrote an answer that goes on in the next line: {excerpt(line)}",
                "print each answer as one line, and escape line ends in strings",
            )
        return self._fault(
            Noise,
            f"wrote a line that is no JSON: {excerpt(line)}",
            "standard output is for answers alone; log to standard error",
        )

    def _same_protocol(self, answer: dict[str, Any]) -> None:
        spoken = answer.get("protocol", PROTOCOL)
        if spoken != PROTOCOL:
            raise self._fault(
                WrongProtocol,
                f"speaks protocol {spoken!r}, not {PROTOCOL}",
                f"answer start with protocol {PROTOCOL}, as docs/adapters.md gives it",
            )

    def _same_sequence(self, answer: dict[str, Any], asked: int) -> None:
        answered = answer.get("seq")
        if isinstance(answered, int) and not isinstance(answered, bool) and answered != asked:
            raise WrongSequence(self.name, asked, answered, stderr=self._last_words())

    def _fault(
        self, kind: type[TransportFault], why: str, next_step: str | None = None
    ) -> TransportFault:
        return kind(self.name, why, next_step=next_step, stderr=self._last_words())

    def _last_words(self) -> str:
        return "" if self._process is None else self._process.last_words()


def command(name: str, words: str) -> Sequence[str]:
    """Return the argument vector of ``exec:``'s words; :class:`UnknownAdapter` if they are none."""
    try:
        argv = shlex.split(words)
    except ValueError as error:
        raise UnknownAdapter(
            name, f"is no command: {error}", next_step="quote it as for a shell"
        ) from error
    if not argv:
        raise UnknownAdapter(name, "is no command", next_step="write exec:COMMAND ARGUMENT...")
    return argv


def _absolute(home: Path) -> str:
    return str(home.absolute())


def _is_half(line: bytes) -> bool:
    """Whether a line is the beginning of a JSON object, and ends before the object does."""
    text = line.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text) or error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return False
