"""The build hook that puts the corpus into the wheel: one zip, the same bytes each time.

Named by path in ``pyproject.toml``; it runs inside the build's own environment, before
anything of this project can be imported.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ARCHIVE = "conformance/corpus.zip"
SHIPPED = ("corpus", "schemas")
LARGEST = 20 * 1024 * 1024
_EPOCH = (1980, 1, 1, 0, 0, 0)


class TooLarge(Exception):
    """The corpus has outgrown what a wheel may carry."""


class CorpusHook(BuildHookInterface[Any]):
    """Adds the zipped corpus and schemas to a wheel; an editable install reads the checkout."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the zip and name it for inclusion."""
        if version == "editable":
            return
        self._directory = tempfile.TemporaryDirectory(prefix="corpus-zip-")
        archive = Path(self._directory.name) / "corpus.zip"
        pack(Path(self.root), SHIPPED, archive)
        build_data["force_include"][str(archive)] = ARCHIVE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the zip once the wheel is built."""
        del build_data, artifact_path
        if version != "editable":
            self._directory.cleanup()


def pack(root: Path, names: Sequence[str], archive: Path, *, largest: int = LARGEST) -> None:
    """Zip some directories of a root: sorted, without times, so that equal data is equal bytes."""
    paths = sorted(path for name in names for path in (root / name).rglob("*") if path.is_file())
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in paths:
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, path.read_bytes())
    size = archive.stat().st_size
    if size > largest:
        raise TooLarge(f"the packed corpus has {size} bytes, more than the {largest} of a wheel")
