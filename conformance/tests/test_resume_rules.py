"""The hand-written sessions with one defect each, and what is kept of how releases resume them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from conformance import resuming
from conformance.corpus import Case, cases, find_corpus, find_schemas
from conformance.shapes import schema_of
from live import defects
from live.agents.base import find_driver
from live.defects import claude, codex, copilot
from live.defects.written import PARTS, Defect, Files
from live.resume_rules import Measured

TABLES = {"claude": claude, "codex": codex, "copilot": copilot}
NEWEST = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
KEPT = sorted(find_schemas().glob(f"*/*/{resuming.NAME}"))
EVERY = [(agent, defect) for agent, table in TABLES.items() for defect in table.DEFECTS]


def laid(agent: str, defect: Defect) -> Files:
    driver = find_driver(agent, NEWEST[agent])
    return defect.change(TABLES[agent].sound(driver)).files()


@pytest.mark.parametrize("agent", TABLES)
def test_a_sound_session_holds_every_part_of_the_conversation_once(agent: str) -> None:
    content = b"".join(laid(agent, TABLES[agent].DEFECTS[0]).values())
    events = 2 if agent in ("codex", "copilot") else 1
    for part, token in PARTS.items():
        assert 1 <= content.count(token.encode()) <= events, part


@pytest.mark.parametrize(("agent", "defect"), EVERY, ids=lambda one: getattr(one, "name", one))
def test_a_defect_changes_the_sound_session_and_nothing_that_another_defect_sees(
    agent: str, defect: Defect
) -> None:
    before = laid(agent, TABLES[agent].DEFECTS[0])
    spoilt = laid(agent, defect)
    assert (spoilt == before) is (defect.name == "none")
    assert laid(agent, TABLES[agent].DEFECTS[0]) == before


@pytest.mark.parametrize("agent", TABLES)
def test_no_two_defects_have_a_name_or_a_file_in_common(agent: str) -> None:
    names = defects.names(agent)
    assert names[0] == "none"
    assert len(set(names)) == len(names)
    files = [tuple(sorted(laid(agent, defect).items())) for defect in TABLES[agent].DEFECTS]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}@{path.parts[-2]}")
def test_what_is_kept_is_of_its_shape_and_in_its_place(path: Path) -> None:
    document = msgspec.json.decode(path.read_bytes())
    assert list(Draft202012Validator(schema_of("resume")).iter_errors(document)) == []
    rules = resuming.load(path)
    assert resuming.place(find_schemas(), rules) == path
    assert [one.defect for one in rules.defects] == list(defects.names(rules.agent))
    assert path.read_bytes() == resuming.text(rules)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}@{path.parts[-2]}")
def test_every_release_resumes_the_session_in_which_nothing_is_wrong(path: Path) -> None:
    rules = resuming.load(path)
    (sound,) = [one for one in rules.defects if one.defect == "none"]
    # A release that forgets the words beside a call does so with its own sessions too.
    (own,) = [one for one in cases(find_corpus(), rules.agent, rules.release) if _is_alike(one)]
    kinds = [own.truth.messages[index]["kind"] for index in own.facts.forgets]
    assert sound.missing == (("text",) if kinds == ["AgentMessage"] else ())
    assert sound.effect == ("partial" if kinds else "full")


def _is_alike(case: Case) -> bool:
    """Whether a recorded session is of the parts of the written one: words beside a call."""
    return case.directory.name == "command-ok"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}@{path.parts[-2]}")
def test_an_effect_says_no_more_and_no_less_than_what_reached_the_model(path: Path) -> None:
    for one in resuming.load(path).defects:
        if one.effect == "full":
            assert one.missing == ()
        elif one.effect == "partial":
            assert one.reached
            assert one.missing
        else:
            assert one.reached == ()


@pytest.mark.live
@pytest.mark.parametrize("agent", TABLES)
def test_a_release_does_with_a_defect_what_is_kept_of_it(agent: str) -> None:
    kept = resuming.load(find_schemas() / agent / NEWEST[agent] / resuming.NAME)
    asked = ("none", "call-at-end", "empty-file")
    again = defects.measure(agent, NEWEST[agent], only=asked)
    assert again.defects == tuple(one for one in kept.defects if one.defect in asked)


def test_a_defect_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(defects.UnknownDefect, match="'sunshine'"):
        defects.measure("claude", NEWEST["claude"], only=("sunshine",))


def test_a_measurement_is_of_one_of_five_effects() -> None:
    with pytest.raises(msgspec.ValidationError, match="effect"):
        msgspec.convert(
            {
                "defect": "none",
                "what": "",
                "effect": "fine",
                "returncode": 0,
                "reached": [],
                "missing": [],
            },
            Measured,
        )
