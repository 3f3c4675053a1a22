"""How a release resumes, defect by defect: the shape of ``resume.json``."""

from __future__ import annotations

from typing import Literal

import msgspec

FORMAT = 1

Effect = Literal["full", "partial", "refused", "silent", "hang"]
"""``full``: all that the file holds reached the model; ``partial``: some did, without a word;
``refused``: nothing was asked, and the CLI said why; ``silent``: nothing of the conversation was
asked, and no word; ``hang``: it did not come to an end."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a release did with one file.

    ``reached`` and ``missing`` name the parts of the conversation that its request held and
    those that the file holds besides; ``answered`` says that the CLI made up a result for the
    call. ``said`` is where it said something when it went wrong: its words are its own.
    """

    defect: str
    what: str
    effect: Effect
    returncode: int | None
    reached: tuple[str, ...]
    missing: tuple[str, ...]
    answered: bool = False
    said: Literal["stderr", "stdout", "log"] | None = None


class ResumeRules(msgspec.Struct, frozen=True, kw_only=True):
    """``resume.json``: how a release resumes, defect by defect."""

    format: int
    agent: str
    release: str
    dialect: str | None
    integrity: str
    parts: tuple[str, ...]
    defects: tuple[Measured, ...]
