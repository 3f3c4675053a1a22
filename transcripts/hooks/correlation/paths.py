"""When two paths name one file: only a path whose shape says so is free of case and slash.

``C:\\W\\A.txt`` and ``c:/w/a.txt`` are one file; ``/w/A.txt`` and ``/w/a.txt`` are two.
"""

from __future__ import annotations

import re

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SHARE = re.compile(r"\\\\[^\\/]")
_CASE_SENSITIVE_SHARE = re.compile(r"\\\\wsl(\$|\.localhost)[\\/]", re.IGNORECASE)


def same_file_key(path: str) -> str:
    """Return what equal paths have in common."""
    path = path.strip()
    if path[:1] == "/":
        # Two slashes begin a POSIX path just as well as a share's.
        return path.rstrip("/") or path
    if _DRIVE.match(path) or _is_share(path):
        return path.replace("/", "\\").rstrip("\\").lower()
    return path.rstrip("/") or path


def _is_share(path: str) -> bool:
    return _SHARE.match(path) is not None and _CASE_SENSITIVE_SHARE.match(path) is None


def name_of(path: str) -> str:
    """Return a path's last part, whichever slash it is written with."""
    parts = re.split(r"[\\/]", path) if _windows(path) else path.split("/")
    return parts[-1]


def parent_of(path: str) -> str | None:
    """Return the name of the directory that a file lies in; None if the path doesn't say."""
    parts = re.split(r"[\\/]", path) if _windows(path) else path.split("/")
    return parts[-2] if len(parts) > 1 and parts[-2] else None


def _windows(path: str) -> bool:
    return bool(_DRIVE.match(path)) or path.startswith("\\\\") or "/" not in path
