"""Stores asked over the wire answer what they answer in this process, byte for byte."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.adapters import (
    Adapter,
    AdapterError,
    Failed,
    NotOffered,
    Skipped,
    open_adapter,
)
from conformance.adapters.errors import Crashed
from conformance.adapters.messages import MESSAGES
from conformance.corpus import cases, find_corpus, opened, releases
from conformance.crossing import digest
from conformance.generated import ROOT
from conformance.kinds import conversation, variants
from conformance.shapes import schema_of
from transcripts.model import Transcript
from transcripts.serialise import to_json
from transcripts.stores import agents

SERVING = [sys.executable, "-m", "conformance.adapters.serving"]
TEE = [sys.executable, str(Path(__file__).with_name("wire_tee.py"))]
NEW_ID = "0190f5c6-1d2e-7abc-8def-0123456789ac"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def served(name: str) -> str:
    return f"exec:{shlex.join([*SERVING, name])}"


def result(of: Callable[[Adapter], Any], adapter: Adapter) -> str:
    """Return an answer as bytes are compared: what it is, or how it failed."""
    try:
        answer = of(adapter)
    except (Failed, Skipped, NotOffered) as error:
        return f"{type(error).__name__}: {error.why}"
    if isinstance(answer, tuple):
        return to_json(answer)
    return to_json(
        {"sessions": answer.sessions, "seen": answer.seen, "failed": answer.failed}
        if hasattr(answer, "seen")
        else answer
    )


@pytest.mark.parametrize("agent", agents())
def test_recordings_are_read_and_listed_over_the_wire_as_here(agent: str) -> None:
    corpus = find_corpus()
    seen = 0
    with open_adapter("entry:reference") as here, open_adapter(served("entry:reference")) as there:
        assert there.agents() == here.agents()
        assert there.offers(agent) == here.offers(agent)
        for case in list(cases(corpus, agent, releases(corpus, agent)[-1]))[::6]:
            with opened(case) as home:
                asked: tuple[Callable[[Adapter], Any], ...] = (
                    lambda a, h=home, i=case.facts.session_id: a.read(agent, h, i),
                    lambda a, h=home: a.read(agent, h, "no-such-session"),
                    lambda a, h=home: a.list(agent, h),
                    lambda a, h=home, c=case.facts.cwd: a.list(agent, h, cwd=c),
                )
                for of in asked:
                    assert result(of, there) == result(of, here)
                seen += 1
    assert seen > 2


@pytest.mark.parametrize("agent", agents())
def test_every_kind_is_written_over_the_wire_as_here(agent: str, tmp_path: Path) -> None:
    """Halves of surrogate pairs and integers of any length are among the variants."""
    whole = conversation(variants())
    written: list[tuple[str, str]] = []
    for number, name in enumerate(("entry:reference", served("entry:reference"))):
        home = tmp_path / str(number)
        with open_adapter(name) as adapter:
            made = adapter.write(
                agent, home, whole, session_id=NEW_ID, cwd="/srv/app", model="m-1", now=NOON
            )
            assert made.session_id == NEW_ID
        written.append((to_json(made), digest(home)))
    assert written[0] == written[1]


@pytest.mark.parametrize("agent", agents())
def test_a_torn_file_fails_where_it_is_read_and_is_recovered(agent: str, tmp_path: Path) -> None:
    with open_adapter("entry:reference") as here, open_adapter(served("entry:reference")) as there:
        here.write(
            agent, tmp_path, conversation(variants()), session_id=NEW_ID, cwd="/srv/app", now=NOON
        )
        torn = max(
            (path for path in tmp_path.rglob("*.jsonl") if NEW_ID in str(path)),
            key=lambda path: path.stat().st_size,
        )
        torn.write_bytes(torn.read_bytes()[:-20])

        def read(adapter: Adapter) -> Transcript:
            return adapter.read(agent, tmp_path, NEW_ID)

        def recover(adapter: Adapter) -> Transcript:
            return adapter.read(agent, tmp_path, NEW_ID, recover=True)

        with pytest.raises(Failed) as failed:
            read(there)
        assert failed.value.stage == "read"
        assert result(read, there) == result(read, here)
        assert recover(there).damage
        assert result(recover, there) == result(recover, here)


def test_a_refused_write_fails_at_writing(tmp_path: Path) -> None:
    whole = conversation(variants())
    with open_adapter(served("entry:codex")) as adapter:
        adapter.write("codex", tmp_path, whole, session_id=NEW_ID, cwd="/srv/app")
        with pytest.raises(Failed) as failed:
            adapter.write("codex", tmp_path, whole, session_id=NEW_ID, cwd="/srv/app")
    assert failed.value.stage == "write"


def test_a_home_that_the_environment_names_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("CODEX_HOME", "/elsewhere")
    program = (
        "import os, pathlib, sys; "
        f"pathlib.Path({str(seen)!r}).write_text(os.environ.get('CODEX_HOME', 'none'))"
    )
    with (
        pytest.raises(Crashed),
        open_adapter(f"exec:{shlex.join([sys.executable, '-c', program])}"),
    ):
        pass
    assert seen.read_text() == "none"


def test_who_serves_no_adapter_says_so_at_the_start() -> None:
    with pytest.raises(Crashed) as crashed, open_adapter(served("entry:nobody")):
        pass
    assert crashed.value.status == 2
    assert "no installed package has an adapter of that name" in str(crashed.value)


def test_what_a_python_store_prints_is_no_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "talkative.py").write_text(
        "import os\n"
        "print('imported')\n"
        "class Store:\n"
        "    agent = 'toy'\n"
        "    def __init__(self, home): print('opened')\n"
        "    def read(self, session_id, *, recover=False):\n"
        "        if session_id == 'crash': os._exit(7)\n"
        "        os.write(1, b'read')\n"
        "        raise KeyError(session_id)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{tmp_path}")
    with open_adapter(served("py:talkative:Store")) as adapter:
        with pytest.raises(Failed, match=r"\(internal\): KeyError: '1'"):
            adapter.read("toy", tmp_path, "1")
        with pytest.raises(Crashed, match="exit code 7"):
            adapter.read("toy", tmp_path, "crash")
        with pytest.raises(Failed, match=r"\(internal\): KeyError: '2'"):
            adapter.read("toy", tmp_path, "2")


def test_a_request_that_is_none_ends_the_service_with_its_reason() -> None:
    asked = b'{"cmd":"run","seq":1,"verb":"dream","agent":"claude","home":"/"}\n'
    for line in (asked, b"hello\n", b"[]\n", b'{"cmd":"start","seq":"one","protocol":1}\n'):
        run = subprocess.run(
            [*SERVING, "entry:claude"], input=line, capture_output=True, check=False, timeout=60
        )
        assert run.returncode == 2
        assert run.stdout == b""
        assert run.stderr.startswith(b"serving: ")


# ------------------------------------------------------------------ both sides by their schemas


def test_every_message_of_both_sides_is_of_its_schema(tmp_path: Path) -> None:
    log = tmp_path / "log"
    whole = conversation(variants())
    name = f"exec:{shlex.join([*TEE, str(log), *SERVING, 'entry:reference'])}"
    with open_adapter(name) as adapter:
        for agent in agents():
            adapter.write(agent, tmp_path, whole, session_id=NEW_ID, cwd="/srv/app", now=NOON)
            adapter.read(agent, tmp_path, NEW_ID)
            adapter.list(agent, tmp_path)
            with pytest.raises(AdapterError):
                adapter.read(agent, tmp_path, "none")
    said = log.read_bytes().split(b"\n")[:-1]
    validators = {name: Draft202012Validator(schema_of(name)) for name in MESSAGES}
    seqs: list[int] = []
    asked: dict[str, Any] = {}
    for line in said:
        message = json.loads(line[2:])
        if line.startswith(b"> "):
            asked = message
            seqs.append(message["seq"])
            names = [f"wire-{message.get('verb', message['cmd'])}"]
            fields = schema_of(names[0])["properties"]
            assert set(message) == set(fields), "sent what its schema does not have"
        else:
            assert message["seq"] == asked["seq"]
            names = [f"wire-{asked.get('verb', asked['cmd'])}-answer"]
        for name in names:
            validators[name].validate(message)
    assert seqs == list(range(len(seqs)))
    assert asked["cmd"] == "stop"
    assert len(said) == 2 * (1 + 4 * len(agents())) + 1
