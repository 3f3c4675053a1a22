"""Snapshots that lie beside the data that they are of, written by one command only."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from conformance.corpus import find_corpus

ROOT = find_corpus().parent


class BesideTheData(SingleFileSnapshotExtension):
    """Keeps each snapshot under the path that it is named by, relative to the checkout.

    What is left over is looked for by a test: syrupy knows what a test module owns, and these
    files belong to a release or a case.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "json"

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        del test_location
        return str(ROOT / str(index))

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return f"{test_location.methodname}[{index}]"

    @classmethod
    def matches_test_location(
        cls, *, test_location: PyTestLocation, snapshot_location: str
    ) -> bool:
        del test_location
        return Path(snapshot_location).is_relative_to(ROOT)

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        del test_location, ignore_extensions
        return SnapshotCollections()

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        found = SnapshotCollection(location=snapshot_location)
        found.add(Snapshot(name=snapshot_location))
        return found

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        del snapshot_collection, name_order
        raise pytest.UsageError("snapshots are written by `conformance review` only")
