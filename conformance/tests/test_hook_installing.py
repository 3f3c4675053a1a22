"""Registering the recorder: others' settings stay as they are, and nothing of ours stays after."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.corpus import find_corpus, releases
from conformance.shapes import schema_of
from conformance.tests.test_transcripts_command import document, transcripts
from transcripts.errors import TranscriptError, UnknownRelease, UnreadableConfig, UnusableRecorder
from transcripts.hooks.recording import jsonc
from transcripts.hooks.recording.harnesses import HARNESSES
from transcripts.hooks.recording.harnesses.base import older
from transcripts.hooks.recording.installing import Installation, install, uninstall

RELEASES = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
CONFIGS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "copilot": ".copilot/hooks/transcript-conformance.json",
    "cursor": ".cursor/hooks.json",
    "vscode": ".copilot/hooks/transcript-conformance-vscode.json",
}
THEIRS: dict[str, Any] = {"type": "command", "command": "theirs"}


@pytest.fixture(params=sorted(HARNESSES))
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


# One of each way in which hooks are laid out; the others are laid out as one of them.
LAYOUTS = ("claude", "copilot", "cursor")


def installed(agent: str, home: Path, **more: Any) -> Installation:
    return install(agent, home=home, release=RELEASES.get(agent), **more)


def entries(value: Any) -> list[str]:
    """Return every command of an event, wherever it stands."""
    found: list[str] = []
    for entry in value:
        hooks = entry.get("hooks", [entry])
        found += [hook.get("command") or hook.get("bash") for hook in hooks]
    return found


def files(home: Path) -> dict[str, bytes]:
    return {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file()}


def test_where_nothing_was_nothing_stays(tmp_path: Path, agent: str):
    done = installed(agent, tmp_path)
    config = json.loads((tmp_path / CONFIGS[agent]).read_bytes())
    assert done.changed
    assert tuple(config["hooks"]) == done.events == HARNESSES[agent].registered(done.release)
    for event, hooks in config["hooks"].items():
        (command,) = entries(hooks)
        assert command.endswith(f" {event} || :")
    assert uninstall(agent, home=tmp_path).config_removed
    assert files(tmp_path) == {}


def test_a_second_time_changes_nothing(tmp_path: Path, agent: str):
    installed(agent, tmp_path)
    before = files(tmp_path)
    assert not installed(agent, tmp_path).changed
    assert files(tmp_path) == before


def test_another_log_replaces_the_first(tmp_path: Path, agent: str):
    installed(agent, tmp_path)
    assert installed(agent, tmp_path, log=tmp_path / "other").changed
    config = (tmp_path / CONFIGS[agent]).read_text("utf-8")
    assert f"{agent}.jsonl" not in config
    uninstall(agent, home=tmp_path)
    assert files(tmp_path) == {}


EXISTING = {
    "nothing": "",
    "space": " \n",
    "an empty object": "{}",
    "an empty object over lines": "{\n}\n",
    "no hooks": '{\n  "theme": "dark"\n}\n',
    "no line end": '{\n    "theme": "dark",\n    "x": [1, 2]\n}',
    "one line": '{"theme": "dark", "hooks": {"Stop": []}}',
    "no space at all": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"theirs"}]}]}}\n',
    "tabs and CRLF": '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},\r\n\t"n": 1e400\r\n}\r\n',
    "a mark": '\ufeff{\n  "hooks": {}\n}\n',
    "the same keys twice elsewhere": '{"a": 1, "a": 12345678901234567890.0, "hooks": {}}',
    "comments": (
        "// mine\n{\n"
        '  "hooks": { // all of them\n'
        '    /* first */ "Stop": [\n'
        '      {"hooks": [{"type": "command", "command": "theirs // not a comment"}]} // last\n'
        "      // nothing more\n"
        "    ]\n"
        "  } // that was it\n"
        "}\n// end\n"
    ),
    "commas at the end": '{\n  "hooks": {\n    "Stop": [\n      {},\n    ],\n  },\n}\n',
    "only a comment inside": '{\n  "hooks": {\n    // none yet\n  }\n}\n',
    "only a comment on the line": "{ // none\n}\n",
}


@pytest.mark.parametrize("agent", LAYOUTS)
@pytest.mark.parametrize("text", EXISTING.values(), ids=EXISTING.keys())
def test_what_was_there_keeps_every_byte(tmp_path: Path, agent: str, text: str):
    config = tmp_path / CONFIGS[agent]
    config.parent.mkdir(parents=True)
    config.write_bytes(text.encode())
    config.chmod(0o640)
    done = installed(agent, tmp_path)
    after = config.read_bytes().decode()
    # Nothing but additions: what was there is still there, in its order.
    rest = iter(after)
    assert all(character in rest for character in text)
    root = jsonc.scan(after)
    hooks = root.member("hooks")
    assert hooks is not None
    for event in done.events:
        listed = hooks.value.member(event)
        assert listed is not None
        assert done.recorder in after[listed.start : listed.end]
    assert stat.S_IMODE(config.stat().st_mode) == 0o640
    assert not installed(agent, tmp_path).changed
    assert config.read_bytes().decode() == after

    gone = uninstall(agent, home=tmp_path)
    assert (gone.restored, gone.config_removed) == ("bytes", False)
    assert files(tmp_path) == {CONFIGS[agent]: text.encode()}


def test_what_came_later_stays(tmp_path: Path, agent: str):
    installed(agent, tmp_path)
    path = tmp_path / CONFIGS[agent]
    config = json.loads(path.read_bytes())
    event = next(iter(config["hooks"]))
    config["hooks"][event] += [THEIRS]
    config["mine"] = True
    path.write_text(json.dumps(config, indent=4), "utf-8")
    assert not installed(agent, tmp_path).changed  # ours are there: theirs are not moved
    gone = uninstall(agent, home=tmp_path)
    assert (gone.restored, gone.config_removed) == ("entries", False)
    left = json.loads(path.read_bytes())
    assert left["hooks"] == {event: [THEIRS]}
    assert left["mine"] is True
    assert uninstall(agent, home=tmp_path).restored == "nothing"


def test_a_hook_put_into_our_group_stays(tmp_path: Path):
    installed("claude", tmp_path)
    path = tmp_path / CONFIGS["claude"]
    config = json.loads(path.read_bytes())
    config["hooks"]["Stop"][0]["hooks"].insert(0, THEIRS)
    path.write_text(json.dumps(config), "utf-8")
    uninstall("claude", home=tmp_path)
    assert json.loads(path.read_bytes()) == {"hooks": {"Stop": [{"hooks": [THEIRS]}]}}


def test_a_file_of_ours_that_was_only_laid_out_anew_is_gone(tmp_path: Path, agent: str):
    installed(agent, tmp_path)
    path = tmp_path / CONFIGS[agent]
    path.write_text(json.dumps(json.loads(path.read_bytes())), "utf-8")
    assert uninstall(agent, home=tmp_path).config_removed
    assert files(tmp_path) == {}


def test_without_the_receipt_our_entries_are_still_found(tmp_path: Path, agent: str):
    done = installed(agent, tmp_path)
    for receipt in Path(done.recorder).with_name("installed").iterdir():
        receipt.write_text("torn")
    assert uninstall(agent, home=tmp_path).events == done.events
    assert list(files(tmp_path)) == [CONFIGS[agent]]
    assert b"capture.py" not in files(tmp_path)[CONFIGS[agent]]


def test_what_another_home_registered_in_a_shared_project_is_told_of_and_stays(
    tmp_path: Path, agent: str
):
    project = tmp_path / "project"
    shared: dict[str, Any] = {"scope": "project", "cwd": project}
    first = installed(agent, tmp_path / "first", **shared)
    before = Path(first.config).read_bytes()
    second = installed(agent, tmp_path / "second", **shared)
    assert second.changed
    assert any(first.recorder in note for note in second.notes)
    gone = uninstall(agent, home=tmp_path / "second", **shared)
    assert gone.restored == "bytes"
    assert any(first.recorder in note for note in gone.notes)
    assert Path(first.config).read_bytes() == before


def test_the_recorder_stays_as_long_as_one_harness_runs_it(tmp_path: Path):
    recorder = Path(installed("claude", tmp_path).recorder)
    installed("codex", tmp_path)
    uninstall("claude", home=tmp_path)
    assert recorder.exists()
    uninstall("codex", home=tmp_path)
    assert not recorder.exists()


def test_the_log_stays(tmp_path: Path):
    done = installed("cursor", tmp_path)
    Path(done.log).write_text("{}\n")
    assert uninstall("cursor", home=tmp_path).log == done.log
    assert list(files(tmp_path).values()) == [b"{}\n"]


@pytest.mark.parametrize("agent", LAYOUTS)
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"hooks": ', "too early"),
        (b'{"hooks": {}} {}', "follows"),
        (b'{"hooks": []}', "no object"),
        (b"[]", "no object"),
        (b'{"hooks": {"Stop": 1, "stop": 1, "sessionStart": 1, "SessionStart": 1}}', "no list"),
        (b'{"hooks": {}, "hooks": {}}', "2 times"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a" 1}', "colon"),
        (b"{" * 100_000, "missing"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_and_left_alone(
    tmp_path: Path, agent: str, data: bytes, why: str
):
    config = tmp_path / CONFIGS[agent]
    config.parent.mkdir(parents=True)
    config.write_bytes(data)
    with pytest.raises(UnreadableConfig, match=why) as caught:
        installed(agent, tmp_path)
    assert str(config) in str(caught.value)
    assert files(tmp_path) == {CONFIGS[agent]: data}


def test_only_what_the_release_knows_is_registered(tmp_path: Path):
    for release, there, not_there in (
        ("1.0.128", "SessionStart", "PermissionRequest"),
        ("2.0.76", "SessionEnd", "SubagentStart"),
        ("2.1.50", "ConfigChange", "StopFailure"),
        ("2.1.400", "PreSkillShellCommand", "WorktreeCreate"),
    ):
        events = install("claude", home=tmp_path, release=release).events
        assert there in events
        assert not_there not in events
        assert len(events) == len(set(events))
        # An older release is installed over a newer one: what it doesn't know must be gone.
        config = json.loads((tmp_path / CONFIGS["claude"]).read_bytes())
        assert tuple(config["hooks"]) == events


@pytest.mark.parametrize(
    ("agent", "version"),
    [(agent, version) for agent in RELEASES for version in releases(find_corpus(), agent)],
)
def test_what_is_registered_is_what_the_recorder_of_the_corpus_registers(agent: str, version: str):
    measured: Any = import_module(f"live.agents.{agent}.traits").traits(version)
    harness = HARNESSES[agent]
    assert set(harness.registered(version)) == set(measured.hook_events)
    if agent == "copilot":
        reads_no_home = harness.user_since is not None and older(version, harness.user_since)
        assert reads_no_home == measured.hooks_in_project


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES.keys())
def test_the_releases_of_a_table_rise_and_no_event_comes_twice(harness: Any):
    numbers = [tuple(map(int, release.split("."))) for release, _ in harness.since]
    assert numbers == sorted(set(numbers))
    known = harness.known(harness.since[-1][0])
    assert len(known) == len(set(known))
    assert set(harness.left_out) <= set(known)


@pytest.mark.parametrize(
    ("agent", "release", "words"),
    [
        ("claude", "0.2.126", "1.0.60"),
        ("codex", "0.110.0", "0.130.0"),
        ("copilot", "0.0.340", "0.0.384"),
        ("copilot", "0.0.406", "--scope project"),
        ("claude", "newest", "1.2.3"),
    ],
)
def test_a_release_without_hooks_is_refused(tmp_path: Path, agent: str, release: str, words: str):
    with pytest.raises(UnknownRelease, match=words):
        install(agent, home=tmp_path, release=release)
    assert files(tmp_path) == {}


def test_the_program_on_the_path_is_asked_for_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(UnknownRelease, match="--release"):
        install("claude", home=tmp_path)
    program.write_text("#!/bin/sh\necho '2.1.50 (Claude Code)'\n")
    program.chmod(0o755)
    done = install("claude", home=tmp_path)
    assert (done.release, done.release_from) == ("2.1.50", "program")
    assert "StopFailure" not in done.events


def test_a_project_has_a_file_of_its_own_that_is_not_shared(tmp_path: Path, agent: str):
    project = tmp_path / "project"
    shared = project / ".claude" / "settings.json"
    shared.parent.mkdir(parents=True)
    shared.write_text("{}")
    done = installed(agent, tmp_path, scope="project", cwd=project)
    assert Path(done.config).is_relative_to(project)
    assert shared.read_text() == "{}"
    assert "--cwd" in done.remove
    gone = uninstall(agent, home=tmp_path, scope="project", cwd=project)
    assert gone.config_removed
    assert files(project) == {".claude/settings.json": b"{}"}


def test_a_linked_configuration_stays_a_link(tmp_path: Path):
    target = tmp_path / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text("{}")
    link = tmp_path / CONFIGS["claude"]
    link.parent.mkdir()
    link.symlink_to(target)
    installed("claude", tmp_path)
    assert link.is_symlink()
    assert b"capture.py" in target.read_bytes()
    uninstall("claude", home=tmp_path)
    assert link.is_symlink()
    assert target.read_text() == "{}"


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "fish"])
def test_the_command_records_and_ends_well_in_every_shell(tmp_path: Path, shell: str):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    home = tmp_path / 'a home\'s "own" $place & `more`\\ ünï'
    home.mkdir()
    done = installed("claude", home)
    (hook,) = json.loads(Path(done.config).read_bytes())["hooks"]["Stop"]
    (line,) = entries([hook])

    # What would keep an interpreter from starting, or lead it to other modules.
    (home / "os.py").write_text("raise SystemExit(2)")
    hostile = {"PYTHONHOME": "/nowhere", "PYTHONPATH": str(home), "PATH": "/nowhere"}

    def run() -> None:
        ended = subprocess.run(
            [program, "-c", line],
            input=b'{"n": 1}',
            capture_output=True,
            cwd=home,
            env=hostile,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (0, b"")

    run()
    row = json.loads(Path(done.log).read_bytes())
    assert (row["event"], row["payload"]) == ("Stop", {"n": 1})
    # Python ends with 2 without its file, which harnesses take for: stop the agent.
    Path(done.recorder).unlink()
    run()
    line = line.replace(shlex.split(line)[0], "/nowhere/python", 1)
    run()


def test_a_place_that_records_nothing_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for log in ("file/log", "link", "."):
        with pytest.raises(UnusableRecorder):
            installed("claude", tmp_path, log=tmp_path / log)
    assert sorted(files(tmp_path)) == ["file", "link"]


def test_switched_off_hooks_are_told_of(tmp_path: Path):
    config = tmp_path / CONFIGS["claude"]
    config.parent.mkdir()
    config.write_text('{"disableAllHooks": true}')
    assert any("disableAllHooks" in note for note in installed("claude", tmp_path).notes)


def test_the_command_tells_what_is_stored_where_and_how_to_remove_it(tmp_path: Path, agent: str):
    release = ("--release", RELEASES[agent]) if agent in RELEASES else ()
    asked = ("hooks", "install", agent, *release, "--home", str(tmp_path))
    told = transcripts(*asked, home=tmp_path).stdout.decode()
    found = document(transcripts(*asked, "--format", "json", home=tmp_path), "hooks-install")
    for words in (
        "secret",
        "plain text",
        found["log"],
        found["config"],
        shlex.join(found["remove"]),
    ):
        assert words in told
    assert found["trust"] is None or found["trust"] in told
    assert (found["trust"] is not None) == (agent == "codex")
    gone = ("hooks", "uninstall", agent, "--home", str(tmp_path), "--format", "json")
    assert document(transcripts(*gone, home=tmp_path), "hooks-uninstall")["config_removed"]
    again = transcripts(*gone[:-2], home=tmp_path)
    assert (again.returncode, b"Nothing" in again.stdout) == (0, True)


def test_an_error_of_the_command_is_one_line(tmp_path: Path):
    config = tmp_path / CONFIGS["cursor"]
    config.parent.mkdir()
    config.write_text('{\n  "hooks": [}\n')
    run = transcripts("hooks", "install", "cursor", home=tmp_path)
    assert run.returncode == 2
    assert (run.stdout, run.stderr.count(b"\n")) == (b"", 1)
    assert b"hooks.json:2 (byte" in run.stderr


def test_a_project_without_its_scope_is_misuse(tmp_path: Path):
    for command in ("install", "uninstall"):
        run = transcripts("hooks", command, "cursor", "--cwd", str(tmp_path), home=tmp_path)
        assert run.returncode == 2
        assert b"--scope project" in run.stderr
    assert files(tmp_path) == {}


def test_the_environment_says_where_settings_and_log_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    done = install("claude", release="2.1.332")
    assert done.config == str(tmp_path / "conf" / "settings.json")
    assert Path(done.log).is_relative_to(tmp_path / "data")
    uninstall("claude")
    assert files(tmp_path) == {}


def test_the_shapes_hold_what_is_returned(tmp_path: Path):
    validator = jsonschema.Draft202012Validator(schema_of("hooks-uninstall"))
    assert not validator.is_valid({"agent": "claude", "restored": "perhaps"})


# ------------------------------------------------------------------ generated settings

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
EVENTS = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "stop", "preToolUse", "Unheard"])
HOOKS = st.dictionaries(EVENTS, st.lists(VALUES, max_size=3), max_size=4)
SETTINGS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4).flatmap(
    lambda others: st.none().map(lambda _: others) | HOOKS.map(lambda h: {**others, "hooks": h})
)


def laid_out(value: Any, indent: Any, line_end: str, start: str) -> bytes:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return (start + text.replace("\n", line_end) + line_end).encode("utf-8", "surrogatepass")


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(HARNESSES)),
    SETTINGS.filter(lambda value: isinstance(value.get("hooks", {}), dict)),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff", "\n"]),
)
def test_any_settings_come_back_byte_by_byte(
    tmp_path_factory: pytest.TempPathFactory,
    agent: str,
    value: dict[str, Any],
    indent: Any,
    line_end: str,
    start: str,
):
    home = tmp_path_factory.mktemp("home")
    config = home / CONFIGS[agent]
    config.parent.mkdir(parents=True)
    before = laid_out(value, indent, line_end, start)
    config.write_bytes(before)
    done = installed(agent, home)
    after = json.loads(config.read_bytes().decode("utf-8-sig"))
    hooks = after.pop("hooks")
    theirs = value.get("hooks", {})
    assert after == {key: inner for key, inner in value.items() if key != "hooks"}
    for event in set(hooks) | set(theirs):
        ours = 1 if event in done.events else 0
        assert hooks[event][: len(theirs.get(event, []))] == theirs.get(event, [])
        assert len(hooks[event]) == len(theirs.get(event, [])) + ours

    # Somebody adds a hook and takes it away again: entries have to be taken out one by one.
    touched = laid_out(json.loads(config.read_bytes().decode("utf-8-sig")), 3, "\n", "")
    config.write_bytes(touched)
    assert uninstall(agent, home=home).restored == "entries"
    assert json.loads(config.read_bytes()) == value
    config.write_bytes(before)
    installed(agent, home)
    assert uninstall(agent, home=home).restored == "bytes"
    assert files(home) == {CONFIGS[agent]: before}


@given(st.text(alphabet='{}[]",:/* \n\\ae1-tru', max_size=60))
def test_any_text_is_scanned_or_refused(text: str):
    try:
        json.loads(text)
    except ValueError:
        is_json = False
    else:
        is_json = True
    try:
        value = jsonc.scan(text)
    except jsonc.Malformed as error:
        value, offset = None, error.offset
    else:
        offset = value.end
    assert 0 <= offset <= len(text)
    assert value is not None or not is_json


def test_typed_errors_are_transcript_errors():
    for error in (UnreadableConfig, UnknownRelease, UnusableRecorder):
        assert issubclass(error, TranscriptError)
    assert os.name != "nt"
