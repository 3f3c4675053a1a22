"""Record one hook event: read the payload, append one row to the log, and stay out of the way.

A harness runs this file by itself, once an event, and waits for it. So it imports nothing
of this project and of the standard library only what starts at once; it prints nothing,
since harnesses act on what hooks print; it gives up waiting before anybody notices; and it
ends with 0 whatever happens, since other codes stop the agent's work.

    python -I -S capture.py LOG [EVENT]

A row is ``{"observed_at", "event", "payload"}``. The payload is the harness's own JSON text,
byte for byte but for line breaks between its tokens: reading and writing it anew would
change numbers and repeated keys. A payload in UTF-16 or UTF-32 is written as UTF-8, and
``encoding`` says so. What is not one whole JSON object is never stored as text, only by
length and digest: ``{"observed_at", "event", "fault", "bytes", "sha256", "why"}``.

The log is the user's own: a file of mode 0600, reached through no link, or nothing is written.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENCE = 2.0
"""Seconds that a harness may let pass without writing anything."""
PAUSE = 0.1
"""Seconds of silence after which a whole payload is the payload, though stdin stays open."""
LONGEST = 5.0
"""Seconds after which reading ends in any case."""
LOCKED = 0.25
"""Seconds to wait for others who append; then the row is appended all the same."""
LARGEST = 64 * 1024 * 1024
"""Bytes of a payload that are held; a longer one is a fault."""

_READ = 1 << 16
_SPACE = b" \t\r\n"
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),  # before UTF-16, whose mark it begins with
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE = (
    ((True, False, False, False), "utf-32-le"),
    ((False, False, False, True), "utf-32-be"),
    ((True, False), "utf-16-le"),
    ((False, True), "utf-16-be"),
)
"""Where the first characters of JSON, all ASCII, have bytes that are not zero."""


class Unreadable(Exception):
    """The payload is not one whole JSON object; the message says why, without quoting it."""


class Input:
    """Standard input, read beside the main thread, so that nothing can hold that one up."""

    def __init__(self) -> None:
        self.stopping = False
        self._chunks: list[bytes] = []
        self._size = 0
        self._ended = False
        self._news = allocate_lock()
        self._news.acquire()

    def stop(self, *_: object) -> None:
        """End the reading: a signal handler."""
        self.stopping = True
        self._wake()

    def read(self) -> tuple[bytes, str | None]:
        """Return what came, and why it may not be all, if its end was not seen."""
        start_new_thread(self._drain, ())
        deadline = time.monotonic() + LONGEST
        patience, tried = SILENCE, -1
        while True:
            left = deadline - time.monotonic()
            told = self._news.acquire(timeout=max(0.0, min(patience, left)))
            if self._ended:
                return self._held(), None
            if self.stopping:
                return self._held(), "the recorder was told to stop while it was read"
            if self._size > LARGEST:
                return self._held(), f"it is longer than {LARGEST} bytes, of which these are"
            if told:
                patience = PAUSE if self._may_be_whole() else SILENCE
                continue
            if patience == PAUSE and tried != self._size:
                tried, patience = self._size, SILENCE
                if is_whole(self._held()):
                    return self._held(), None
                continue
            return self._held(), "standard input was not closed in time"

    def _drain(self) -> None:
        try:
            while self._size <= LARGEST:
                chunk = os.read(0, _READ)
                if not chunk:
                    break
                self._chunks.append(chunk)
                self._size += len(chunk)
                self._wake()
        except OSError:  # closed from the start, or a directory: there is no payload
            pass
        self._ended = self._size <= LARGEST
        self._wake()

    def _held(self) -> bytes:
        return b"".join(self._chunks)

    def _may_be_whole(self) -> bool:
        return self._chunks[-1][-64:].rstrip(_SPACE + b"\0").endswith(b"}")

    def _wake(self) -> None:
        try:  # noqa: SIM105 - contextlib takes its time to start
            self._news.release()
        except RuntimeError:  # the main thread has not yet listened to the last news
            pass


def is_whole(data: bytes) -> bool:
    """Whether the bytes are one JSON object."""
    try:
        payload_text(data)
    except Unreadable:
        return False
    return True


def payload_text(data: bytes) -> tuple[str, str | None]:
    """Return a payload as JSON text on one line, and its encoding if that is not UTF-8.

    Raises Unreadable for what is not one JSON object in an encoding that is beyond doubt.
    """
    encoding, skipped = encoding_of(data)
    try:
        text = data[skipped:].decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"not {encoding}: {error.reason} at byte {skipped + error.start}"
        raise Unreadable(reason) from None
    check_object(text)
    # JSON allows no line break inside a string, so each one stands between two tokens.
    line = text.replace("\n", " ").replace("\r", " ").strip(" \t")
    return line, None if encoding == "utf-8" else encoding


def encoding_of(data: bytes) -> tuple[str, int]:
    """Return the encoding that the first bytes of JSON show, and the length of its mark."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    for pattern, encoding in _WIDE:
        if tuple(byte != 0 for byte in data[: len(pattern)]) == pattern:
            return encoding, 0
    return "utf-8", 0


def check_object(text: str) -> None:
    """Raise Unreadable unless the text is one JSON object and nothing more."""
    try:
        value, end = _scan(text, len(text) - len(text.lstrip(" \t\r\n")))
    except Exception:  # some releases fail without a reason: asked again, in full
        _check_slowly(text)
        return
    if text[end:].strip(" \t\r\n"):
        raise Unreadable(f"something follows the JSON value, at character {end}")
    if not isinstance(value, dict):
        raise Unreadable("it is JSON, but no object")


def _scan(text: str, start: int) -> tuple[Any, int]:
    """Read one JSON value with the part of the reader that needs no other module.

    The whole of ``json`` doubles the time to start.
    """
    from _json import make_scanner  # noqa: PLC0415

    class Rules:
        strict = True
        object_hook = None
        object_pairs_hook = None
        memo: dict[str, str] = {}  # noqa: RUF012
        # The values are thrown away: the length of a number will do, of any number.
        parse_float = len
        parse_int = len
        parse_constant = staticmethod(_refuse_constant)

    rules: Any = Rules()
    return make_scanner(rules)(text, start)


def _check_slowly(text: str) -> None:
    from json import JSONDecodeError, JSONDecoder  # noqa: PLC0415

    decoder = JSONDecoder(
        parse_float=len,
        parse_int=len,
        parse_constant=_refuse_constant,
    )
    try:
        value = decoder.decode(text)
    except JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    if not isinstance(value, dict):
        raise Unreadable("it is JSON, but no object")


def _refuse_constant(name: str) -> Any:
    raise Unreadable(f"not JSON: {name}")


def row(observed_at: str, event: str | None, data: bytes, unfinished: str | None) -> bytes:
    """Return the line of the log that says what came, with its line end."""
    head = f'{{"observed_at": "{observed_at}", "event": {_quoted(event)}, '
    try:
        if unfinished is not None:
            raise Unreadable(unfinished)
        text, encoding = payload_text(data)
    except Unreadable as error:
        fault = _fault(data, str(error), unfinished)
        return f"{head}{fault}}}\n".encode("ascii")
    note = f', "encoding": {_quoted(encoding)}' if encoding else ""
    return f'{head}"payload": {text}{note}}}\n'.encode()


def _fault(data: bytes, why: str, unfinished: str | None) -> str:
    from hashlib import sha256  # noqa: PLC0415

    encoding, skipped = encoding_of(data)
    wide = b"\0" if encoding != "utf-8" else b""
    fault = "malformed_payload"
    if not data[skipped:].strip(_SPACE + wide):
        fault = "empty_payload"
        why = "nothing but space came" if data else "nothing came"
        why += f"; {unfinished}" if unfinished else ""
    digest = sha256(data, usedforsecurity=False).hexdigest()
    return f'"fault": "{fault}", "bytes": {len(data)}, "sha256": "{digest}", "why": {_quoted(why)}'


def _quoted(text: str | None) -> str:
    if text is None:
        return "null"
    try:
        from _json import encode_basestring_ascii  # noqa: PLC0415
    except ImportError:
        from json.encoder import encode_basestring_ascii  # noqa: PLC0415
    return encode_basestring_ascii(text)


def append(log: str, line: bytes) -> None:
    """Append a line to the log, if that is a private file of our own. OSError if it isn't.

    One write under a lock; a line that somebody left unfinished is ended first. Where the
    lock is not to be had in time, appending is still one write.
    """
    handle = _opened(log)
    try:
        _check_private(handle)
        _lock(handle)
        size = os.fstat(handle).st_size
        if size and _last_byte(handle, size) != b"\n":
            line = b"\n" + line
        while line:
            line = line[os.write(handle, line) :]
    finally:
        os.close(handle)


def _opened(log: str) -> int:
    directory, name = os.path.split(os.path.abspath(log))  # noqa: PTH100
    os.makedirs(directory, mode=0o700, exist_ok=True)  # noqa: PTH103
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    if os.name == "nt":
        return os.open(log, flags | os.O_BINARY | os.O_NOINHERIT, 0o600)
    # A FIFO must not hold us up, and neither directory nor file may be somebody's link.
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.open(name, flags, 0o600, dir_fd=place)
    finally:
        os.close(place)


def _check_private(handle: int) -> None:
    if os.name == "nt":
        return
    found = os.fstat(handle)
    regular = found.st_mode & 0o170000 == 0o100000
    if not regular or found.st_nlink != 1 or found.st_uid != os.geteuid():
        raise PermissionError("the log is not a file of our own")
    if found.st_mode & 0o077:
        os.fchmod(handle, 0o600)
        if os.fstat(handle).st_mode & 0o077:
            raise PermissionError("the log can't be made private")


def _lock(handle: int) -> None:
    """Wait a moment for the others; on Windows and where locks don't work, not at all."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # noqa: PLC0415
    except ImportError:
        return
    deadline = time.monotonic() + LOCKED
    while time.monotonic() < deadline:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            time.sleep(0.002)
        except OSError:
            return
        else:
            return


def _last_byte(handle: int, size: int) -> bytes:
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


def now() -> str:
    """Return the time in UTC with microseconds, as RFC 3339 has it."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{clock}.{nanoseconds // 1000:06}Z"


def _minded(stop: Any) -> None:
    """Let a signal end the reading instead of the process, and others nothing at all."""
    import _signal  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    _signal.signal(_signal.SIGTERM, stop)
    for name in ("SIGINT", "SIGHUP", "SIGPIPE"):
        if hasattr(_signal, name):
            _signal.signal(getattr(_signal, name), _signal.SIG_IGN)


def main(arguments: list[str]) -> None:
    """Record what comes on standard input; do nothing if no log is named."""
    observed_at = now()
    source = Input()
    _minded(source.stop)
    if not arguments:
        return
    name = os.fsencode("".join(arguments[1:2])).decode("utf-8", "replace")
    data, unfinished = source.read()
    append(arguments[0], row(observed_at, name or None, data, unfinished))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BaseException:
        pass
    finally:
        os._exit(0)  # the reading thread may still wait, and nothing is left to flush
