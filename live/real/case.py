"""A live check put to a real model: what it is asked to do, and what must be known of it elsewhere.

A real model follows no script. It is asked in words for what a check's script does; what it then
did is told from the files that it left, and whether the next one knows of it from values that
stand in no file any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml

from live.checks import CheckError
from live.checks import names as _names
from live.checks import selected as _selected
from live.checks.going_on import Edits

_CASES = Path(__file__).parent / "cases"


class RealCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check, the same for every source and target.

    ``asks`` is what the source is asked, in a workspace with ``workspace`` and the executable
    ``programs``, the only ones that may be run. A real model needs about ``calls`` calls for it.
    Whether it was done is told by ``done``, what files then hold, and by ``kinds``, messages that
    the conversation must have. ``starts`` is how often the source is started afterwards.

    ``then`` is asked of whom the session was moved to, in a workspace that is empty; its answer
    must name each of ``knows``. With ``edits`` the source is killed as soon as two of their files
    are done, they stay in the workspace, and the answer does not matter: the files do.

    ``cannot`` says why a check can't be put to a person's own CLIs.
    """

    name: str
    title: str
    cannot: str = ""
    workspace: dict[str, str] = {}
    programs: dict[str, str] = {}
    asks: str = ""
    calls: int = 0
    done: dict[str, tuple[str, ...]] = {}
    kinds: tuple[str, ...] = ()
    starts: int = 0
    edits: Edits | None = None
    then: str = ""
    knows: tuple[str, ...] = ()


def names() -> tuple[str, ...]:
    """Return the names of all checks, in the order of their numbers."""
    return _names(_CASES)


def selected(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the checks that are meant, as :func:`live.checks.selected` does."""
    return _selected(wanted, _CASES)


def load(name: str) -> RealCase:
    """Load a check by name; :class:`CheckError` says what is wrong with one that is bad."""
    path = _CASES / f"{name}.yaml"
    if not path.is_file():
        raise CheckError(f"no live check {name!r}: use one of {', '.join(names())}")
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    try:
        case = msgspec.convert({"name": name, **document}, RealCase)
    except (TypeError, msgspec.ValidationError) as error:
        raise CheckError(f"{path.name}: {error}") from error
    judged = bool(case.knows) or case.edits is not None
    if bool(case.cannot) == bool(case.asks and case.then and judged):
        raise CheckError(f"{path.name}: say either what is asked and known, or why that can't be")
    return case
