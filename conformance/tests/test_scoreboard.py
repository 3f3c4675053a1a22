"""The scoreboard: kept results, and pages that follow from them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from conformance.adapters import open_adapter
from conformance.cli import conformance
from conformance.corpus import find_corpus
from conformance.generated import ROOT
from conformance.peers import find_peer, stored
from conformance.peers.installing import is_installed
from conformance.peers.listing import NotOffered, Offers
from conformance.peers.results import Evidence, Failure, PeerScores, Score, Scoreboard, Speed
from conformance.peers.scoring import Recordings, score_adapter, score_peer
from conformance.peers.totals import expected_totals
from conformance.report.scoreboard.files import pages
from conformance.shapes import schema_of
from transcripts.serialise import to_json

CORPUS = find_corpus()
CASE = "claude/2.1.332/reasoning"


def _tool(name: str) -> PeerScores:
    evidence = Evidence(case=CASE, field="kind", expected='Reasoning "<b>why</b>"', got="nothing")
    score = Score(
        job="read",
        agent="claude",
        kind="Reasoning",
        verdict="lost",
        counts={"exact": 3, "lost": 2},
        evidence=evidence,
    )
    return PeerScores(
        name=name,
        package=name,
        version="1.2.3",
        ecosystem="pypi",
        licence="MIT",
        homepage="https://example.com",
        language="Python",
        about="reads sessions",
        measured_on="2026-01-05",
        offers=("claude.read",),
        not_offered=(NotOffered(what=("exit_code",), why="it has no field for it"),),
        scores=(score,),
        failures=(
            Failure(job="read", agent="claude", cases=1, asked=5, case=CASE, why="it broke"),
        ),
        speed=Speed(does="reads whole", ratio=7.5, cpu_s=1.0, peak_bytes=80_000_000),
    )


def _board(*peers: PeerScores) -> Scoreboard:
    return Scoreboard(
        releases={"claude": "2.1.332"},
        cases={"claude": 5},
        processor="a processor",
        python="3.11.0",
        runs=3,
        session_bytes=20_000_000,
        peers=peers,
    )


def test_the_pages_say_what_is_wrong_and_how_to_see_it() -> None:
    made = pages(Path("docs/scoreboard.json"), _board(_tool("a-tool")))
    markdown = made[Path("docs/scoreboard.md")]
    html = made[Path("docs/scoreboard.html")]
    command = f"conformance scoreboard a-tool --case {CASE}"
    for said in (command, "1.2.3", "7.5×", "80 MB", "it has no field for it", "it broke", "✗ 3/5"):
        assert said in markdown
        assert said in html
    assert '`Reasoning "<b>why</b>"`' in markdown
    assert "<b>why</b>" not in html


def test_a_page_of_nothing_says_so() -> None:
    for text in pages(Path("docs/scoreboard.json"), Scoreboard()).values():
        assert "Nothing was scored yet." in text


def test_what_is_scored_again_takes_the_place_of_what_was_kept() -> None:
    kept = _board(_tool("old"), _tool("gone"), _tool("stays"))
    new = _board(replace(_tool("old"), version="2.0.0"))
    together = stored.added(kept, new, {"old", "stays"})
    assert [(one.name, one.version) for one in together.peers] == [
        ("old", "2.0.0"),
        ("stays", "1.2.3"),
    ]


def test_what_is_kept_is_of_its_shape(tmp_path: Path) -> None:
    board = _board(_tool("a-tool"))
    Draft202012Validator(schema_of("scoreboard")).validate(json.loads(to_json(board)))
    path = tmp_path / "scoreboard.json"
    path.write_text(stored.text(board), encoding="utf-8")
    assert stored.text(stored.load(path)) == stored.text(board)
    path.write_text('{"format": "one"}', encoding="utf-8")
    with pytest.raises(stored.NotStored, match="remove it"):
        stored.load(path)


def test_the_kept_scoreboard_has_what_the_page_promises() -> None:
    board = stored.load(ROOT / "docs" / "scoreboard.json")
    for peer in board.peers:
        for score in peer.scores:
            whole = score.verdict in ("exact", "not offered")
            assert (score.evidence is None) == whole, (peer.name, score.kind)
            if score.evidence is not None:
                assert (CORPUS / score.evidence.case / "case.json").is_file()


def test_tokens_are_known_where_every_request_was_for_an_answer() -> None:
    chosen = {one.facts.scenario: one for one in Recordings(CORPUS).of("claude")}
    # Two prompts, each with a call: four answers, of 120 and 30 each.
    assert expected_totals(chosen["two-turns"]) == {"input": 480, "output": 120}
    assert expected_totals(chosen["subagent"]) is None
    assert expected_totals(chosen["failure-server"]) is None


def test_a_store_of_this_project_is_scored_by_the_same_measure() -> None:
    recordings = Recordings(CORPUS, only={CASE, "claude/2.1.332/command-fails"})
    with open_adapter("entry:claude") as adapter:
        found = score_adapter(
            adapter, {"claude": Offers(read=True)}, lambda _: {}, recordings, None, lambda _: None
        )
    assert {one.kind: one.verdict for one in found.scores} == {
        "UserMessage": "exact",
        "AgentMessage": "exact",
        "Reasoning": "exact",
        "CommandExecution": "exact",
    }
    assert not found.failures


def test_a_tool_that_can_not_be_had_is_listed_with_its_reason() -> None:
    scores = score_peer(find_peer("casr"), Recordings(CORPUS, only={"-"}), None, lambda _: None)
    assert "neither PyPI nor npm" in scores.why
    assert not scores.scores


def test_a_case_that_is_not_there_is_misuse() -> None:
    done = CliRunner().invoke(conformance, ["scoreboard", "--case", CASE])
    assert done.exit_code == 2
    assert "--case wants one PEER" in done.output


@pytest.mark.live
@pytest.mark.extended
def test_a_bridge_gives_what_its_tool_gives() -> None:
    peer = find_peer("hypabolic-trajectory")
    if not is_installed(peer):
        pytest.skip("it is not installed: conformance scoreboard hypabolic-trajectory --install")
    recordings = Recordings(CORPUS, only={CASE, "codex/0.171.0/reasoning"})
    scores = score_peer(peer, recordings, None, lambda _: None)
    verdicts = {(one.agent, one.kind): one.verdict for one in scores.scores}
    assert verdicts["claude", "Reasoning"] == "exact"
    assert verdicts["codex", "Reasoning"] == "lost"
    assert verdicts["codex", "CommandExecution"] == "exact"
