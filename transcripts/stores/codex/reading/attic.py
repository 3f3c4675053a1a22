"""Where drafts wait whose messages are not due yet: on the disk, so that memory stays small.

What a record says of an earlier one (a result, a rewind, a compaction) can come at any time, so
no message is told before the last record is seen. Until then a draft keeps only what links it;
the rest lies here, packed together with that of its neighbours.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, TypeVar

T = TypeVar("T")


class Attic:
    """A file without a name, made when it is needed and gone with the process."""

    def __init__(self) -> None:
        self._closing = ExitStack()
        self._file: IO[bytes] | None = None
        self._end = 0
        self._opened: tuple[Any, Any] = (None, None)

    def __enter__(self) -> Attic:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def put(self, data: bytes) -> int:
        """Put bytes away, and return where."""
        if self._file is None:
            self._file = self._closing.enter_context(_unnamed_file())
        self._file.write(data)
        offset, self._end = self._end, self._end + len(data)
        return offset

    def opened(self, key: object, unpack: Callable[[], T]) -> T:
        """Return what is unpacked of something here; what was asked for last stays at hand."""
        if self._opened[0] is not key:
            self._opened = key, unpack()
        return self._opened[1]

    def get(self, offset: int, length: int) -> bytes:
        """Return what was put away at a place."""
        assert self._file is not None
        self._file.flush()
        return os.pread(self._file.fileno(), length, offset)


def _unnamed_file() -> AbstractContextManager[IO[bytes]]:
    return TemporaryFile(prefix="transcript-")
