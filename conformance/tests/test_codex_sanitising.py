"""Two runs of Codex that differ only by chance leave the same bytes, and keep what they say."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sanitise import Clock, Document, Provenance, Sanitiser, encode, markers, rules
from live.sanitise.renaming import stamps

BEGUN = 1_790_000_000.0
"""2026-09-21T13:33:20Z."""

PROMPT = "Count the sacks in the barn."
REPORT = "Nine sacks, token SACKS-1."


class Chance:
    """What a run of Codex draws and measures: moments, ids that bear them, names, numbers."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._now = BEGUN + self._draw.uniform(0, 5)

    def later(self, least: float = 0.0) -> float:
        self._now += least + self._draw.choice((0.0, 0.0004, 0.003, 0.2, 1.1))
        return self._now

    def uuid(self) -> str:
        self._now += 0.001
        drawn = f"{self._draw.getrandbits(74):019x}"
        ms = f"{round(self._now * 1000):012x}"
        variant = self._draw.choice("89ab")
        return f"{ms[:8]}-{ms[8:]}-7{drawn[:3]}-{variant}{drawn[3:6]}-{drawn[6:18]}"

    def digits(self, low: int, high: int) -> int:
        return self._draw.randint(low, high)

    def name(self) -> str:
        return self._draw.choice(("Hypatia", "Euler", "Ada", "Maxwell the Second"))


def stamp(seconds: float) -> str:
    whole, fraction = divmod(round((seconds - BEGUN) * 1000), 1000)
    return f"2026-09-21T13:{33 + (20 + whole) // 60}:{(20 + whole) % 60:02d}.{fraction:03d}Z"


def rollouts(chance: Chance) -> list[Document]:
    """Make a session with a command and a subagent, as release 0.171.0 records them."""
    began = chance.later()
    session, child, turn = chance.uuid(), chance.uuid(), chance.uuid()
    name, written = chance.name(), chance.later(0.02)
    seconds = f"{chance.digits(0, 2)}.{chance.digits(0, 9999):04d}"
    frame = f"Chunk ID: {chance.digits(0, 0xFFFFFF):06x}\nWall time: {seconds} seconds\n"
    started, finished = chance.later(), chance.later(0.3)
    main = [
        {
            "timestamp": stamp(written),
            "type": "session_meta",
            "payload": {"id": session, "timestamp": stamp(began), "source": "exec"},
        },
        {
            "timestamp": stamp(started),
            "type": "event_msg",
            "payload": {"type": "task_started", "turn_id": turn, "started_at": int(written)},
        },
        {
            "timestamp": stamp(finished),
            "type": "event_msg",
            "payload": {
                "type": "item_completed",
                "item": {
                    "type": "CommandExecution",
                    "process_id": str(chance.digits(9, 99999)),
                    "aggregated_output": "gates: 17\n",
                    "duration": {"secs": chance.digits(0, 2), "nanos": chance.digits(1, 10**9)},
                },
                "started_at_ms": round(written * 1000),
                "completed_at_ms": round(finished * 1000),
            },
        },
        {
            "timestamp": stamp(chance.later()),
            "type": "response_item",
            "payload": {
                "type": "function_call_output",
                "id": f"fco_{chance.uuid()}",
                "output": f"{frame}Process exited with code 0\nOutput:\ngates: 17\n",
            },
        },
        {
            "timestamp": stamp(chance.later()),
            "type": "response_item",
            "payload": {
                "type": "function_call_output",
                "output": json.dumps({"agent_id": child, "nickname": name}, separators=(",", ":")),
            },
        },
        {
            "timestamp": stamp(chance.later()),
            "type": "event_msg",
            "payload": {
                "type": "task_complete",
                "turn_id": turn,
                "started_at": int(written),
                "completed_at": int(finished) + chance.digits(0, 1),
                "duration_ms": chance.digits(100, 9000),
            },
        },
    ]
    beside = [
        {
            "timestamp": stamp(chance.later()),
            "type": "session_meta",
            "payload": {
                "id": child,
                "parent_thread_id": session,
                "thread_source": "subagent",
                "agent_nickname": name,
            },
        },
        {
            "timestamp": stamp(chance.later()),
            "type": "response_item",
            "payload": {"type": "message", "id": f"msg_{chance.uuid()}", "role": "user"},
        },
    ]
    day = stamp(began)[:19].replace(":", "-")
    root = ".codex/sessions/2026/09/21"
    return [
        Document(
            path=f"{root}/rollout-{day}-{id}.jsonl", form="lines", records=tuple(rows), style="\n"
        )
        for id, rows in ((session, main), (child, beside))
    ]


def cleaned(chance: Chance, documents: list[Document] | None = None) -> list[Document]:
    known = Provenance({PROMPT, REPORT, "gates: 17\n"}, markers("codex"))
    sanitiser = Sanitiser(rules("codex"), known, Clock(BEGUN, BEGUN + 60))
    return sanitiser.documents(documents or rollouts(chance))


def written(documents: list[Document]) -> dict[str, bytes]:
    return {document.path: encode(document) for document in documents}


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_chance_leaves_no_trace(one: int, other: int) -> None:
    assert written(cleaned(Chance(one))) == written(cleaned(Chance(other)))


def test_the_day_in_the_path_and_the_time_in_the_name_are_the_first_records() -> None:
    for document in cleaned(Chance(1)):
        assert document.path.startswith(".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-")
        assert document.records[0]["timestamp"].startswith("2026-01-05T10:00:00")


def test_an_agents_name_and_id_stay_one_wherever_they_stand() -> None:
    main, child = sorted(cleaned(Chance(2)), key=lambda document: -len(document.records))
    told = json.loads(main.records[4]["payload"]["output"])
    meta = child.records[0]["payload"]
    assert told == {"agent_id": meta["id"], "nickname": meta["agent_nickname"]}
    assert meta["parent_thread_id"] == main.records[0]["payload"]["id"]
    assert meta["id"] in child.path


def test_what_was_measured_is_constant_and_what_was_put_out_is_not_touched() -> None:
    main = max(cleaned(Chance(3)), key=lambda document: len(document.records))
    item = main.records[2]["payload"]["item"]
    assert item["process_id"].isdecimal()
    assert item["aggregated_output"] == "gates: 17\n"
    assert main.records[3]["payload"]["output"] == (
        "Chunk ID: 000000\nWall time: 0.0000 seconds\nProcess exited with code 0\n"
        "Output:\ngates: 17\n"
    )


FRAMES = (
    ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n", "Wall time: 0 seconds"),
    ("Script completed\nWall time 1.7 seconds\nOutput:\n", "Wall time 0.0 seconds"),
    ('{"output":"","metadata":{"exit_code":0,"duration_seconds":0.1}}', '_seconds":0.0}'),
)


@pytest.mark.parametrize(("text", "holds"), FRAMES)
def test_every_frame_of_a_result_loses_its_time(text: str, holds: str) -> None:
    record = {
        "timestamp": stamp(BEGUN + 1),
        "type": "response_item",
        "payload": {"type": "function_call_output", "output": text},
    }
    document = Document(path="r.jsonl", form="lines", records=(record,), style="\n")
    (clean,) = cleaned(Chance(4), [document])
    assert holds in clean.records[0]["payload"]["output"]


@pytest.mark.parametrize("id", ["1234abcd-0000", "12345678-0000", "0f0f0f0f-0000"])
def test_an_id_behind_a_time_in_a_name_is_no_time_zone(id: str) -> None:
    clock = Clock(BEGUN, BEGUN + 60)
    ((match, seconds),) = stamps(f"rollout-2026-09-21T14-13-20-{id}", clock)
    assert (match[0], seconds) == ("2026-09-21T14-13-20", BEGUN)


def test_an_ellipsis_stays_where_it_counts_what_was_left_out_and_nowhere_in_prose() -> None:
    known = Provenance({"row one", "row nine"}, markers("codex"))
    cleaner = Sanitiser(rules("codex"), known, Clock(BEGUN, BEGUN + 60))
    output, prose = "row one\n…70 tokens truncated…row nine", "Look, think … and then speak."
    assert cleaner.text(output, ("output",)) == output
    assert cleaner.text(prose, ("text",)) == "[elided: text, 32]"
