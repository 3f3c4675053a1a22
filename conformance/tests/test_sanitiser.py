"""What sanitising keeps: lengths, order, ties, and every word of the script's."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from live.sanitise import Clock, Document, Provenance, Sanitiser, rules, without_chance
from live.sanitise.engine import leaves
from live.sanitise.provenance import PLACEHOLDER
from live.sanitise.renaming import (
    BEGIN,
    UUID,
    is_renamed_id,
    is_renamed_uuid,
    renamed_id,
    seconds_of,
)
from live.sanitise.rules import Chance, Floating, IdRule, Marker, Rules, Ties

START = datetime(2026, 11, 3, 14, 20, 0, tzinfo=UTC).timestamp()
END = START + 600

RULES = Rules(
    revision=1,
    structural=("type", "role"),
    ids=(IdRule(key="agent", prefix="a"), IdRule(key="digest")),
    measured=("tookMs", "share"),
    emptied=("tools",),
    tied=("note",),
)

moments = st.lists(st.integers(0, 599_000), min_size=1, max_size=12)


def iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(START + milliseconds / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"


def clean(
    records: list[Any], script: set[str] | None = None, rules: Rules = RULES, markers: Any = ()
) -> list[Any]:
    sanitiser = Sanitiser(rules, Provenance(script or set(), markers), Clock(START, END))
    (document,) = sanitiser.documents(
        [Document(path="a.jsonl", form="lines", records=tuple(records), style="\n")]
    )
    return list(document.records)


# ------------------------------------------------------------------ ids


@given(st.lists(st.uuids(version=4), min_size=1, max_size=20))
def test_a_random_id_keeps_its_form_and_equals_what_it_equalled(given_ids: list[uuid.UUID]) -> None:
    records = [{"uuid": str(one), "text": f"<{one}>"} for one in given_ids]
    new = [record["uuid"] for record in clean(records)]
    assert [uuid.UUID(one).version for one in new] == [4] * len(new)
    assert all(is_renamed_uuid(one) for one in new)
    for i, one in enumerate(given_ids):
        for j, other in enumerate(given_ids):
            assert (one == other) == (new[i] == new[j])
    assert [r["text"] for r in clean(records)] == [f"<{one}>" for one in new]


def version_7(milliseconds: int, rest: int) -> str:
    value = (milliseconds << 80) | (7 << 76) | ((rest >> 62 & 0xFFF) << 64)
    value |= (2 << 62) | (rest & ((1 << 62) - 1))
    return str(uuid.UUID(int=value))


@given(
    st.lists(st.tuples(st.integers(0, 600_000), st.integers(0, 2**74 - 1)), min_size=2, max_size=12)
)
def test_ids_that_carry_a_time_keep_their_order(drawn: list[tuple[int, int]]) -> None:
    raw = [version_7(round(START * 1000) + ms, rest) for ms, rest in drawn]
    new = [record["id"] for record in clean([{"id": one} for one in raw])]
    assert {uuid.UUID(one).version for one in new} == {7}
    assert sorted(range(len(raw)), key=lambda i: (raw[i], i)) == sorted(
        range(len(new)), key=lambda i: (new[i], i)
    )


@given(st.integers(1, 2000), st.text("0123456789abcdef", min_size=6, max_size=64))
def test_an_id_of_any_other_form_keeps_prefix_and_length(number: int, body: str) -> None:
    new = renamed_id(number, "a" + body, "a")
    assert len(new) == len(body) + 1
    assert re.fullmatch("a[0-9a-f]+", new)
    assert is_renamed_id(new, "a")


@given(st.integers(1, 2000), st.integers(1, 2000), st.text("0123456789abcdef", min_size=4))
def test_ids_of_one_length_sort_as_they_appeared(one: int, two: int, body: str) -> None:
    assert (one < two) == (renamed_id(one, body, "") < renamed_id(two, body, ""))


def test_an_id_is_renamed_wherever_it_stands_also_in_the_file_name() -> None:
    sanitiser = Sanitiser(RULES, Provenance({"see", "agent-"}, ()), Clock(START, END))
    (document,) = sanitiser.documents(
        [
            Document(
                path="agent-abc91f0.jsonl",
                form="lines",
                records=({"agent": "abc91f0"}, {"text": "see abc91f0"}),
                style="\n",
            )
        ]
    )
    new = document.records[0]["agent"]
    assert new != "abc91f0"
    assert document.path == f"agent-{new}.jsonl"
    assert document.records[1]["text"] == f"see {new}"


# ------------------------------------------------------------------ times


@given(moments)
def test_times_keep_their_order_between_steps(drawn: list[int]) -> None:
    # A quarter of a second backwards is a CLI's own jitter; steps are further apart.
    steps = sorted({ms - ms % 500 for ms in drawn})
    new = [record["at"] for record in clean([{"at": iso(ms)} for ms in steps])]
    assert new == sorted(new)
    assert len(set(new)) == len(steps)


def test_a_record_written_long_after_its_time_keeps_its_early_time() -> None:
    new = [r["at"] for r in clean([{"at": iso(9000)}, {"at": iso(12000)}, {"at": iso(100)}])]
    assert new[2] < new[0] < new[1]


@given(moments)
def test_tied_records_stay_tied_and_equal_readings_of_one_record_stay_equal(
    drawn: list[int],
) -> None:
    records: list[Any] = []
    for ms in sorted(drawn):
        records.append({"type": "step", "at": iso(ms), "also": iso(ms)})
        records.append({"type": "note", "at": iso(min(ms + 3, 599_999))})
    new = clean(records)
    for step, note in zip(new[::2], new[1::2], strict=True):
        assert step["at"] == step["also"] == note["at"]


def test_a_record_that_had_to_wait_for_something_keeps_its_own_time() -> None:
    ties = Ties(kinds=("done",), until="2.0.0", within=0.1, why="")
    quick, slow = (
        clean(
            [{"type": "step", "at": iso(0)}, {"type": "done", "at": iso(behind)}],
            rules=replace(RULES, ties=(ties,)),
        )
        for behind in (40, 400)
    )
    assert quick[0]["at"] == quick[1]["at"]
    assert slow[0]["at"] < slow[1]["at"]


def test_lines_that_come_by_chance_are_left_out_of_that_file_only() -> None:
    chance = Chance(file="place.yaml", lines=("branch: ",), until="2.0.0", why="")
    lines = ("cwd: /srv/project", "branch: |-", "  main", "", "  and more", "id: 1", "")
    kept = {
        name: without_chance(
            Document(path=name, form="text", records=lines), replace(RULES, chance=(chance,))
        ).records
        for name in ("a/place.yaml", "a/notes.yaml")
    }
    assert kept == {
        "a/place.yaml": ("cwd: /srv/project", "id: 1", ""),
        "a/notes.yaml": lines,
    }


@pytest.mark.parametrize(("version", "tied"), [("1.0.40", True), ("1.0.60", False)])
def test_what_a_table_says_of_older_releases_is_not_said_of_newer_ones(
    version: str, tied: bool
) -> None:
    found = rules("copilot", version)
    assert (found.tied_within("assistant.turn_start") > 0) is tied
    assert [bool(rules("copilot", one).chance) for one in ("0.0.406", version)] == [True, False]


def test_a_time_keeps_its_precision_and_its_form() -> None:
    texts = [iso(1234), iso(1234).replace("Z", "+00:00"), "2026-11-03T14:20:01.234567891Z"]
    new = [r["at"] for r in clean([{"at": one} for one in texts])]
    assert [len(one) for one in new] == [len(one) for one in texts]
    assert new[1].endswith("+00:00")
    assert all(one.startswith(f"{BEGIN:%Y-%m-%dT%H:}") for one in new)


def test_a_number_that_is_a_time_of_the_run_becomes_one_of_the_morning() -> None:
    raw = round(START * 1000) + 1500
    (record,) = clean([{"at": iso(1500), "sent": raw, "port": 8460, "size": 1_700_000}])
    assert isinstance(record["sent"], int)
    assert 0 <= seconds_of(record["sent"]) - BEGIN.timestamp() < 10
    assert (record["port"], record["size"]) == (8460, 1_700_000)


def test_whole_seconds_go_with_the_first_finer_time_of_their_second() -> None:
    records = [{"at": iso(1200)}, {"at": iso(5900)}, {"whole": "2026-11-03T14:20:05Z"}]
    first, second, whole = clean(records)
    assert first["at"] < second["at"]
    assert whole["whole"] == second["at"][:19] + "Z"


def test_times_of_another_day_are_the_scripts_and_stay() -> None:
    text = "2020-02-02T02:02:02.222Z"
    assert clean([{"at": text}], {text}) == [{"at": text}]


# ------------------------------------------------------------------ words


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_text_of_the_script_survives_whole_whatever_it_holds(first: str, second: str) -> None:
    text = f"{first}\n{second}"
    records = [{"text": text, "arguments": {"content": text}}]
    assert clean(records, {text}) == records


AWKWARD = (
    'Grüße 👩‍🌾🌻\nline\u2028separator\u0085next\r\n\ttab "quote" \\n ```fence```\n木の名前 שלום'
)


@pytest.mark.parametrize("around", ["{}", "vendor says: {}", "{} (says the vendor)", "a\n{}\nb"])
def test_awkward_text_stays_alive_inside_foreign_words(around: str) -> None:
    (record,) = clean([{"text": around.format(AWKWARD)}], {AWKWARD})
    assert AWKWARD in record["text"]
    assert "vendor" not in record["text"]


def _is_foreign(text: str) -> bool:
    # JSON's own words are nobody's.
    return bool(text.strip()) and not {*text.split()} & {"null", "true", "false"}


@given(st.text(st.characters(categories=("L", "Zs")), min_size=3).filter(_is_foreign))
def test_no_foreign_word_survives(foreign: str) -> None:
    (record,) = clean([{"text": f"{foreign} Bees like thyme. {foreign}"}], {"Bees like thyme."})
    left = PLACEHOLDER.sub("", record["text"]).replace("Bees like thyme.", "")
    assert not any(character.isalpha() for character in left)


def test_a_placeholder_names_where_the_words_were_and_how_many() -> None:
    (record,) = clean([{"prompt": {"system": "You are a gardener. " * 60}}])
    assert record == {"prompt": {"system": "[elided: prompt.system, 2k]"}}


def test_sanitising_twice_changes_nothing_more() -> None:
    once = clean([{"text": "foreign words", "tookMs": 1712, "uuid": str(uuid.uuid4())}])
    assert clean(once) == once


def test_a_marker_stays_with_its_number_and_parts_foreign_words() -> None:
    markers = (Marker(text="Exit code", parsed_by="x.py", number=True),)
    (record,) = clean([{"text": "Some words\nExit code 3\nmore words"}], markers=markers)
    assert record["text"] == "[elided: text, 16]Exit code 3[elided: text, 16]"


def test_words_of_the_format_stay_only_where_the_table_says_so() -> None:
    (record,) = clean([{"type": "assistant", "nickname": "assistant"}])
    assert record == {"type": "assistant", "nickname": "[elided: nickname, 16]"}


def test_a_sentence_is_no_word_of_the_format() -> None:
    (record,) = clean([{"type": "a whole sentence"}])
    assert record["type"].startswith("[elided")


def test_measured_numbers_become_constant_and_keep_their_type() -> None:
    assert clean([{"tookMs": 17, "share": 0.731, "tokens": 120}]) == clean(
        [{"tookMs": 4031, "share": 0.2, "tokens": 120}]
    )
    (record,) = clean([{"tookMs": 17, "share": 0.731}])
    assert isinstance(record["tookMs"], int)
    assert isinstance(record["share"], float)


def test_what_is_emptied_keeps_its_kind() -> None:
    assert clean([{"tools": [{"name": "Saw"}]}, {"tools": {"a": 1}}]) == [
        {"tools": []},
        {"tools": {}},
    ]


def test_json_inside_a_string_is_sanitised_as_values() -> None:
    inner = '{"type":"step","tookMs":55,"text":"Bees like thyme."}'
    (record,) = clean([{"arguments": inner}], {"Bees like thyme."})
    assert record["arguments"] == '{"type":"step","tookMs":100,"text":"Bees like thyme."}'


def test_records_whose_place_is_chance_come_behind_those_among_which_it_is() -> None:
    rule = Floating(kinds=("tick",), among=("request",), why="a timer")
    rules = Rules(revision=1, structural=("type",), floating=(rule,))
    one = [{"type": "user"}, {"type": "tick"}, {"type": "request"}, {"type": "answer"}]
    two = [{"type": "user"}, {"type": "request"}, {"type": "tick"}, {"type": "answer"}]
    assert clean(one, rules=rules) == clean(two, rules=rules) == two


def test_values_inside_json_strings_are_seen_by_whoever_walks_the_leaves() -> None:
    record = {"a": '{"b":"c"}'}
    assert (("a", "b"), "c") in list(leaves(record))


@given(st.uuids(version=4))
def test_an_id_that_is_not_ours_is_recognised(one: uuid.UUID) -> None:
    assert UUID.fullmatch(str(one))
    assert not is_renamed_uuid(str(one))
