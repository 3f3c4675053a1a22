"""What is said and asked before a person's CLIs are, and whose the sessions are afterwards.

The CLIs here are programs of a few lines, which keep what they are asked: nothing is known from
them of the real ones, only of who starts them.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import live.checks
from conformance.livechecks.moving import Moved
from conformance.livechecks.real import (
    Belongings,
    Planned,
    Real,
    Sources,
    plan,
    run_check,
    spending,
)
from conformance.livechecks.real.belongings import had_in
from live.checks import CheckError
from live.real import May, NotHere, OwnCli, RealCase, ask, find, load, names, own_cli, selected
from transcripts.ids import derive

_PROGRAM = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "{version} (something)"; exit; fi
echo "$PWD: $*" >> "$HOME/asked"
store="$HOME/.claude/projects/slug"
mkdir -p "$store"
printf '{{"cwd":"%s"}}\\n' "$PWD" > "$store/$(cat /proc/sys/kernel/random/uuid).jsonl"
echo "{answer}"
"""


def program(directory: Path, name: str, version: str = "2.1.332", answer: str = "noted") -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(_PROGRAM.format(version=version, answer=answer), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def environment(tmp_path: Path, home: Path) -> dict[str, str]:
    """A person who has Claude Code and no other CLI."""
    program(tmp_path / "bin", "claude")
    (tmp_path / "tmp").mkdir()
    return {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


COMMAND = (sys.executable, "-c", "from conformance.cli import main; main()", "live")


def command(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


# ------------------------------------------------------------------ the cases


@pytest.mark.parametrize("name", names())
def test_an_answer_can_be_known_from_the_conversation_only(name: str) -> None:
    case = load(name)
    asked = case.asks if case.done or case.kinds else ""
    for value in case.knows:
        assert value not in case.then
        assert value not in asked


def test_every_check_says_what_a_real_model_is_asked_or_why_none_is() -> None:
    said = {name.partition("-")[0] for name in names()}
    assert {name.partition("-")[0] for name in live.checks.names()} <= said


def test_a_number_means_all_checks_of_that_number() -> None:
    assert selected(["t6"]) == ("t6", "t6-batch", "t6-midstream")
    with pytest.raises(CheckError, match="no live check 't99'"):
        selected(["t99"])


# ------------------------------------------------------------------ what it says and asks


def test_without_a_terminal_and_without_yes_nothing_is_asked(
    environment: dict[str, str], home: Path
) -> None:
    run = command(environment, "--real", "t0", "--from", "claude", "--to", "claude")
    assert run.returncode == 2
    assert "say --yes" in run.stderr
    assert "claude 2.1.332" in run.stderr
    assert "prompts: 2, requests: about 2," in run.stderr
    assert not (home / "asked").exists()


def test_who_says_no_is_asked_for_nothing(environment: dict[str, str], home: Path) -> None:
    terminal, end = pty.openpty()
    arguments = ("--real", "t0", "--from", "claude", "--to", "claude")
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stdin=end, stderr=subprocess.PIPE, text=True
    ) as run:
        os.write(terminal, b"n\n")
        _, said = run.communicate(timeout=100)
    os.close(terminal)
    os.close(end)
    assert "Go on?" in said
    assert "not agreed to" in said
    assert run.returncode == 3
    assert not (home / "asked").exists()


def test_a_cli_that_is_not_there_is_skipped_and_never_passed(
    environment: dict[str, str], home: Path
) -> None:
    arguments = ("--real", "t0", "--from", "claude", "--to", "codex", "--format", "json")
    run = command(environment, *arguments)
    assert run.returncode == 3
    (result,) = json.loads(run.stdout)["results"]
    assert result["verdict"] == "skipped"
    assert result["why"] == "no codex on the PATH"
    assert not (home / "asked").exists()


def test_what_cannot_be_asked_of_a_person_is_skipped_with_the_reason(
    environment: dict[str, str],
) -> None:
    run = command(environment, "--real", "t4", "--from", "claude", "--to", "claude")
    assert run.returncode == 3
    assert "skipped  it needs an MCP server" in run.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--yes",),
        ("--clean",),
        ("--real", "--control"),
        ("--real", "--release", "claude@2.1.332"),
    ],
)
def test_options_that_do_not_go_together_are_misuse(
    environment: dict[str, str], arguments: tuple[str, ...]
) -> None:
    assert command(environment, *arguments, "t0").returncode == 2


def test_no_workspace_is_made_inside_a_project(environment: dict[str, str], home: Path) -> None:
    (Path(environment["TMPDIR"]) / ".git").mkdir()
    run = command(environment, "--real", "t0", "--yes")
    assert run.returncode == 2
    assert "set TMPDIR" in run.stderr
    assert not (home / "asked").exists()


def test_a_program_that_tells_no_version_is_not_taken_for_a_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "claude", version="none")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(NotHere, match="does not tell its version"):
        find("claude")


# ------------------------------------------------------------------ what it spends


CLIS = {agent: own_cli(agent)(Path(agent), "1.0.0") for agent in ("claude", "codex", "copilot")}


def test_a_source_is_asked_once_for_all_its_targets() -> None:
    case = load("t2")
    assert case.calls == 1
    spent = spending(list(plan([case], ["claude"], ["codex", "copilot"], {})), CLIS)
    assert (spent["claude"].prompts, spent["claude"].requests) == (1, 2)
    assert (spent["codex"].prompts, spent["codex"].requests) == (1, 1)
    assert (spent["copilot"].prompts, spent["copilot"].requests) == (1, 1)
    assert spent["claude"].tokens >= 2 * CLIS["claude"].request_tokens


def test_later_starts_and_further_tries_are_counted() -> None:
    later = spending(list(plan([load("t16")], ["codex"], ["claude"], {})), CLIS)
    assert later["codex"].prompts == 1 + 2
    killed = spending(list(plan([load("t6")], ["codex"], ["claude"], {})), CLIS)
    assert killed["codex"].more == 2
    assert killed["claude"].requests == load("t6").calls + 1


def test_what_is_skipped_is_not_counted() -> None:
    missing = {"copilot": "no copilot on the PATH"}
    planned = list(plan([load("t0"), load("t4")], ["claude"], ["claude", "copilot"], missing))
    assert [one.why for one in planned][1:2] == ["no copilot on the PATH"]
    spent = spending(planned, CLIS)
    assert set(spent) == {"claude"}
    assert spent["claude"].prompts == 2


# ------------------------------------------------------------------ starting


def test_nothing_of_a_cli_is_left_running(tmp_path: Path) -> None:
    path = tmp_path / "claude"
    path.write_text("#!/bin/sh\nsleep 300 & echo $! > child\necho answered\n", encoding="utf-8")
    path.chmod(0o755)
    cli = own_cli("claude")(path, "1.0.0")
    reply = ask(cli, [], tmp_path)
    assert (reply.text, reply.exit_code, reply.stopped) == ("answered\n", 0, False)
    child = int((tmp_path / "child").read_text("ascii"))
    assert gone(child)


def test_a_cli_is_killed_when_it_is_time(tmp_path: Path) -> None:
    path = tmp_path / "claude"
    path.write_text("#!/bin/sh\ntouch begun\nsleep 300\n", encoding="utf-8")
    path.chmod(0o755)
    cli = own_cli("claude")(path, "1.0.0")
    reply = ask(cli, [], tmp_path, stop_when=(tmp_path / "begun").exists)
    assert reply.stopped
    assert ask(cli, [], tmp_path, seconds=0.2).timed_out


def gone(process: int) -> bool:
    """Return whether a process ends within a while; one that nobody waited for is dead too."""
    for _ in range(100):
        try:
            status = Path(f"/proc/{process}/stat").read_text("ascii")
        except OSError:
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_a_question_may_do_nothing() -> None:
    for cli in CLIS.values():
        words = " ".join(cli.arguments("why?", May(), resume="an-id"))
        assert "an-id" in words
        assert not any(one in words for one in ("acceptEdits", "allow", "write", "dangerously"))


# ------------------------------------------------------------------ whose it is


def lay(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def row(cwd: Path) -> str:
    return json.dumps({"cwd": str(cwd), "type": "user"}) + "\n"


def test_only_what_was_had_in_a_workspace_of_ours_is_removed(tmp_path: Path, home: Path) -> None:
    projects = home / ".claude" / "projects"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    before = lay(projects / "a" / f"{uuid.uuid4()}.jsonl", row(theirs))
    belongings = Belongings([own_cli("claude")], {"HOME": str(home)})
    belongings.marked(ours)
    made = uuid.uuid4()
    session = lay(projects / "b" / f"{made}.jsonl", row(ours))
    beside = lay(projects / "b" / str(made) / "subagents" / "agent-1.jsonl", "{}\n")
    quoted = lay(projects / "a" / f"{uuid.uuid4()}.jsonl", json.dumps({"text": row(ours)}) + "\n")
    meanwhile = lay(projects / "c" / f"{uuid.uuid4()}.jsonl", row(theirs))
    assert list(belongings.made()) == sorted([session, beside])
    assert list(belongings.made_places()) == [projects / "b"]
    assert not list(belongings.clean())
    assert not (projects / "b").exists()
    assert all(path.exists() for path in (before, quoted, meanwhile))


def test_changes_are_told_apart_by_whose_they_are(tmp_path: Path, home: Path) -> None:
    projects = home / ".claude" / "projects" / "a"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    paths = [lay(projects / f"{number}.jsonl", row(theirs)) for number in range(5)]
    belongings = Belongings([own_cli("claude")], {"HOME": str(home)})
    belongings.marked(ours)
    with paths[1].open("a") as file:
        file.write(row(theirs))
    with paths[2].open("a") as file:
        file.write(row(ours))
    paths[3].write_text(row(ours), encoding="utf-8")
    paths[4].unlink()
    found = {change.path: (change.what, change.ours) for change in belongings.changes()}
    assert found == {
        paths[1]: ("was written on", False),
        paths[2]: ("was written on", True),
        paths[3]: ("was changed", True),
        paths[4]: ("is gone", False),
    }


def test_where_a_person_keeps_sessions_is_taken_from_their_environment(tmp_path: Path) -> None:
    assert own_cli("codex").root({"HOME": "/home/ada"}) == Path("/home/ada/.codex")
    elsewhere = {"HOME": "/home/ada", "CODEX_HOME": str(tmp_path)}
    assert own_cli("codex").root(elsewhere) == tmp_path


def test_sessions_are_told_from_what_lies_beside_them(tmp_path: Path) -> None:
    main = lay(tmp_path / "projects" / "slug" / "one.jsonl", "{}\n")
    agent = lay(tmp_path / "projects" / "slug" / "one" / "subagents" / "agent-2.jsonl", "{}\n")
    assert own_cli("claude").session_id(main) == "one"
    assert own_cli("claude").session_id(agent) is None
    meta = {"type": "session_meta", "payload": {"id": "two", "source": "exec"}}
    child = {"type": "session_meta", "payload": {"id": "three", "source": {"subagent": {}}}}
    rollouts = [
        lay(tmp_path / f"rollout-{n}", json.dumps(one)) for n, one in enumerate((meta, child))
    ]
    assert [own_cli("codex").session_id(path) for path in rollouts] == ["two", None]
    events = lay(tmp_path / "session-state" / "four" / "events.jsonl", "{}\n")
    assert own_cli("copilot").session_id(events) == "four"
    assert own_cli("copilot").session_id(events.with_name("workspace.yaml")) is None


# ------------------------------------------------------------------ a writer that does wrong


class Misplaced:
    """Moves by a function that is given the home, the original's file and the new id."""

    name = "misplaced"

    def __init__(self, write: Callable[[Path, Path, str], str]) -> None:
        self._write = write

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        del source, target, cwd
        original = next(source_home.rglob(f"{session_id}.jsonl"))
        return Moved(self._write(target_home, original, new_session_id))


def rightly(home: Path, original: Path, new: str) -> str:
    del home
    original.with_stem(new).write_bytes(original.read_bytes())
    return new


def over_itself(home: Path, original: Path, new: str) -> str:
    del home, new
    return original.stem


def on_the_original(home: Path, original: Path, new: str) -> str:
    original.write_text("changed\n", encoding="utf-8")
    return rightly(home, original, new)


def beside(home: Path, original: Path, new: str) -> str:
    (home / "elsewhere").write_text("x", encoding="utf-8")
    return rightly(home, original, new)


def nothing(home: Path, original: Path, new: str) -> str:
    del home, original
    return new


def short(home: Path, original: Path, new: str) -> str:
    del new
    return rightly(home, original, "1")


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (over_itself, "the original's id"),
        (on_the_original, "was changed"),
        (beside, "nothing beside it"),
        (nothing, "was to be made below"),
        (short, "no UUID"),
    ],
)
def test_a_writer_that_does_wrong_fails_and_does_no_harm(
    write: Callable[[Path, Path, str], str],
    why: str,
    environment: dict[str, str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, sources = bench(write, environment, home, monkeypatch)
    kept = {path: path.read_bytes() for path in home.rglob("*.jsonl")}
    result = run_check(Planned(told(), "claude", "claude"), real, sources)
    assert result.verdict == "failed"
    assert why in result.why
    source = sources.get(told(), "claude")
    new = {path: path.read_bytes() for path in home.rglob("*.jsonl")}
    assert {path.stem for path in new.keys() - kept.keys()} == {source.session_id}
    assert kept.items() <= new.items()


def test_nothing_that_is_there_is_written_over(
    environment: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = derive("taken")

    def over(at: Path, original: Path, new: str) -> str:
        del new
        return rightly(at, original, taken)

    there = lay(home / ".claude" / "projects" / "slug" / f"{taken}.jsonl", row(Path("/theirs")))
    real, sources = bench(over, environment, home, monkeypatch)
    result = run_check(Planned(told(), "claude", "claude"), real, sources)
    assert result.verdict == "failed"
    assert "is there already, and was left" in result.why
    assert there.read_text("utf-8") == row(Path("/theirs"))


def test_an_answer_that_does_not_know_it_fails(
    environment: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, sources = bench(rightly, environment, home, monkeypatch)
    result = run_check(Planned(told(), "claude", "claude"), real, sources)
    assert result.verdict == "failed"
    assert result.why == "the answer does not tell 'MARROWBONE-41'"
    assert result.evidence["answer"] == "noted"


def test_an_answer_that_knows_it_passes(
    environment: dict[str, str], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "claude", answer="It is called marrowbone-41.")
    real, sources = bench(rightly, environment, home, monkeypatch)
    result = run_check(Planned(told(), "claude", "claude"), real, sources)
    assert (result.verdict, result.why) == ("passed", "")
    asked = (home / "asked").read_text("utf-8").splitlines()
    assert len(asked) == 2
    assert "--resume" in asked[1]
    workspace = asked[0].partition(":")[0]
    assert asked[1].startswith(f"{workspace}:")
    assert all(had_in(path, Path(workspace)) for path in real.belongings.made())


def told() -> RealCase:
    return load("t0")


def bench(
    write: Callable[[Path, Path, str], str],
    environment: dict[str, str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Real, Sources]:
    """The person's CLI, and a writer."""
    for name in ("PATH", "HOME", "TMPDIR"):
        monkeypatch.setenv(name, environment[name])
    monkeypatch.setattr("tempfile.tempdir", environment["TMPDIR"])
    lay(home / ".claude" / "projects" / "theirs" / f"{uuid.uuid4()}.jsonl", row(Path("/theirs")))
    cli: OwnCli = find("claude")
    real = Real(
        mover=Misplaced(write),
        clis={"claude": cli},
        belongings=Belongings([cli], environment),
        environment=environment,
    )
    return real, Sources(real)
