"""Listing Claude Code's sessions: by their records, newest first, without reading files whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.tests.claude_rows import CWD, OTHER_SESSION, SESSION, Rows, calls, save, says
from transcripts.errors import AmbiguousSession, NotATranscript
from transcripts.stores.claude import ClaudeStore, decode_slug, encode_slug
from transcripts.stores.claude.layout import full_slug

# ------------------------------------------------------------------ slugs


@pytest.mark.parametrize(
    ("cwd", "slug"),
    [
        ("/srv/orchard_2/rows.d", "-srv-orchard-2-rows-d"),
        ("C:\\Users\\me\\old plan", "C--Users-me-old-plan"),
        ("/srv/과수원", "-srv----"),
        ("/srv/🪵", "-srv---"),
        ("/Zürich/é", "-Z-rich--"),
    ],
)
def test_every_code_unit_outside_letters_and_digits_is_a_dash(cwd: str, slug: str) -> None:
    assert encode_slug(cwd) == slug


def test_a_long_path_is_cut_and_told_apart_by_its_hash() -> None:
    # The hash was taken from the CLI's own expression, evaluated by Node for these paths.
    path = "/srv/" + "long-name/" * 30
    assert len(full_slug(path)) == 305
    assert encode_slug(path) == full_slug(path)[:200] + "-" + LONG_PATH_HASH
    assert encode_slug(path + "x") != encode_slug(path + "y")


LONG_PATH_HASH = "urtlrz"


def test_a_slug_stands_for_no_one_path() -> None:
    decoded = decode_slug("-srv-my-app")
    assert decoded.ambiguous
    assert {"/srv/my/app", "/srv/my-app", "/srv/my_app", "/srv/my.app"} <= set(decoded.candidates)
    assert "C:\\srv\\app" in decode_slug("C--srv-app").candidates
    assert not decode_slug("srv").ambiguous


@given(st.text(max_size=60).map(lambda text: "/" + text.replace("/", "x")))
def test_every_candidate_of_a_slug_has_that_slug(cwd: str) -> None:
    slug = encode_slug(cwd)
    assert all(encode_slug(candidate) == slug for candidate in decode_slug(slug).candidates)


# ------------------------------------------------------------------ listing


def test_a_listing_is_not_fooled_by_what_comes_first(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("pr-link", prNumber=9)
    rows.bare("file-history-snapshot", messageId="c0ffee00-0000-4000-8000-000000000002")
    rows.user("a caveat of the harness", isMeta=True)
    rows.user("<local-command-stdout>done</local-command-stdout>")
    rows.user("<command-name>/survey</command-name>\n<command-args>pears</command-args>")
    rows.assistant(says("surveyed"))
    save(tmp_path, rows)
    [info] = ClaudeStore(tmp_path).list()
    assert (info.session_id, info.cwd, info.cli_version) == (SESSION, CWD, "2.1.300")
    assert info.title == info.first_user_message == "/survey pears"
    assert info.path == f"projects/-srv-orchard/{SESSION}.jsonl"


def test_a_first_prompt_longer_than_any_window_is_found(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("pears " * 40_000)
    rows.assistant(says("many"))
    save(tmp_path, rows)
    [info] = ClaudeStore(tmp_path).list()
    assert info.first_user_message == "pears " * 40_000


def test_the_middle_of_a_big_file_is_never_read(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("first")
    path = save(tmp_path, rows)
    last = Rows(numbered_from=90)
    last.assistant(says("last"))
    last.bare("custom-title", customTitle="the big one")
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"x","broken\n')
        file.write(b"\0" * 300_000)
        file.write(b"\n" + "".join(json.dumps(row) + "\n" for row in last.rows).encode())
    [info] = ClaudeStore(tmp_path).list()
    assert info.title == "the big one"
    assert info.updated_at is not None
    assert info.updated_at.isoformat() == "2026-03-01T08:30:03+00:00"


def test_sessions_come_newest_first_and_by_the_cwd_of_their_rows(tmp_path: Path) -> None:
    old, new = Rows(), Rows(OTHER_SESSION)
    old.user("older")
    new.user("padding")
    new.user("newer", cwd="/elsewhere")
    new.rows = new.rows[1:]
    save(tmp_path, old)
    save(tmp_path, new, OTHER_SESSION)
    store = ClaudeStore(tmp_path)
    assert [info.session_id for info in store.list()] == [OTHER_SESSION, SESSION]
    # Both lie in the same folder; what decides is the directory in the rows.
    assert [info.session_id for info in store.list("/elsewhere")] == [OTHER_SESSION]
    assert [info.session_id for info in store.list(CWD)] == [SESSION]
    assert not store.list("/srv-orchard")


def test_files_that_are_no_sessions_are_not_listed_as_such(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hi")
    save(tmp_path, rows)
    save(tmp_path, rows, "agent-a1b2c3d")
    save(tmp_path, rows, f"{SESSION}/subagents/agent-x")
    title = Rows(OTHER_SESSION)
    title.bare("summary", summary="only a title", leafUuid="u")
    save(tmp_path, title, OTHER_SESSION)
    listing = ClaudeStore(tmp_path).list()
    assert [info.session_id for info in listing] == [SESSION]
    assert listing.seen == 2
    assert [failed.path for failed in listing.failed] == [
        f"projects/-srv-orchard/{OTHER_SESSION}.jsonl"
    ]
    assert len(ClaudeStore(tmp_path / "empty").list()) == 0


def test_a_session_of_which_only_subagents_are_left_is_an_orphan(tmp_path: Path) -> None:
    child = Rows()
    child.user("count the hives", isSidechain=True, agentId="a1")
    child.assistant(says("twelve"), isSidechain=True, agentId="a1")
    save(tmp_path, child, f"{SESSION}/subagents/agent-a1")
    store = ClaudeStore(tmp_path)
    [info] = store.list()
    assert (info.session_id, info.cwd, info.title) == (SESSION, CWD, None)
    transcript = store.read(SESSION)
    assert transcript is not None
    assert [m.agent for m in transcript.messages] == ["a1", "a1"]
    assert transcript.effective() == ()
    with pytest.raises(NotATranscript, match="is a file"):
        ClaudeStore.read_path(tmp_path)
    with pytest.raises(NotATranscript, match="No such file"):
        ClaudeStore.read_path(tmp_path / "none.jsonl")


def test_an_id_in_two_folders_is_ambiguous(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hi")
    path = save(tmp_path, rows)
    moved = path.parent.parent / "-srv-barn" / path.name
    moved.parent.mkdir()
    moved.write_bytes(path.read_bytes())
    store = ClaudeStore(tmp_path)
    with pytest.raises(AmbiguousSession, match="2 project folders"):
        store.find(SESSION)
    assert len(store.list()) == 2


@pytest.mark.parametrize("session_id", ["", "../" + SESSION, "a/b", "nothing", "a\0b"])
def test_an_id_is_never_a_path(tmp_path: Path, session_id: str) -> None:
    rows = Rows()
    rows.user("hi")
    save(tmp_path, rows)
    assert ClaudeStore(tmp_path).read(session_id) is None


def test_the_environment_says_where_the_store_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "set"))
    assert ClaudeStore().root == tmp_path / "set"
    assert ClaudeStore(tmp_path).root == tmp_path / ".claude"
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ClaudeStore().root == tmp_path / ".claude"


def test_a_session_is_recognised_by_its_records(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("queue-operation", operation="enqueue")
    rows.user("hi")
    rows.assistant(calls("toolu_1", "Bash", command="ls"))
    assert ClaudeStore.recognises(save(tmp_path, rows))
    others = {
        "codex": {"timestamp": "t", "type": "session_meta", "payload": {"id": SESSION}},
        "copilot": {"type": "session.start", "data": {"sessionId": SESSION}, "id": "x"},
    }
    for name, row in others.items():
        assert not ClaudeStore.recognises(save(tmp_path, [row], name))
    assert not ClaudeStore.recognises(tmp_path)
