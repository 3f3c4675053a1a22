"""What a run is cleaned by: the words that its script brought in, and its agent's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from live.agents.base import Driver
from live.model.script import Scenario, Spawn, calls_of
from live.proof import PROMPT
from live.running import Run
from live.sanitise import (
    Clock,
    Document,
    Provenance,
    Sanitiser,
    hook_words,
    markers,
    rules,
    script_patterns,
    script_strings,
    stored_name,
)
from live.sanitise.documents import dumps


def sanitiser_of(scenario: Scenario, driver: Driver, run: Run) -> Sanitiser:
    """Return what cleans the files of one run."""
    words = script_strings(scenario, run.steps, run.play, driver, run.workspace)
    words |= hook_words(run.registered)
    table = rules(driver.agent, driver.version)
    table = table.with_marks() if run.registered else table
    beside = tuple(
        f'"content":{dumps(call.prompt)}'
        for turn in scenario.turns
        for call in calls_of(turn.responses)
        if isinstance(call, Spawn) and call.background
    )
    return Sanitiser(
        # An agent in the background writes beside the conversation, in no fixed order.
        msgspec.structs.replace(table, apart=(*table.apart, *beside)),
        Provenance({*words, PROMPT}, markers(driver.agent), script_patterns(scenario)),
        Clock(run.started, run.ended),
    )


def session_path(run: Run, driver: Driver, clean: Sequence[Document], sanitiser: Sanitiser) -> str:
    """Return the main session's file, or the directory named after it."""
    session = sanitiser.text(run.session_id, ())
    for document in sorted(clean, key=lambda document: document.path.count("/")):
        if session in document.path.rpartition("/")[2]:
            return stored_name(document)
    for document in clean:
        head, found, _ = document.path.partition(session)
        if found:
            return head + session
    raise RuntimeError(f"no file of {driver.agent} is named after its session")


def asked(row: dict[str, Any], sanitiser: Sanitiser) -> dict[str, Any]:
    """Return what the model was asked, sanitised; how it was judged is in our own words."""
    judged = ("violations", "unjudged")
    said = {name: value for name, value in row.items() if name not in judged}
    cleaned: dict[str, Any] = sanitiser.value(said, ("model",))
    return {name: row[name] if name in judged else cleaned[name] for name in row}
