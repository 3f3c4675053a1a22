"""What the scripted model knows of an earlier conversation: what the request shows, no more."""

from __future__ import annotations

from typing import Any

import pytest

from live.model.history import Entry
from live.model.recalling import UNKNOWN, holds, recalled
from live.model.script import Given, Recall

PATH = "gates/ash.yaml"
DONE = "timeout: 99"


def user(text: str) -> Entry:
    return Entry(role="user", type="text", text=text)


def said(text: str) -> Entry:
    return Entry(role="assistant", type="text", text=text)


def called(call_id: str, arguments: Any) -> Entry:
    return Entry(role="assistant", type="call", call_id=call_id, name="any", arguments=arguments)


def result(call_id: str, text: str, *, error: bool | None = None) -> Entry:
    return Entry(role="tool", type="result", call_id=call_id, text=text, error=error)


def recall(before: list[Entry], **what: Any) -> str | None:
    return recalled("It is {it}.", {"it": Recall(**what)}, before)


def state(history: list[Entry], *, position: int | None = None) -> set[str]:
    """Return which conditions hold for the file at the prompt behind some entries."""
    at = len(history) if position is None else position
    return {
        name
        for name in ("shown", "hidden", "refuted")
        if holds(Given(path=PATH, holds=DONE, state=name, check="look"), history, at)
    }


EDIT = {"file_path": f"/srv/project/{PATH}", "old_string": "timeout: 10", "new_string": DONE}
PATCH = f"*** Begin Patch\n*** Update File: {PATH}\n@@\n-timeout: 10\n+{DONE}\n*** End Patch\n"


@pytest.mark.parametrize(
    "entry",
    [
        user("The bell is OAK-41."),
        said("The bell is OAK-41."),
        Entry(role="assistant", type="reasoning", text="So OAK-41 it is."),
        called("c", {"command": ["ring", "OAK-41"]}),
        called("c", "ring OAK-41\n"),
        result("c", "OAK-41 rang"),
    ],
)
def test_words_thoughts_arguments_and_results_are_all_read(entry: Entry) -> None:
    assert recall([entry], pattern=r"(OAK-\d+)") == "It is OAK-41."


def test_what_no_entry_holds_is_said_to_be_unknown() -> None:
    assert recall([user("Which bell?")], pattern=r"(OAK-\d+)") == f"It is {UNKNOWN}."


@pytest.mark.parametrize("role", ["system", "developer"])
def test_what_a_harness_tells_is_no_part_of_the_conversation(role: Any) -> None:
    told = Entry(role=role, type="text", text="The bell is OAK-41.")
    assert recall([told], pattern=r"(OAK-\d+)") == f"It is {UNKNOWN}."


def test_of_several_values_the_last_one_counts() -> None:
    before = [said("OAK-41, then OAK-42."), said("Now OAK-43.")]
    assert recall(before, pattern=r"(OAK-\d+)") == "It is OAK-43."


def test_a_text_that_recalls_nothing_stays_as_it_is() -> None:
    assert recalled("Plain {braces}.", {}, []) == "Plain {braces}."
    assert recalled(None, {}, []) is None


ASKED = [
    called("n", {"command": "cat north.txt"}),
    called("s", {"command": "cat south.txt"}),
]


@pytest.mark.parametrize(("of", "value"), [("north.txt", "QUARTZ-1"), ("south.txt", "BASALT-2")])
def test_a_result_belongs_to_its_call_in_whatever_order_results_came(of: str, value: str) -> None:
    results = [result("s", "BASALT-2"), result("n", "QUARTZ-1")]
    assert recall([*ASKED, *results], of=of, pattern=r"([A-Z]+-\d)") == f"It is {value}."
    assert recall([*ASKED, *results[::-1]], of=of, pattern=r"([A-Z]+-\d)") == f"It is {value}."


def test_results_that_were_exchanged_are_told_as_they_are_shown() -> None:
    exchanged = [result("n", "BASALT-2"), result("s", "QUARTZ-1")]
    told = recall([*ASKED, *exchanged], of="north.txt", pattern=r"([A-Z]+-\d)")
    assert told == "It is BASALT-2."


def test_in_prose_what_belongs_to_something_is_what_follows_it() -> None:
    told = said("I looked at north.txt: QUARTZ-1. I looked at south.txt: BASALT-2.")
    assert recall([told], of="north.txt", pattern=r"([A-Z]+-\d)") == "It is QUARTZ-1."


def test_a_picture_is_known_by_its_bytes_and_the_last_one_counts() -> None:
    pictures = [
        Entry(role="user", type="image", value={"sha256": digest, "media_type": "image/png"})
        for digest in ("aa", "bb")
    ]
    assert recall(pictures, picture=True) == "It is bb."
    assert recall([user("A picture, aa.")], picture=True) == f"It is {UNKNOWN}."


@pytest.mark.parametrize("arguments", [EDIT, PATCH, {"edits": [{"path": PATH, "text": DONE}]}])
def test_a_call_with_a_good_result_shows_that_a_file_is_done(arguments: Any) -> None:
    assert state([called("c", arguments), result("c", "Updated.")]) == {"shown"}


@pytest.mark.parametrize(
    "answered",
    [
        [],
        [result("c", "aborted")],
        [result("c", "Updated.", error=True)],
        [result("c", "String to replace not found: it failed.")],
        [result("c", "The outcome of this call is unknown.")],
        [result("c", "The call was interrupted before a result was recorded.")],
        [result("another", "Updated.")],
    ],
)
def test_a_call_without_a_good_result_leaves_a_file_to_be_done(answered: list[Entry]) -> None:
    assert state([called("c", EDIT), *answered]) == {"hidden"}


def test_a_file_that_was_only_read_is_not_done() -> None:
    looked = [called("c", {"path": PATH}), result("c", "gate: ash\ntimeout: 10\n")]
    assert state(looked) == {"hidden"}


def test_a_change_of_another_file_or_to_another_value_is_not_this_one() -> None:
    other = {**EDIT, "file_path": "/srv/project/gates/birch.yaml"}
    less = {**EDIT, "new_string": "timeout: 98"}
    for arguments in (other, less):
        assert state([called("c", arguments), result("c", "Updated.")]) == {"hidden"}


@pytest.mark.parametrize(
    "told",
    [
        f"I edited {PATH}: timeout: 10 became {DONE}.",
        f"Changed gates/birch.yaml (failed). Changed {PATH}:\n- timeout: 10\n+ {DONE}",
        f"Changed {PATH}:\n+ {DONE}\nThen gates/birch.yaml was interrupted.",
    ],
)
def test_prose_shows_that_a_file_is_done(told: str) -> None:
    assert state([said(told)]) == {"shown"}


@pytest.mark.parametrize(
    "told",
    [
        f"I wanted to edit {PATH} to {DONE}, but was interrupted.",
        f"Change of {PATH} to {DONE}: aborted.",
        f"Change of {PATH} to {DONE}: no result was recorded.",
        f"Changed {PATH}. Then gates/birch.yaml holds {DONE}.",
        "All gates are to wait for ninety-nine seconds.",
    ],
)
def test_prose_that_says_otherwise_leaves_a_file_to_be_done(told: str) -> None:
    assert state([said(told)]) == {"hidden"}


def test_what_the_model_does_since_is_no_part_of_what_it_was_shown() -> None:
    asked = user("Go on.")
    since = [asked, called("w", EDIT), result("w", "Updated.")]
    assert state(since, position=0) == {"hidden"}


@pytest.mark.parametrize("given", ["look", "custom_look"])
def test_a_look_that_shows_otherwise_refutes_what_was_shown(given: str) -> None:
    shown = [called("c", EDIT), result("c", "Updated."), user("Go on."), called(given, {"r": PATH})]
    undone = [*shown, result(given, "gate: ash\ntimeout: 10\n")]
    done = [*shown, result(given, f"gate: ash\n{DONE}\n# looked over by hand\n")]
    assert state(shown, position=2) == {"shown"}
    assert state(undone, position=2) == {"shown", "refuted"}
    assert state(done, position=2) == {"shown"}


def test_a_result_that_is_json_is_read_as_what_it_says() -> None:
    before = [result("c", '{"output": "first\\nbell: OAK-41\\n", "exit_code": 0}')]
    assert recall(before, pattern="first\nbell: (\\S+)") == "It is OAK-41."
