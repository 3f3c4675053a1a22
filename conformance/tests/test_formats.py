"""Observations say what was seen and no more; what disagrees with them is told without a value."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.corpus import CorpusError, find_corpus, load_case
from conformance.formats.judging import Judge, judge, nearest, shape
from conformance.formats.naming import file_name, namer, word
from conformance.formats.observing import observe
from conformance.formats.records import Gathering
from conformance.formats.schema import Schema, lenient, schema_of, schema_text, strict
from conformance.formats.snapshots import records_of
from conformance.formats.tables import ends, table
from transcripts.errors import DamagedRecord, NotATranscript

CLAUDE = table("claude")


def _schema(*values: Any, kind: str = "made", agent: str = "claude") -> Schema:
    """The snapshot of some records, each of a scenario of its own."""
    seen = ((kind, value, 1 << at) for at, value in enumerate(values))
    names = [f"s{at}" for at in range(len(values))]
    return schema_of(observe(seen, table(agent))[kind], names, table(agent))


# ------------------------------------------------------------------ what is observed


def test_what_was_always_there_is_required_and_the_rest_is_counted() -> None:
    schema = _schema({"a": 1, "b": "x"}, {"a": 2})
    assert schema["required"] == ["a"]
    assert schema["x-seen"] == 2
    assert schema["properties"]["a"] == {"type": "integer"}
    assert schema["properties"]["b"] == {
        "x-seen": 1,
        "x-scenarios": ["s0"],
        "type": "string",
        "x-forms": ["text"],
    }


def test_whole_numbers_and_others_and_null_are_told_apart() -> None:
    schema = _schema({"a": 1}, {"a": 1.5}, {"a": None}, {"a": True})
    assert schema["properties"]["a"] == {
        "type": ["boolean", "integer", "null", "number"],
        "x-types": {"boolean": 1, "integer": 1, "null": 1, "number": 1},
    }


def test_the_formats_words_are_a_closed_set_and_a_persons_never_are() -> None:
    schema = _schema({"role": "user", "cwd": "/a"}, {"role": "assistant", "cwd": "/b"})
    assert schema["properties"]["role"]["x-words"] == ["assistant", "user"]
    assert "x-words" not in schema["properties"]["cwd"]


def test_a_word_that_was_taken_out_of_a_recording_leaves_the_set_open() -> None:
    schema = _schema({"level": "info"}, {"level": "[elided: level, 16]"})
    assert "x-words" not in schema["properties"]["level"]


def test_keys_that_are_data_are_no_fields() -> None:
    schema = _schema({"snapshot": {"trackedFileBackups": {"/srv/a": {"v": 1}, "b": {"v": 2}}}})
    backups = schema["properties"]["snapshot"]["properties"]["trackedFileBackups"]
    assert "properties" not in backups
    assert backups["additionalProperties"]["x-seen"] == 2
    assert backups["additionalProperties"]["required"] == ["v"]
    assert "/srv/a" not in json.dumps(schema)


def test_shapes_that_a_field_tells_apart_are_not_mixed() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "name": "mcp__bed__dig", "input": {"/home/jane": 1}},
    ]
    schema = _schema({"message": {"content": blocks}})
    shapes = schema["properties"]["message"]["properties"]["content"]["items"]["allOf"]
    assert [one["then"]["title"] for one in shapes] == ["text", "tool_use/Bash", "tool_use/mcp"]
    assert shapes[1]["then"]["properties"]["input"]["required"] == ["command"]
    assert shapes[2]["then"]["properties"]["input"] == {"x-opaque": True}
    assert "jane" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-01-05T10:00:00.137Z", "date-time.3"),
        ("2026-01-05T10:00:00Z", "date-time"),
        ("2026-01-05T10:00:00.137000Z", "date-time.more"),
        ("00000001-db1b-4aa7-8e76-cb5c5c64abac", "uuid"),
        ("", "empty"),
        ("a\nb", "lines"),
        ("/srv/a b", "path"),
    ],
)
def test_how_a_string_is_written_is_observed(text: str, form: str) -> None:
    assert _schema({"at": text})["properties"]["at"]["x-forms"] == [form]


def test_equal_observations_in_any_order_give_equal_bytes() -> None:
    values = [{"b": 1, "a": {"role": "x"}}, {"a": None}, {"c": [1, "x"]}]
    both = [("made", value, 1) for value in values]
    one, other = (
        schema_text(schema_of(observe(seen, CLAUDE)["made"], ["s"], CLAUDE))
        for seen in (both, list(reversed(both)))
    )
    assert one == other
    assert json.loads(one)["title"] == "made"


# ------------------------------------------------------------------ the views

KNOWN: tuple[dict[str, Any], ...] = (
    {"type": "system", "role": "user", "n": 1, "gone": None, "deep": {"a": "x"}},
    {"type": "system", "role": "user", "n": 2, "gone": None, "deep": {"a": "y", "b": 1}},
)


def _without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}


@pytest.mark.parametrize(
    ("record", "lenient_ok", "strict_ok"),
    [
        (KNOWN[0], True, True),
        ({**KNOWN[0], "new": 1}, True, False),
        ({**KNOWN[0], "deep": {"a": "x", "c": 1}}, True, False),
        ({**KNOWN[0], "role": "critic"}, True, False),
        ({**KNOWN[0], "gone": "here"}, True, False),
        ({**KNOWN[0], "n": "1"}, False, False),
        (_without(KNOWN[0], "n"), False, False),
        ({**KNOWN[0], "deep": {}}, False, False),
    ],
)
def test_lenient_allows_what_is_new_and_strict_nothing(
    record: dict[str, Any], lenient_ok: bool, strict_ok: bool
) -> None:
    schema = _schema(*KNOWN)
    assert Draft202012Validator(lenient(schema)).is_valid(record) is lenient_ok
    assert Draft202012Validator(strict(schema)).is_valid(record) is strict_ok


def test_a_shape_that_was_never_seen_is_news_to_the_strict_view_only() -> None:
    schema = _schema({"message": {"content": [{"type": "text", "text": "a"}]}})
    new = {"message": {"content": [{"type": "hologram", "depth": 3}]}}
    odd = {"message": {"content": [{"type": "text", "text": 3}]}}
    assert Draft202012Validator(lenient(schema)).is_valid(new)
    assert not Draft202012Validator(strict(schema)).is_valid(new)
    assert not Draft202012Validator(lenient(schema)).is_valid(odd)


def test_records_are_of_one_shape_only_if_a_validator_takes_them_alike() -> None:
    one = {"type": "user", "cwd": "/a", "n": [1, 2]}
    assert shape(one, (), CLAUDE) == shape({**one, "cwd": "/b", "n": [7]}, (), CLAUDE)
    for other in (
        {**one, "type": "assistant"},
        {**one, "cwd": None},
        {**one, "n": [1.5]},
        {**one, "n": []},
        {**one, "x": 1},
        _without(one, "cwd"),
    ):
        assert shape(one, (), CLAUDE) != shape(other, (), CLAUDE)


# ------------------------------------------------------------------ names


def test_records_are_named_by_what_tells_them_apart() -> None:
    claude = namer("claude", CLAUDE)
    use = {"type": "tool_use", "id": "t1", "name": "Bash"}
    mcp = {"type": "tool_use", "id": "t2", "name": "mcp__bed__dig"}
    result = {"type": "tool_result", "tool_use_id": "t1"}
    rows = [
        {"type": "assistant", "message": {"content": [{"type": "text"}, use, mcp]}},
        {"type": "user", "message": {"content": [result]}},
        {"type": "user", "message": {"content": [{**result, "tool_use_id": "t2"}]}},
        {"type": "user", "message": {"content": [{**result, "tool_use_id": "t9"}]}},
        {"type": "user", "isMeta": True, "message": {"content": "a"}},
        {"type": "system", "subtype": "informational"},
        {"type": "attachment", "attachment": {"type": "date"}},
        {"type": "summary"},
        {"type": "my key is sk-1234567890"},
        {},
    ]
    assert [claude.name(row) for row in rows] == [
        "assistant[text+tool_use]",
        "user[tool_result:Bash]",
        "user[tool_result:mcp]",
        "user[tool_result:unpaired]",
        "user[str]!isMeta",
        "system/informational",
        "attachment/date",
        "summary",
        "(odd)",
        "(none)",
    ]


def test_codex_records_are_named_by_envelope_payload_and_item() -> None:
    codex = namer("codex", table("codex"))
    rows = [
        {"type": "session_meta", "payload": {"id": "a"}},
        {"type": "event_msg", "payload": {"type": "task_started"}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Plan"}}},
        {"type": "response_item", "payload": {"type": "message", "role": "user"}},
        {"id": "a", "timestamp": "t"},
        {"record_type": "state"},
        {"type": "message", "role": "user"},
    ]
    assert [codex.name(row) for row in rows] == [
        "session_meta",
        "event_msg/task_started",
        "event_msg/item_completed/Plan",
        "response_item/message:user",
        "flat/session_meta",
        "flat/state",
        "flat/message:user",
    ]


@pytest.mark.parametrize(
    ("agent", "line", "kind"),
    [
        ("claude", {"type": "result", "subtype": "success"}, "stream/result:success"),
        (
            "claude",
            {"type": "stream_event", "event": {"type": "message_stop"}},
            "stream/stream_event:message_stop",
        ),
        ("claude", {"type": "system", "subtype": "init"}, "stream/system/init"),
        ("codex", {"type": "turn.started"}, "stream/turn.started"),
        (
            "codex",
            {"type": "item.completed", "item": {"type": "agent_message"}},
            "stream/item.completed/agent_message",
        ),
        ("copilot", {"type": "result", "data": {}}, "stream/result"),
    ],
)
def test_what_a_cli_tells_programs_has_kinds_of_its_own(
    agent: str, line: dict[str, Any], kind: str
) -> None:
    assert namer(agent, table(agent)).told(line) == kind


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("assistant[tool_use]", "assistant.tool_use.json"),
        ("user[tool_result:Bash]", "user.tool_result.Bash.json"),
        ("assistant[text]!isApiErrorMessage", "assistant.text.isApiErrorMessage.json"),
        ("event_msg/item_completed/Plan", "event_msg.item_completed.Plan.json"),
        ("session.db/todos", "session.db.todos.json"),
        ("agent.meta.json", "agent.meta.json"),
    ],
)
def test_a_kinds_file_name_is_safe(kind: str, name: str) -> None:
    assert file_name(kind) == name


@pytest.mark.parametrize(
    "text", ["my password", "a" * 49, "ghp_a1B2a1B2a1B2a1B2", "/srv/x", "ключ", "", 3]
)
def test_what_may_be_a_persons_is_no_word(text: Any) -> None:
    assert word(text) == "(odd)"


@pytest.mark.parametrize(
    ("place", "rule", "ended"),
    [
        (("a", "b", "c"), "b.c", True),
        (("a", "b", "c"), "a.c", False),
        (("a", "c"), "/c", False),
        (("c",), "/c", True),
        (("a", "x", "c"), "a.*.c", True),
    ],
)
def test_a_rule_is_the_end_of_a_place(place: tuple[str, ...], rule: str, ended: bool) -> None:
    assert ends(place, [rule]) is ended


# ------------------------------------------------------------------ a foreign file


def _kept(root: Path, agent: str, release: str, *records: dict[str, Any]) -> None:
    rules = table(agent)
    names = namer(agent, rules)
    seen = [(names.name(record), record, 1) for record in records]
    directory = root / agent / release
    directory.mkdir(parents=True)
    for kind, observer in observe(seen, rules).items():
        text = schema_text(schema_of(observer, ["made"], rules))
        (directory / file_name(kind)).write_text(text, encoding="utf-8")


def _row(**more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "informational", "version": "2.0.1", "n": 1, **more}


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    root = tmp_path / "schemas"
    _kept(root, "claude", "2.0.1", _row())
    _kept(root, "claude", "2.0.10", _row(version="2.0.10", later=True))
    return root


def _file(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _findings(path: Path, schemas: Path, version: str | None = None) -> list[tuple[str, ...]]:
    document = judge("claude", Gathering("claude", path), schemas, version)
    return [
        (kind.kind, one.finding, one.pointer, f"{one.file}:{one.line}")
        for kind in document.kinds
        for one in kind.findings
    ]


def test_each_disagreement_is_named_with_its_place(tmp_path: Path, schemas: Path) -> None:
    path = _file(
        tmp_path,
        _row(),
        _row(n="1"),
        _row(extra={"a": 1}),
        _row(subtype="away_summary"),
        {"type": "system", "subtype": "informational", "version": "2.0.1"},
    )
    assert _findings(path, schemas) == [
        ("system/away_summary", "unknown-kind", "", "session.jsonl:4"),
        ("system/informational", "missing-field", "/n", "session.jsonl:5"),
        ("system/informational", "type-changed", "/n", "session.jsonl:2"),
        ("system/informational", "unknown-field", "/extra", "session.jsonl:3"),
    ]


def test_a_new_shape_is_told_by_its_name(tmp_path: Path, schemas: Path) -> None:
    def row(*blocks: dict[str, Any]) -> dict[str, Any]:
        return {"type": "assistant", "version": "2.0.1", "message": {"content": [*blocks]}}

    bash = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}
    _kept(schemas, "claude", "2.0.1.more", row(bash))
    path = _file(tmp_path, row({**bash, "name": "Sing", "input": {"song": "secret"}}))
    document = judge("claude", Gathering("claude", path), schemas)
    (finding,) = document.kinds[0].findings
    assert (finding.finding, finding.pointer) == ("unknown-shape", "/message/content/*")
    assert finding.found == ("tool_use/Sing",)
    assert "song" not in repr(document)


def test_no_value_of_the_file_is_ever_told(tmp_path: Path, schemas: Path) -> None:
    secret = "sk-ant-0123456789"
    path = _file(
        tmp_path,
        _row(n=secret, extra=secret, **{f"key {secret}": secret}),
        _row(type=secret),
        _row(subtype=f"{secret}!"),
        _row(version=f"{secret} {secret}"),
    )
    document = judge("claude", Gathering("claude", path), schemas)
    assert secret not in repr(document)
    assert not document.lenient_ok


@pytest.mark.parametrize(
    ("named", "by"),
    [
        ("2.0.1", ("2.0.1", "same")),
        ("2.0.9", ("2.0.1", "below")),
        ("2.1.0", ("2.0.10", "below")),
        ("1.0.0", ("2.0.1", "nearest")),
    ],
)
def test_the_release_that_judges_is_the_same_or_the_nearest_below(
    schemas: Path, named: str, by: tuple[str, str]
) -> None:
    assert nearest(schemas, "claude", named) == by


def test_records_of_no_named_release_are_judged_by_the_one_that_knows_their_kinds(
    tmp_path: Path, schemas: Path
) -> None:
    _kept(schemas, "claude", "1.0.9", {"type": "summary", "leaf": "x"})
    for row, by in (({"type": "summary", "leaf": "y"}, "1.0.9"), (_row(version=None), "2.0.10")):
        document = judge("claude", Gathering("claude", _file(tmp_path, row)), schemas)
        (release,) = document.releases
        assert (release.named, release.judged_by, release.nearness) == (None, by, "likest")


def test_each_record_is_judged_by_the_release_that_wrote_it(tmp_path: Path, schemas: Path) -> None:
    path = _file(tmp_path, _row(), _row(version="2.0.10", later=True))
    document = judge("claude", Gathering("claude", path), schemas)
    assert document.strict_ok
    assert [(one.named, one.records) for one in document.releases] == [("2.0.1", 1), ("2.0.10", 1)]
    asked = judge("claude", Gathering("claude", path), schemas, "2.0.1")
    assert asked.lenient_ok
    assert not asked.strict_ok
    assert {one.judged_by for one in asked.releases} == {"2.0.1"}


def test_a_record_is_judged_by_the_dialect_that_it_agrees_with(schemas: Path) -> None:
    _kept(schemas, "claude", "2.0.1.shorthand", {**_row(), "n": "one"})
    own, other = schemas / "claude" / "2.0.1", schemas / "claude" / "2.0.1.shorthand"
    both = Judge("claude", [own, other])
    assert both.judge("system/informational", _row()) == ()
    assert both.judge("system/informational", _row(n="two")) == ()
    assert both.judge("system/informational", _row(n=None)) != ()


def test_what_cannot_be_read_is_a_typed_error_with_place_and_next_step(tmp_path: Path) -> None:
    path = _file(tmp_path, _row())
    path.write_bytes(path.read_bytes() + b'{"type": "sys\n')
    with pytest.raises(DamagedRecord, match=r"session\.jsonl:2 .*--recover"):
        list(Gathering("claude", path))
    recovered = Gathering("claude", path, recover=True)
    assert [one.kind for one in recovered] == ["system/informational"]
    assert len(recovered.damage) == 1


@pytest.mark.parametrize("name", ["nowhere.jsonl", "notes.txt", "empty"])
def test_a_path_that_holds_no_session_is_a_typed_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("a", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotATranscript, match=r"; (check|give|name) "):
        list(Gathering("claude", tmp_path / name))


def test_a_release_of_an_agent_without_schemas_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="holds no schemas of claude"):
        nearest(tmp_path, "claude", "1.0.0")


# ------------------------------------------------------------------ whatever the records

KEYS = st.sampled_from(["type", "role", "name", "a", "message", "content", "trackedFileBackups"])
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9)
JSON = st.recursive(
    PLAIN | st.sampled_from(["x", "", "y", "/z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.lists(st.dictionaries(KEYS, JSON, max_size=5), min_size=1, max_size=5)


# How long an example takes is the machine's business.
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS)
def test_what_was_observed_agrees_with_its_own_schema(records: list[dict[str, Any]]) -> None:
    schema = json.loads(schema_text(_schema(*records)))
    Draft202012Validator.check_schema(schema)
    for record in records:
        for view in (lenient(schema), strict(schema)):
            assert [*Draft202012Validator(view).iter_errors(record)] == []


# ------------------------------------------------------------------ no file is passed over


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".copilot/session-state/s/notes.txt", "no known kind of file; say in conformance/formats"),
        (".copilot/moods.json", "outside of what conformance/formats/copilot.toml"),
    ],
)
def test_a_recorded_file_of_no_known_kind_is_an_error(tmp_path: Path, name: str, said: str) -> None:
    place = "copilot/1.0.102/plain-exchange"
    shutil.copytree(find_corpus() / place, tmp_path / place)
    case = load_case(tmp_path / place, tmp_path)
    assert records_of(case)
    (case.home / name).parent.mkdir(parents=True, exist_ok=True)
    (case.home / name).write_text("{}", encoding="utf-8")
    facts = msgspec.structs.replace(case.facts, files={**case.facts.files, name: "x"})
    with pytest.raises(CorpusError, match=said):
        records_of(msgspec.structs.replace(case, facts=facts))
