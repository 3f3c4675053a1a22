"""The recorder of hook events: one row an event, and never in the harness's way."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import resource
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.sandbox import sealing
from transcripts.hooks import build_tree, find_dialect, read_log
from transcripts.hooks.recording import capture

RECORDER = Path(capture.__file__)
# Japanese right before an escaped quote: read as cp932, a lead byte eats the backslash.
PROMPT = 'あ"い" を直す'
PAYLOAD = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "11111111-1111-4111-8111-111111111111",
    "prompt": PROMPT,
}
TEXT = json.dumps(PAYLOAD, ensure_ascii=False, separators=(",", ":"))
LOCALES = ({"LC_ALL": "C"}, {"PYTHONIOENCODING": "cp932:surrogateescape"}, {"LC_ALL": "ja_JP.SJIS"})


STARTING = 10.0
"""Seconds that a process may need to start on a machine that has much else to do."""


def unread(pipe: int) -> int:
    (waiting,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
    return waiting


def command(log: Path | str, *event: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(RECORDER), str(log), *event]


def recorded(log: Path, data: bytes, event: str = "Stop", **settings: Any) -> None:
    """Run the recorder once and hold it to what every run must keep."""
    run = subprocess.run(
        command(log, event), input=data, capture_output=True, timeout=30, check=False, **settings
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def rows(log: Path) -> list[Any]:
    lines = log.read_bytes().split(b"\n")
    assert lines.pop() == b""
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), None),
        (b"\xef\xbb\xbf" + TEXT.encode(), None),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"), "utf-32-le"),
        (TEXT.encode("utf-32-be"), "utf-32-be"),
    ],
)
def test_the_payload_is_the_same_in_every_encoding_and_locale(
    tmp_path: Path, locale: dict[str, str], data: bytes, encoding: str | None
):
    before = datetime.now(UTC)
    recorded(tmp_path / "log", data, "UserPromptSubmit", env=locale)
    (row,) = rows(tmp_path / "log")
    assert row.pop("payload") == PAYLOAD
    assert row.pop("encoding", None) == encoding
    assert row.pop("event") == "UserPromptSubmit"
    observed = row.pop("observed_at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", observed)
    assert before - timedelta(seconds=1) < datetime.fromisoformat(observed) < datetime.now(UTC)
    assert row == {}


@pytest.mark.parametrize("data", [b"", b" \r\n", b"\xef\xbb\xbf", b"\xff\xfe \0"])
def test_nothing_is_an_empty_payload(tmp_path: Path, data: bytes):
    recorded(tmp_path / "log", data)
    (row,) = rows(tmp_path / "log")
    assert row["fault"] == "empty_payload"
    assert (row["bytes"], row["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TEXT.encode()[:-8], id="torn inside a character"),
        pytest.param(TEXT.encode()[:-2], id="without its closing quote"),
        pytest.param(TEXT.encode("cp932"), id="in a code page"),
        pytest.param('{"path": "/srv/café"}'.encode("latin-1"), id="in Latin-1"),
        pytest.param(b"\xff\xfe" + TEXT.encode("utf-16-le")[:-1], id="half a UTF-16 unit"),
        pytest.param(TEXT.replace("あ", "\ud800").encode("utf-16-le", "surrogatepass"), id="half"),
        pytest.param(TEXT.encode() * 2, id="two objects"),
        pytest.param(b"[1]", id="no object"),
        pytest.param(b'{"a": NaN}', id="not a JSON number"),
        pytest.param(b'{"a": "one\ntwo"}', id="a line break inside a string"),
        pytest.param(b'{"a": ' * 100_000, id="too deep"),
        pytest.param(b"\0" * 100, id="zeros"),
    ],
)
def test_what_is_not_one_object_is_kept_by_length_and_digest_only(tmp_path: Path, data: bytes):
    recorded(tmp_path / "log", data)
    (row,) = rows(tmp_path / "log")
    assert row.keys() == {"observed_at", "event", "fault", "bytes", "sha256", "why"}
    assert (row["fault"], row["bytes"]) == ("malformed_payload", len(data))
    assert row["sha256"] == hashlib.sha256(data).hexdigest()
    assert row["why"]
    assert PAYLOAD["session_id"].encode() not in (tmp_path / "log").read_bytes()


def test_a_session_is_rebuilt_around_what_could_not_be_read(tmp_path: Path):
    log = tmp_path / "log"
    common = {"session_id": "s", "cwd": "/srv/app", "transcript_path": "/srv/s.jsonl"}
    call = {"tool_name": "Bash", "tool_input": {"command": "date"}, "tool_use_id": "toolu_1"}
    for event, more in (
        ("UserPromptSubmit", {"prompt": PROMPT}),
        ("PreToolUse", call),
        ("PreToolUse", None),
        ("PostToolUse", {**call, "tool_response": {"stdout": "today"}}),
        ("Stop", None),
    ):
        told = json.dumps({"hook_event_name": event, **common, **(more or {})}).encode("utf-16")
        recorded(log, told if more is not None else told[:31], event)
    events = read_log(log, "claude")
    tree = build_tree(events, find_dialect("claude"), events.bad_lines)
    assert [bad.line for bad in tree.bad_lines] == [3, 5]
    (session,) = tree.workspaces[0].sessions
    (turn,) = session.turns
    (shell,) = [node for node in turn.nodes if node.name == "Bash"]
    assert [link.event for link in shell.links] == [4]
    assert not tree.orphans


def test_numbers_repeated_keys_and_escapes_keep_their_text(tmp_path: Path):
    text = b'{"n":12345678901234567890.10,"n":1e400,"half":"\\ud83d","e":"\\u00e9",  "z":-0}'
    recorded(tmp_path / "log", text)
    assert text in (tmp_path / "log").read_bytes()


def test_line_breaks_between_tokens_become_spaces(tmp_path: Path):
    recorded(tmp_path / "log", b'{\r\n "a":\n"\\n\xe2\x80\xa8"\r}\n')
    assert b'"payload": {   "a": "\\n\xe2\x80\xa8" }}\n' in (tmp_path / "log").read_bytes()


def test_without_a_configured_name_the_event_is_null(tmp_path: Path):
    subprocess.run(command(tmp_path / "log"), input=b"{}", check=True)
    assert rows(tmp_path / "log")[0]["event"] is None


def test_log_and_directory_are_private_whatever_the_umask_says(tmp_path: Path):
    log = tmp_path / "new" / "ünï code" / "log"
    recorded(log, b"{}", umask=0, env={"LC_ALL": "C"})
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    log.chmod(0o644)
    recorded(log, b"{}")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert len(rows(log)) == 2


def test_a_log_that_is_not_ones_own_file_is_left_alone(tmp_path: Path):
    other = tmp_path / "other"
    other.write_bytes(b"other\n")
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "directory").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "hard").hardlink_to(other)
    os.mkfifo(tmp_path / "pipe")
    for log in ("link", "directory/log", "hard", "pipe", "", "other/log", "x" * 300):
        recorded(tmp_path / log, b"{}")
    recorded(Path("/dev/full"), b"{}")
    assert other.read_bytes() == b"other\n"
    assert not (tmp_path / "log").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_log_owned_by_somebody_else_is_left_alone(tmp_path: Path):
    log = tmp_path / "log"
    log.touch(0o666)
    os.chown(log, 65534, 65534)
    recorded(log, b"{}")
    assert log.read_bytes() == b""


def test_an_unfinished_line_is_ended_before_the_next_row(tmp_path: Path):
    log = tmp_path / "log"
    log.write_bytes(b'{"observed_at": "2026-')
    recorded(log, b"{}")
    torn, row, end = log.read_bytes().split(b"\n")
    assert (torn, end) == (b'{"observed_at": "2026-', b"")
    assert json.loads(row)["payload"] == {}


def test_twenty_at_once_lose_and_mix_nothing(tmp_path: Path):
    log = tmp_path / "new" / "log"
    sizes = [1 << (n % 18) for n in range(40)]  # up to twice what a pipe holds at once

    def one(n: int) -> None:
        text = json.dumps({"n": n, "filling": chr(ord("a") + n % 26) * sizes[n]})
        recorded(log, text.encode(), str(n))

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(one, range(40)))
    found = {row["payload"]["n"]: row for row in rows(log)}
    assert sorted(found) == list(range(40))
    assert all(found[n]["event"] == str(n) for n in found)
    assert all(len(set(found[n]["payload"]["filling"])) == 1 for n in found)


def test_a_lock_that_is_never_given_back_holds_nobody_up(tmp_path: Path):
    with (tmp_path / "log").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        recorded(tmp_path / "log", b"{}")
        assert time.monotonic() - started < capture.LOCKED + STARTING
    assert len(rows(tmp_path / "log")) == 1


def test_input_that_is_never_closed_holds_nobody_up(tmp_path: Path):
    for data, key, longest in (
        (TEXT.encode(), "payload", capture.LONGEST),
        (TEXT.encode()[:-2], "fault", capture.LONGEST),
        (b"", "fault", capture.SILENCE),
    ):
        log = tmp_path / f"{len(data)}"
        started = time.monotonic()
        with subprocess.Popen(command(log), stdin=subprocess.PIPE) as process:
            assert process.stdin
            process.stdin.write(data)
            process.stdin.flush()
            assert process.wait(30) == 0
            assert time.monotonic() - started < longest + STARTING
        (row,) = rows(log)
        assert key in row
        assert "not closed" in row.get("why", "not closed")


def test_a_payload_that_pauses_after_a_brace_is_waited_for(tmp_path: Path):
    with subprocess.Popen(command(tmp_path / "log"), stdin=subprocess.PIPE) as process:
        assert process.stdin
        for part in (b'{"a": {"b": 1}', b', "c": {}', b"}"):
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(capture.PAUSE * 3)
        process.stdin.close()
        assert process.wait(30) == 0
    assert rows(tmp_path / "log")[0]["payload"] == {"a": {"b": 1}, "c": {}}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_with_a_row_and_without_an_error(tmp_path: Path, number: signal.Signals):
    with subprocess.Popen(command(tmp_path / "log"), stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(b'{"a": ')
        process.stdin.flush()
        while unread(process.stdin.fileno()):  # it minds signals before it reads
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(30) == 0
    (row,) = rows(tmp_path / "log")
    assert row["fault"] == "malformed_payload"
    assert ("told to stop" in row["why"]) == (number == signal.SIGTERM)


def test_closed_streams_are_no_error(tmp_path: Path):
    shell = 'exec "$@" <&- >&- 2>&-'
    run = subprocess.run(["sh", "-c", shell, "sh", *command(tmp_path / "log")], check=False)
    assert run.returncode == 0
    assert rows(tmp_path / "log")[0]["fault"] == "empty_payload"


def test_a_file_that_may_not_grow_is_no_error(tmp_path: Path):
    log = tmp_path / "log"
    recorded(log, b'{"n": 1}')

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    recorded(log, json.dumps({"n": "x" * 500}).encode(), preexec_fn=limit)
    recorded(log, b'{"n": 3}')
    whole = [line for line in log.read_bytes().split(b"\n") if line.endswith(b"}}")]
    assert [json.loads(line)["payload"]["n"] for line in whole] == [1, 3]


@pytest.mark.skipif(sealing() != "root", reason="only root can mount a small disk")
def test_a_full_disk_is_no_error(tmp_path: Path):
    script = (
        'mount -t tmpfs -o size=8k tmpfs "$0" && dd if=/dev/zero of="$0/all" bs=4k 2>/dev/null; '
        'printf "{}" | "$@"'
    )
    run = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(tmp_path), *command(tmp_path / "log")],
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.skipif(os.geteuid() == 0 and sealing() is None, reason="root may write everywhere")
def test_a_directory_that_takes_no_files_is_no_error(tmp_path: Path):
    recorded(Path("/proc/version/log"), b"{}")
    recorded(Path("/proc/log"), b"{}")


def test_without_arguments_nothing_happens():
    run = subprocess.run(
        [sys.executable, "-I", "-S", str(RECORDER)], input=b"{}", capture_output=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_only_what_starts_at_once_is_imported():
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *command(os.devnull)[1:]],
        input=TEXT.encode(),
        capture_output=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.decode().splitlines()}
    assert {"os", "_json"} <= imported
    assert not imported & {"json", "re", "enum", "datetime", "threading", "hashlib", "site"}


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda t: t.encode("utf-16")))
def test_any_bytes_are_one_row(data: bytes):
    line = capture.row(capture.now(), "Stop", data, None)
    assert line.count(b"\n") == 1
    row = json.loads(line)
    assert ("payload" in row) != ("fault" in row)
    assert isinstance(row.get("payload", {}), dict)


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["", "{", '{"a": 1}', "\ufeff{}"]))
def test_any_bytes_on_standard_input_are_one_row_and_no_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, start: str
):
    log = tmp_path_factory.mktemp("fuzzed") / "log"
    recorded(log, start.encode() + data)
    assert len(rows(log)) == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # json.dumps escapes what is no character, as Node does
    | st.text(st.characters(codec=None, exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(), JSON),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32", "utf-16"]),
)
def test_any_object_comes_back(value: Any, indent: Any, escaped: bool, encoding: str):
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:  # half a surrogate pair that is not escaped is nobody's text
        return
    row = json.loads(capture.row(capture.now(), None, data, None))
    assert row["payload"] == value


@given(st.dictionaries(st.text(), JSON), st.data())
def test_an_object_that_was_cut_is_never_taken_for_whole(value: Any, data: st.DataObject):
    whole = json.dumps(value).encode()
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert "fault" in json.loads(capture.row(capture.now(), None, whole[:cut], None))
