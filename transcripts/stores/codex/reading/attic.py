"""Where drafts wait whose messages are not due yet: on the disk, so that memory stays small.

What a record says of an earlier one (a result, a rewind, a compaction) can come at any time, so
no message is told before the last record is seen. Until then a draft keeps only what links it;
its words lie here, and come back by themselves when they are asked for.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, ExitStack
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, NamedTuple


class Attic:
    """A file without a name, made when it is needed and gone with the process."""

    def __init__(self) -> None:
        self._closing = ExitStack()
        self._file: IO[bytes] | None = None
        self._end = 0

    def __enter__(self) -> Attic:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def put(self, data: bytes) -> Stored:
        """Put bytes away."""
        if self._file is None:
            self._file = self._closing.enter_context(_unnamed_file())
        self._file.write(data)
        stored = Stored(self, self._end, len(data))
        self._end += len(data)
        return stored

    def get(self, offset: int, length: int) -> bytes:
        """Return what was put away at a place."""
        assert self._file is not None
        self._file.flush()
        return os.pread(self._file.fileno(), length, offset)


def _unnamed_file() -> AbstractContextManager[IO[bytes]]:
    return TemporaryFile(prefix="transcript-")


class Stored(NamedTuple):
    """What was put away, and where."""

    attic: Attic
    offset: int
    length: int

    @property
    def data(self) -> bytes:
        """The bytes, from the disk."""
        return self.attic.get(self.offset, self.length)
