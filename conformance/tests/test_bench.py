"""What is measured is real: sessions of the corpus's shapes, of the sizes that are promised."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import mean, median

import pytest

from conformance.bench.measuring import QUICK, measure_hooks, measure_listing, measure_reading
from conformance.bench.results import Machine, Reading, Results
from conformance.bench.sessions import RELEASES, Generator
from conformance.bench.sizes import histograms
from conformance.bench.table import markdown
from conformance.corpus import find_corpus
from transcripts.stores.base import store_class

AGENTS = sorted(RELEASES)
CORPUS = find_corpus()


def test_the_histograms_have_the_sizes_that_they_promise() -> None:
    chance = random.Random(0)
    small, large = ([kind.draw(chance) for _ in range(50_000)] for kind in histograms().values())
    assert 600 < median(small) < 800
    assert 900 < mean(small) < 1_100
    assert 7_000 < mean(large) < 9_000
    results = sum(size for size in large if size > 10_000)
    assert results > sum(large) / 2


@pytest.mark.parametrize("agent", AGENTS)
def test_a_generated_session_is_read_strictly_without_a_fault(tmp_path: Path, agent: str) -> None:
    kinds: set[str] = set()
    for name, sizes in histograms().items():
        generator = Generator(agent, CORPUS, sizes)
        path = tmp_path / name / generator.session_path
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(generator.lines(1_000_000)))
        transcript = store_class(agent).read_path(path)
        assert transcript.damage == ()
        assert all(one.known for one in transcript.unread)
        kinds |= {type(message).__name__ for message in transcript.messages}
        assert len({message.id for message in transcript.messages}) == len(transcript.messages)
        unresolved = [one for one in transcript.messages if one.status == "unresolved"]
        assert unresolved == []
    assert {"UserMessage", "AgentMessage", "Reasoning", "CommandExecution"} <= kinds


@pytest.mark.parametrize("agent", AGENTS)
def test_records_have_about_the_sizes_of_the_histogram(agent: str) -> None:
    kinds = histograms()
    small = [len(line) for line in Generator(agent, CORPUS, kinds["small"]).lines(4_000_000)]
    assert 500 < median(small) < 900
    assert 850 < mean(small) < 1_250
    large = [len(line) for line in Generator(agent, CORPUS, kinds["large"]).lines(12_000_000)]
    assert 6_000 < mean(large) < 12_000


@pytest.mark.parametrize("agent", AGENTS)
def test_equal_arguments_give_equal_sessions(agent: str) -> None:
    sizes = histograms()["small"]
    first, second = (list(Generator(agent, CORPUS, sizes).lines(100_000, seed=3)) for _ in range(2))
    assert first == second
    assert all(isinstance(json.loads(line), dict) for line in first)
    assert first != list(Generator(agent, CORPUS, sizes).lines(100_000, seed=4))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_listing_reads_little_of_each_session(tmp_path: Path, agent: str) -> None:
    listed = measure_listing(agent, histograms()["small"], CORPUS, tmp_path, QUICK)
    assert listed.sessions == QUICK.listed_sessions
    assert listed.read_bytes_each <= 32 * 1024
    assert not (tmp_path / "many").exists()


def test_a_measurement_says_what_was_read(tmp_path: Path) -> None:
    plan = QUICK._replace(session_bytes={"large": 300_000})
    sizes = histograms()["large"]
    reading = measure_reading("codex", "large", sizes, CORPUS, tmp_path, plan)
    assert reading.file_bytes >= 300_000
    assert reading.messages > 5
    assert reading.whole_ratio > 0 < reading.stream_ratio


def _reading(ratio: float) -> Reading:
    return Reading(
        agent="codex",
        sizes="small",
        file_bytes=20_000_000,
        records=20_000,
        median_record_bytes=700,
        mean_record_bytes=1000,
        messages=5_000,
        bare_cpu_s=0.1,
        whole_ratio=ratio,
        stream_ratio=ratio + 0.5,
        whole_peak_of_file=2.0,
        stream_peak_bytes=40_000_000,
    )


def test_the_page_says_what_is_reached_and_what_is_not() -> None:
    machine = Machine(processor="a processor", python="3.11.0")
    for ratio, said in ((2.9, "3.0×: reached"), (3.1, "3.0×: **not reached**")):
        page = markdown(
            Results(measured_on="2026-01-05", machine=machine, runs=1, readings=(_reading(ratio),))
        )
        assert said in page


def test_a_hook_log_is_counted_as_long_as_it_is_said_to_be(tmp_path: Path) -> None:
    (log,) = measure_hooks("claude", CORPUS, tmp_path, QUICK)
    assert log.events >= QUICK.hook_events[0]
    assert log.ratio > 0
    assert log.peak_bytes > 0
