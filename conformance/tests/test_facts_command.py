"""``transcripts facts``, run as people run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from conformance.corpus import find_corpus, load_case
from transcripts.cli import transcripts

SCHEMAS = Path(__file__).parents[1] / "schemas"
CORPUS = find_corpus()
NEWEST = ("claude/2.1.332", "codex/0.171.0", "copilot/1.0.102")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(transcripts, ["facts", *arguments], env={"COLUMNS": "80"})


def checked(result: Result, schema: str) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    jsonschema.validate(document, json.loads((SCHEMAS / f"{schema}.schema.json").read_text()))
    return document


@pytest.mark.parametrize("where", NEWEST)
def test_a_sheet_is_of_its_shape_and_each_fact_is_a_value_or_none_with_its_reason(
    where: str,
) -> None:
    case = load_case(CORPUS / where / "subagent", CORPUS)
    path = case.home / case.facts.session_path
    document = checked(run(str(path), "--format", "json"), "facts")
    ids = {one["id"] for one in messages(path)}
    sheets = [document["facts"], *(child["facts"] for child in document["subagents"])]
    assert len(sheets) == 2
    for facts in sheets:
        for name, fact in facts.items():
            assert (fact["value"] is None) == (fact["unavailable"] is not None), name
            assert set(fact["evidence"]) <= ids, name


def messages(path: Path) -> list[dict[str, Any]]:
    shown = CliRunner().invoke(transcripts, ["show", str(path), "--format", "json"])
    return json.loads(shown.output)["messages"]


@pytest.mark.parametrize("where", NEWEST)
def test_a_fork_is_counted_once_among_all_sessions(where: str) -> None:
    home = CORPUS / where / "fork" / "home"
    document = checked(run("--store", "--home", str(home), "--format", "json"), "facts-store")
    facts = document["facts"]
    truth = json.loads((CORPUS / where / "fork" / "truth.json").read_text(encoding="utf-8"))
    prompts = [one["text"] for one in truth["messages"] if one["author"] == "human"]
    responses = {one["response"] for one in truth["messages"] if one["response"]}
    assert document["sessions"] == 2
    assert sorted(one["text"] for one in facts["human_turns"]["value"]) == sorted(prompts)
    assert facts["token_sum"]["value"]["total"] == 150 * len(responses)
    assert facts["token_total"]["value"] is None


def test_a_sheet_for_people_fits_eighty_columns_and_says_what_is_not_known() -> None:
    case = load_case(CORPUS / "claude" / "2.1.197" / "two-turns", CORPUS)
    shown = run(str(case.home / case.facts.session_path))
    assert shown.exit_code == 0
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "unknown: claude 2.1.197 recorded no total" in shown.output


@pytest.mark.parametrize("arguments", [(), ("some-session", "--store")])
def test_either_a_session_or_the_store_is_asked_for(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2
