"""What is kept beside the recordings is what the recordings give: schemas, and our readings.

Everything is asked release by release, and what a release needs is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion

from conformance.corpus import EXPECTED, Case, case_directories, find_corpus, find_schemas
from conformance.expected import expected_text
from conformance.formats.judging import Judge
from conformance.formats.naming import word
from conformance.formats.records import Named
from conformance.formats.snapshots import (
    Release,
    kept,
    kept_files,
    recorded_releases,
    records_of,
    texts,
)
from conformance.matrix import read_case
from conformance.tests.kept import BesideTheData
from transcripts.model import Transcript
from transcripts.stores.base import store_class

RELEASES = recorded_releases(find_corpus())


@pytest.fixture(scope="module", params=RELEASES, ids=lambda one: one.directory)
def release(request: pytest.FixtureRequest) -> Release:
    """Every recorded release, in each dialect; all tests of one come one after the other."""
    return request.param


@lru_cache(maxsize=1)
def _records(found: Release) -> list[tuple[Case, list[Named]]]:
    return [(case, records_of(case)) for case in RELEASES[found]]


@lru_cache(maxsize=1)
def _readings(found: Release) -> list[tuple[Case, Transcript]]:
    store = store_class(found.agent)
    return [(case, read_case(case, store)) for case in RELEASES[found]]


def _compare(made: dict[str, str], snapshot: SnapshotAssertion) -> None:
    """Compare all, then show how the first that differs does."""
    kept_text = snapshot.use_extension(BesideTheData)
    wrong = [name for name, text in made.items() if text != kept_text(name=name)]
    for name in wrong:
        assert made[name] == kept_text(name=name), (
            f"{name} and {len(wrong) - 1} more; if the change is meant: conformance review"
        )


def test_the_kept_schemas_are_those_of_the_recordings(
    release: Release, snapshot: SnapshotAssertion
) -> None:
    made = texts(release.agent, _records(release))
    _compare({f"schemas/{release.directory}/{name}": made[name] for name in made}, snapshot)
    over = {path.name for path in kept_files(find_schemas() / release.directory)} - set(made)
    assert over == set(), "conformance review removes what is of nothing recorded"


def test_every_schema_is_one_and_names_no_data(release: Release) -> None:
    for kind, schema in kept(find_schemas() / release.directory).items():
        Draft202012Validator.check_schema(schema)
        assert schema["x-seen"] > 0, kind
        assert list(_data_keys(schema)) == [], f"{kind}: name the map in conformance/formats/"


def _data_keys(schema: Any) -> Iterator[str]:
    """Yield the fields of a schema that are none: paths, ids, a person's words."""
    if isinstance(schema, dict):
        fields = schema.get("properties", {})
        yield from (key for key in fields if word(key) == "(odd)")
        for one in (*fields.values(), *(schema[key] for key in schema.keys() - {"properties"})):
            yield from _data_keys(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _data_keys(one)


def test_every_record_agrees_with_its_own_release(release: Release) -> None:
    """Leniently and strictly, by a validator that knows nothing of how the schemas were made."""
    judge = Judge(release.agent, [find_schemas() / release.directory])
    wrong: set[Any] = set()
    for case, records in _records(release):
        for record in records:
            found = judge.judge(record.kind, record.value)
            wrong |= {(case.name, record.kind, *one) for one in found}
    assert wrong == set()


def test_a_record_of_any_kind_that_is_not_as_it_was_is_noticed(release: Release) -> None:
    judge = Judge(release.agent, [find_schemas() / release.directory])
    firsts = {
        one.kind: one.value
        for _, records in reversed(_records(release))
        for one in reversed(records)
    }
    for kind, value in firsts.items():
        schema = kept(find_schemas() / release.directory)[kind]
        found = judge.judge(kind, {**value, "zzz": 1})
        assert [(one.what, one.pointer, one.breaks) for one in found] == [
            ("unknown-field", "/zzz", False)
        ], kind
        for key in schema.get("required", ()):
            less = {name: one for name, one in value.items() if name != key}
            found = judge.judge(kind, less)
            assert ("missing-field", f"/{key}", True) in {
                (one.what, one.pointer, one.breaks) for one in found
            }, kind


def test_the_kept_readings_are_those_of_our_reader(
    release: Release, snapshot: SnapshotAssertion
) -> None:
    made = {
        f"corpus/{case.name}/{EXPECTED}": expected_text(transcript)
        for case, transcript in _readings(release)
    }
    _compare(made, snapshot)


def test_no_record_is_of_a_kind_that_the_reader_does_not_know(release: Release) -> None:
    unknown = [
        f"{case.name}: {one.record}"
        for case, transcript in _readings(release)
        for one in transcript.unread
        if not one.known
    ]
    assert unknown == []


def test_no_snapshot_is_of_a_release_or_a_case_that_is_not_recorded() -> None:
    places = {one.directory for one in RELEASES}
    directories = (path for path in find_schemas().glob("*/*") if any(kept_files(path)))
    kept_places = {path.relative_to(find_schemas()).as_posix() for path in directories}
    readings = {path.parent for path in find_corpus().glob(f"*/*/*/{EXPECTED}")}
    assert kept_places - places == set(), "conformance review removes them"
    assert readings - set(case_directories(find_corpus())) == set()
