"""Reading by path or by id, whichever store it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from errno import ENAMETOOLONG
from pathlib import Path

from transcripts.errors import AmbiguousSession, NotATranscript, SessionNotFound
from transcripts.model import AnyMessage, Transcript
from transcripts.stores.base import Store, agents, open_store, store_class, typed_errors


def read_path(path: str | Path, agent: str | None = None, recover: bool = False) -> Transcript:
    """Read a session file or directory whole; ``agent`` None tells the store by its records."""
    path = Path(path).expanduser()
    return _store_of(path, agent).read_path(path, recover=recover)


def iter_path(
    path: str | Path, agent: str | None = None, recover: bool = False
) -> Iterator[AnyMessage]:
    """Yield the messages of a session file or directory, in order."""
    path = Path(path).expanduser()
    return _store_of(path, agent).iter_path(path, recover=recover)


def find_session(
    session_or_path: str, agent: str | None = None, home: Path | None = None
) -> tuple[type[Store], Path]:
    """Return the store and the file that a command's argument means: a path or a session id."""
    path = _path_of(session_or_path)
    if path is not None:
        return _store_of(path, agent), path
    found = [
        (type(store), file)
        for store in (open_store(name, home) for name in ([agent] if agent else agents()))
        if (file := _found(store, session_or_path)) is not None
    ]
    if not found:
        raise SessionNotFound(
            f"no session {session_or_path!r} and no such path",
            next_step="`transcripts list` shows the sessions; --home says under which home to look",
        )
    if len(found) > 1:
        names = " and ".join(store.agent for store, _ in found)
        raise AmbiguousSession(
            f"session {session_or_path!r} exists in {names}", next_step="name one with --agent"
        )
    return found[0]


def _path_of(session_or_path: str) -> Path | None:
    """Return the path that exists under these words, or None: an id may be no path at all."""
    try:
        path = Path(session_or_path).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _found(store: Store, session_id: str) -> Path | None:
    with typed_errors(store.root):
        try:
            return store.find(session_id)
        except OSError as error:
            if error.errno == ENAMETOOLONG:
                return None
            raise


def _store_of(path: Path, agent: str | None) -> type[Store]:
    if not path.exists():
        raise NotATranscript("there is no such file or directory", path=path)
    if not (path.is_file() or path.is_dir()):
        raise NotATranscript("neither a regular file nor a directory", path=path)
    if agent is not None:
        return store_class(agent)
    for name in agents():
        store = store_class(name)
        with typed_errors(path):
            if store.recognises(path):
                return store
    raise NotATranscript(
        "no session of a known agent", path=path, next_step="name the agent with --agent"
    )
