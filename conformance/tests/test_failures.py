"""Where providers gave up: found by record only, classified, survived or not, cut at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from conformance import corpus
from conformance.corpus import Case
from conformance.tests.claude_rows import Rows, save
from conformance.tests.claude_rows import says as block
from conformance.tests.copilot_events import Events
from conformance.tests.talks import asks, fails, injects, notes, runs, says, talk, talks
from transcripts.errors import NoSuchFailure
from transcripts.handoff.failures import (
    FailureReport,
    choose_failure,
    cut_before,
    find_failures,
    report_failures,
)
from transcripts.model import CompactBoundary, Error, Superseded, Transcript
from transcripts.reading import read_path
from transcripts.stores import open_store

CASES = [
    case
    for case in corpus.cases(corpus.find_corpus())
    if any(message["kind"] == "Error" for message in case.truth.messages)
]

RECORD_NONE = {"0.20.0", "0.45.0", "0.77.0", "0.92.0", "0.110.0", "0.130.0", "0.140.0"}
"""Releases of Codex that end a failed turn without a word."""

KINDS = {
    "failure-auth": "Auth",
    "failure-context": "MaxTokens",
    "failure-cut-stream": "ApiError",
    "failure-overloaded": "Overloaded",
    "failure-rate-limit": "RateLimited",
    "failure-recovered": "Overloaded",
    "failure-server": "ApiError",
    "failure-usage-limit": "RateLimited",
    "subagent-fails": "ApiError",
}
"""What each script lets the provider refuse with."""

ONLY_THE_SENTENCE = {("codex", "failure-cut-stream"), ("copilot", "failure-cut-stream")} | {
    ("copilot 1.0.102", "failure-context")
}
"""Where the record names no kind but in a sentence, of which a recording keeps only its length."""


def told(case: Case) -> list[dict[str, Any]]:
    """Return the failures that the script caused and that the release keeps, from the truth."""
    agent, release = case.facts.agent, case.facts.release
    if agent == "codex" and release in RECORD_NONE:
        return []
    if case.facts.scenario.startswith("failure-recovered") and release != "2.1.332":
        return []
    gone: dict[int, set[str]] = {}
    for one in case.facts.unrecorded:
        fields = ("text", "status_code") if one.fields is None else one.fields
        gone.setdefault(one.message, set()).update(fields)
    messages = case.truth.messages
    found: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        if message["kind"] != "Error":
            continue
        # A truth tells thread after thread: the main one goes on after the call of the other.
        main = message["thread"] is None
        since = index if main else [one["kind"] for one in messages].index("SubAgent")
        later = [
            one
            for one in messages[since + 1 :]
            if one["kind"] == "AgentMessage" and one["thread"] is None
        ]
        names = {"text", "status_code"} - gone.get(index, set())
        values = {name: message[name] for name in names & {*message}}
        found.append(values | {"recovered": bool(later), "main": main})
    return found


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def recorded(request: pytest.FixtureRequest) -> Iterator[tuple[Case, FailureReport]]:
    case: Case = request.param
    with corpus.opened(case) as home:
        transcript = open_store(case.facts.agent, home).read(case.facts.session_id)
        assert transcript is not None
        yield case, report_failures(transcript)


def test_the_failures_of_every_recording_are_those_of_the_script(
    recorded: tuple[Case, FailureReport],
):
    case, report = recorded
    wanted = told(case)
    assert len(report.failures) == len(wanted)
    for failure, values in zip(report.failures, wanted, strict=True):
        # Claude Code tells some in a sentence of its own, with the provider's beside it.
        assert values.get("text", "") in f"{failure.text}\n{failure.raw}"
        if "status_code" in values:
            assert failure.status == values["status_code"]
        assert failure.recovered is values["recovered"]
        assert (failure.agent is None) is values["main"]


def test_a_recorded_failure_is_of_the_kind_that_the_script_caused(
    recorded: tuple[Case, FailureReport],
):
    case, report = recorded
    agent, scenario = case.facts.agent, case.facts.scenario.removesuffix(".code-mode")
    names = {(agent, scenario), (f"{agent} {case.facts.release}", scenario)}
    wanted = "Unknown" if names & ONLY_THE_SENTENCE else KINDS[scenario]
    assert [failure.kind for failure in report.failures] == [wanted] * len(report.failures)
    for failure in report.failures:
        assert (failure.classified_by is None) is (wanted == "Unknown")


def test_where_a_release_keeps_no_failure_the_empty_list_is_said_to_prove_nothing(
    recorded: tuple[Case, FailureReport],
):
    case, report = recorded
    silent = case.facts.agent == "codex" and case.facts.release in RECORD_NONE
    names = [note.note for note in report.notes]
    assert report.knowable is not silent
    assert ("empty_turn" in names) is silent
    assert ("no_failure_records" in names or "release_unknown" in names) is silent
    # That retries leave nothing is a claim about releases: the recordings bear it out.
    if case.facts.scenario.startswith("failure-recovered"):
        assert ("retries_not_recorded" in names) is (report.failures == ())


# ------------------------------------------------------------------ prose is none


def test_sentences_about_failures_are_none(tmp_path: Path):
    rows = Rows()
    rows.user("Why does it say API Error: 401 rate_limit?")
    rows.assistant(block("API Error: 401 because the key is stale. You've hit your session limit."))
    assert find_failures(read_path(save(tmp_path, rows))) == ()
    events = Events()
    events.user("What is session.error?")
    events.answer("session.error: rate_limit 429, overloaded")
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in events.lines))
    assert find_failures(read_path(path)) == ()


def test_one_limit_in_two_wordings_is_classified_by_its_word(tmp_path: Path):
    rows = Rows(version="2.1.197")
    rows.user("fix the 401")
    for words in ("You are going too fast for us", "That's it for today, come back at nine"):
        rows.assistant(
            block(words), model="<synthetic>", isApiErrorMessage=True, error="rate_limit"
        )
        rows.user("continue")
    rows.assistant(block("The log says API Error: 401."))
    failures = find_failures(read_path(save(tmp_path, rows)))
    assert [(one.kind, one.classified_by) for one in failures] == [("RateLimited", "subtype")] * 2
    assert all(one.recovered for one in failures)


def test_a_codex_session_that_fell_silent_is_neither_a_failure_nor_a_success(tmp_path: Path):
    path = tmp_path / "rollout-2026-01-10T10-00-00-11111111-1111-4111-8111-111111111111.jsonl"
    records: list[tuple[str, dict[str, Any]]] = [
        (
            "session_meta",
            {
                "id": "11111111-1111-4111-8111-111111111111",
                "timestamp": "2026-01-10T10:00:00.000Z",
                "cwd": "/srv/mill",
                "originator": "codex_cli",
                "cli_version": "0.110.0",
            },
        ),
        ("event_msg", {"type": "task_started", "turn_id": "a"}),
        (
            "response_item",
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "hello"}],
            },
        ),
        (
            "event_msg",
            {"type": "task_complete", "turn_id": "a", "last_agent_message": None},
        ),
    ]
    lines = [
        {"timestamp": f"2026-01-10T10:00:0{second}.000Z", "type": kind, "payload": payload}
        for second, (kind, payload) in enumerate(records)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = report_failures(read_path(path))
    assert report.failures == ()
    assert not report.knowable
    assert "empty_turn" in [note.note for note in report.notes]


# ------------------------------------------------------------------ classes


def classified(text: str = "", agent: str = "claude", **more: Any) -> tuple[str, str | None]:
    (failure,) = find_failures(talk(asks("?"), fails(text, **more), agent=agent))
    return failure.kind, failure.classified_by


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        # The word comes before the status, the status before the wording.
        ({"failure": "rate_limit", "status_code": 401, "text": "overloaded"}, "RateLimited"),
        ({"failure": "billing_error", "status_code": 400, "text": "429"}, "Auth"),
        (
            {"failure": "unheard_of", "status_code": 529, "raw": {"apiErrorStatus": 529}},
            "Overloaded",
        ),
        ({"failure": None, "status_code": 402, "text": "overloaded"}, "Auth"),
        ({"failure": None, "status_code": 503, "text": "rate limit"}, "ApiError"),
        # A word for many kinds is made narrower only by what it covers.
        ({"failure": "server_error", "status_code": 529}, "Overloaded"),
        ({"failure": "server_error", "status_code": 500, "text": "rate limit"}, "ApiError"),
        ({"failure": "server_error", "raw": {"apiErrorType": "overloaded_error"}}, "Overloaded"),
        ({"failure": "server_error", "raw": {"apiErrorType": "rate_limit_error"}}, "RateLimited"),
        ({"failure": "invalid_request", "status_code": 401}, "ApiError"),
        ({"failure": "invalid_request", "text": "prompt is too long"}, "MaxTokens"),
        ({"failure": "invalid_request", "text": "violates our Usage Policy"}, "Refusal"),
        ({"failure": "invalid_request", "text": "rate limit"}, "ApiError"),
        # The wording is all there is.
        ({"text": "You've hit your session limit · resets 7:40am (UTC)"}, "RateLimited"),
        ({"text": "You've hit your 5-hour limit"}, "RateLimited"),
        ({"text": "Not logged in · Please run /login"}, "Auth"),
        ({"text": "API Error: Unable to connect to API (ConnectionRefused)"}, "ApiError"),
        (
            {
                "text": "API Error: Server is temporarily limiting requests "
                "(not your usage limit) · Rate limited"
            },
            "RateLimited",
        ),
        ({"text": "reached max turns"}, "MaxTurns"),
        ({"text": "request req_4290529401 went astray"}, "Unknown"),
        ({"text": ""}, "Unknown"),
    ],
)
def test_why_a_turn_was_refused(error: dict[str, Any], kind: str):
    assert classified(**error)[0] == kind


def test_what_decided_is_said():
    assert classified(failure="rate_limit") == ("RateLimited", "subtype")
    stated: dict[str, Any] = {"status_code": 429, "raw": {"apiErrorStatus": 429}}
    assert classified(**stated) == ("RateLimited", "status")
    # A status that the reader found in the sentence is the sentence's.
    assert classified("API Error: 429", status_code=429) == ("RateLimited", "wording")
    assert classified("hm", status_code=429, agent="copilot") == ("RateLimited", "status")
    assert classified("hm") == ("Unknown", None)
    # A status that only says the same again decides nothing.
    failed = {"apiErrorStatus": 500}
    assert classified(failure="server_error", status_code=500, raw=failed)[1] == "subtype"
    connection: dict[str, Any] = {
        "failure": "http_connection_failed",
        "status_code": 401,
        "agent": "codex",
    }
    told_raw = {"http_connection_failed": {"http_status_code": 401}}
    assert classified(**connection, raw=told_raw) == ("Auth", "status")


# ------------------------------------------------------------------ survived, once each


def test_only_words_of_the_agent_say_that_it_went_on():
    def recovered(*after: Any) -> bool:
        (failure,) = find_failures(talk(asks("?"), fails(), *after))
        return failure.recovered

    assert not recovered()
    assert not recovered(asks("continue"), runs("ls"), says("  \n"), injects("Stop hook"))
    assert not recovered(says("No response requested.", author="harness"))
    assert recovered(asks("continue"), says("Right."))
    # What a task's agent says is not the conversation going on; the reverse is.
    assert not recovered(says("Looking.", agent="child"))
    (failure,) = find_failures(talk(asks("?"), fails(agent="child"), says("Nobody found it.")))
    assert failure.recovered


def test_attempts_are_one_failure_and_the_last_decides():
    retry: dict[str, Any] = {"provenance": "retried", "status_code": 529, "raw": {"status": 529}}
    final: dict[str, Any] = {"failure": "authentication_failed", "status_code": 401}
    (failure,) = find_failures(
        talk(asks("?"), fails("busy", **retry), notes("x"), fails("busy", **retry), fails(**final))
    )
    assert (failure.kind, failure.index, len(failure.attempts)) == ("Auth", 4, 2)
    assert not failure.retried
    apart = find_failures(talk(asks("?"), fails(), asks("again?"), fails()))
    assert [one.number for one in apart] == [1, 2]
    one, two = find_failures(talk(asks("?"), fails(turn="a"), fails(turn="b")))
    assert (one.attempts, two.attempts) == ((), ())


def test_an_attempt_that_was_made_again_is_marked():
    (failure,) = find_failures(talk(asks("?"), fails(provenance="retried"), says("Yes.")))
    assert failure.retried
    assert failure.recovered


# ------------------------------------------------------------------ cutting


def survived_and_ended() -> Transcript:
    return talk(
        asks("one"), says("1"), asks("two"), fails(), asks("again"), says("2"), asks("3"), fails()
    )


def test_the_last_failure_that_ended_it_is_cut_at_and_a_survived_one_only_by_number():
    report = report_failures(survived_and_ended())
    assert choose_failure(report).number == 2
    assert choose_failure(report, 1).recovered
    twice = talk(asks("one"), says("1"), asks("two"), fails(), asks("two!"), fails())
    assert choose_failure(report_failures(twice)).number == 2
    below = talk(asks("one"), fails(), fails(agent="child"))
    assert choose_failure(report_failures(below)).agent is None
    with pytest.raises(NoSuchFailure, match=r"no failure 3.*records 2"):
        choose_failure(report, 3)
    with pytest.raises(NoSuchFailure, match="no failure 0"):
        choose_failure(report, 0)


def test_without_a_failure_to_cut_at_the_error_says_why():
    with pytest.raises(NoSuchFailure, match="records no failure;"):
        choose_failure(report_failures(talk(asks("?"), says("Yes."))))
    silent = talk(asks("?"), agent="codex", cli_version="0.92.0")
    with pytest.raises(NoSuchFailure, match="not known to record any"):
        choose_failure(report_failures(silent))
    survived = talk(asks("?"), fails(), says("Yes."))
    with pytest.raises(NoSuchFailure, match=r"went on after every failure.*number"):
        choose_failure(report_failures(survived))


def test_a_cut_drops_the_failure_with_its_attempts_and_keeps_what_is_said_of_the_session():
    transcript = talk(asks("?"), runs("ls"), fails(provenance="retried"), fails(), asks("so?"))
    (failure,) = find_failures(transcript)
    cut = cut_before(transcript, failure)
    assert cut.messages == transcript.messages[:2]
    assert (cut.title, cut.cwd, cut.cli_version) == ("The mill", "/srv/mill", "2.1.332")


def test_what_was_superseded_only_after_the_cut_stands_again():
    whole = talk(asks("a"), says("b"), fails(), says("c"), CompactBoundary(id="", author="harness"))
    boundary = whole.messages[-1].id
    gone = Superseded(id=boundary, why="compaction")
    rewound = Superseded(id=whole.messages[1].id, why="rewind")

    def marked(number: int, by: Superseded) -> Any:
        return msgspec.structs.replace(whole.messages[number], superseded_by=by)

    messages = (marked(0, rewound), marked(1, gone), *whole.messages[2:])
    transcript = Transcript(agent="claude", session_id="s", messages=messages)
    cut = cut_before(transcript, find_failures(transcript)[0])
    assert [one.superseded_by for one in cut.messages] == [rewound, None]


def test_a_failure_of_another_session_is_refused():
    (failure,) = find_failures(talk(asks("?"), asks("?"), fails()))
    with pytest.raises(NoSuchFailure, match="is not the failure"):
        cut_before(talk(asks("?"), fails()), failure)


@given(talks())
def test_a_cut_never_drops_what_came_before(transcript: Transcript):
    failures = find_failures(transcript)
    errors = [one.id for one in transcript.messages if isinstance(one, Error)]
    listed = [one.id for failure in failures for one in (*failure.attempts, failure)]
    assert sorted(listed) == sorted(errors)
    for failure in failures:
        cut = cut_before(transcript, failure)
        assert cut.messages == transcript.messages[: len(cut.messages)]
        first = (*failure.attempts, failure)[0]
        assert transcript.messages[len(cut.messages)].id == first.id
