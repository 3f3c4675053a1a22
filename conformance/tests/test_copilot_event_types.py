"""Every type of event that Copilot CLI writes is known to the reader by its name.

The first list was elicited from the CLI, type by type; the second witness is the schema that
every release ships, read where the release is installed and copied nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import cases, find_corpus
from conformance.tests.copilot_events import Events
from live.agents.base import find_driver
from live.releases import cache_root, install
from live.sandbox import Sandbox
from transcripts.stores.copilot import CopilotStore
from transcripts.stores.copilot.reading.events import BOOKKEEPING, KNOWN

ELICITED = """
    abort assistant.message assistant.turn_end assistant.turn_start hook.end hook.start
    human_response.recorded model.message model.messages_snapshot model.model_call_started
    model.model_call_success model.response model.turn_ended model.turn_started
    permission.completed permission.requested session.binary_asset session.compaction_complete
    session.compaction_start session.context_changed session.error session.info
    session.mode_changed session.mode_notice_delivered session.model_change
    session.permissions_changed session.resume session.shutdown session.start
    session.task_complete session.usage_record session.warning skill.context_delivered_ref
    skill.invoked subagent.completed subagent.configured subagent.failed subagent.selected
    subagent.started system.message system.notification tool.execution_complete
    tool.execution_start tool.user_requested user.message
""".split()  # noqa: SIM905


def unknown(tmp_path: Path, kind: str, **data: Any) -> list[str]:
    """Read a session with one such event in it and return what the reader did not know."""
    events = Events()
    events.user("Is the sluice shut?")
    events.add(kind, **data)
    transcript = CopilotStore.read_path(events.write(tmp_path))
    return [one.record for one in transcript.unread if not one.known]


@pytest.mark.parametrize("kind", ELICITED)
def test_a_type_that_the_cli_was_seen_to_write_is_known(kind: str, tmp_path: Path) -> None:
    assert unknown(tmp_path, kind) == []


def test_a_type_that_nobody_has_seen_is_not_known(tmp_path: Path) -> None:
    assert unknown(tmp_path, "session.sluice_opened") == ["session.sluice_opened"]


def test_what_is_known_and_says_nothing_is_counted_all_the_same(tmp_path: Path) -> None:
    events = Events()
    events.user("Is the sluice shut?")
    for kind in ("hook.start", "hook.end", "hook.end"):
        events.add(kind, hookInvocationId="h1")
    counts = {one.record: one for one in CopilotStore.read_path(events.write(tmp_path)).unread}
    assert {name: (one.count, one.known) for name, one in counts.items()} == {
        "session.start": (1, True),
        "hook.start": (1, True),
        "hook.end": (2, True),
    }


def test_no_recording_holds_a_type_that_is_not_known() -> None:
    found = {
        json.loads(line)["type"]
        for case in cases(find_corpus())
        if case.facts.agent == "copilot"
        for file in case.home.rglob("events.jsonl")
        for line in file.read_bytes().split(b"\n")
        if line
    }
    assert found - KNOWN == set()
    assert found & BOOKKEEPING


# ------------------------------------------------------------------ the vendor's own list


def recorded_releases() -> list[str]:
    found = {case.facts.release for case in cases(find_corpus()) if case.facts.agent == "copilot"}
    return sorted(found, key=lambda version: tuple(map(int, version.split("."))))


@pytest.mark.live
@pytest.mark.timeout(300)
@pytest.mark.parametrize("version", recorded_releases())
def test_every_type_that_a_release_may_write_is_known(version: str) -> None:
    types = set(persisted(json.loads(schema(version).read_bytes())))
    assert {"session.start", "user.message", "tool.execution_complete"} <= types
    assert types - KNOWN == set()


def schema(version: str) -> Path:
    """Return the schema that a release ships; newer ones unpack it as they start."""
    driver = find_driver("copilot", version)
    release = install("copilot", driver.package, version)
    found = list(_shipped(version, release.prefix))
    if not found:
        with Sandbox(release.prefix, node_at_least=driver.node) as box:
            driver.prepare(box.home, box.workspace_inside, 1, None)
            box.run(
                [*driver.executable(release.prefix), "--version"],
                driver.environment(box.home_inside, 1),
                timeout=120,
            )
        found = list(_shipped(version, release.prefix))
    return found[0]


def _shipped(version: str, prefix: Path) -> Iterator[Path]:
    name = "schemas/session-events.schema.json"
    yield from prefix.glob(f"node_modules/@github/copilot*/{name}")
    yield from (cache_root() / "unpacked" / "copilot").glob(f"pkg/*/{version}/{name}")


def persisted(node: Any) -> Iterator[str]:
    """Yield every type of event that a schema does not mark as for the moment only."""
    if isinstance(node, dict):
        fields = node.get("properties")
        if isinstance(fields, dict) and {"type", "timestamp", "data"} <= fields.keys():
            momentary = fields.get("ephemeral", {}).get("const") is True
            if "const" in fields["type"] and not momentary:
                yield fields["type"]["const"]
        for value in node.values():
            yield from persisted(value)
    elif isinstance(node, list):
        for value in node:
            yield from persisted(value)
