"""What is kept beside the recordings is what the recordings give: schemas, and our readings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion

from conformance.corpus import EXPECTED, Case, case_directories, find_corpus, find_schemas
from conformance.expected import expected_text
from conformance.formats.judging import Judge
from conformance.formats.naming import word
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
from transcripts.stores.base import store_class

RELEASES = recorded_releases(find_corpus())
each_release = pytest.mark.parametrize("release", RELEASES, ids=lambda one: one.directory)


@cache
def _texts(release: Release) -> dict[str, str]:
    return texts(release.agent, RELEASES[release])


def _compare(made: dict[str, str], snapshot: SnapshotAssertion) -> None:
    """Compare all, then show how the first that differs does."""
    kept_text = snapshot.use_extension(BesideTheData)
    wrong = [name for name, text in made.items() if text != kept_text(name=name)]
    for name in wrong:
        assert made[name] == kept_text(name=name), (
            f"{name} and {len(wrong) - 1} more; if the change is meant: conformance schema --update"
        )


@each_release
def test_the_kept_schemas_are_those_of_the_recordings(
    release: Release, snapshot: SnapshotAssertion
) -> None:
    made = {f"schemas/{release.directory}/{name}": text for name, text in _texts(release).items()}
    _compare(made, snapshot)
    over = {path.name for path in kept_files(find_schemas() / release.directory)} - {
        *_texts(release)
    }
    assert over == set(), "conformance schema --update removes what is of nothing recorded"


@each_release
def test_the_kept_readings_are_those_of_our_reader(
    release: Release, snapshot: SnapshotAssertion
) -> None:
    found = RELEASES[release]
    made = {f"corpus/{case.name}/expected.json": expected_text(case) for case in found}
    _compare(made, snapshot)


def test_no_snapshot_is_of_a_release_or_a_case_that_is_not_recorded() -> None:
    places = {release.directory for release in RELEASES}
    directories = (path for path in find_schemas().glob("*/*") if any(kept_files(path)))
    kept_places = {path.relative_to(find_schemas()).as_posix() for path in directories}
    readings = {path.parent for path in find_corpus().glob(f"*/*/*/{EXPECTED}")}
    assert kept_places - places == set(), "conformance schema --update removes them"
    assert readings - set(case_directories(find_corpus())) == set()


@each_release
def test_every_record_agrees_with_its_own_release(release: Release) -> None:
    """Leniently and strictly, by a validator that knows nothing of how the schemas were made."""
    judge = Judge(release.agent, [find_schemas() / release.directory])
    wrong: set[Any] = set()
    for case in RELEASES[release]:
        for record in records_of(case):
            wrong |= {
                (case.name, record.kind, *one) for one in judge.judge(record.kind, record.value)
            }
    assert wrong == set()


@each_release
def test_every_schema_is_one(release: Release) -> None:
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


def _unknown(case: Case) -> list[str]:
    transcript = read_case(case, store_class(case.facts.agent))
    return [f"{case.name}: {one.record}" for one in transcript.unread if not one.known]


@each_release
def test_no_record_is_of_a_kind_that_the_reader_does_not_know(release: Release) -> None:
    assert [name for case in RELEASES[release] for name in _unknown(case)] == []
