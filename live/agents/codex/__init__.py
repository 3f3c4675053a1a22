"""Codex, driven: its configuration, its command line and its words for our verbs."""

from __future__ import annotations

from live.agents.codex.driver import CodexDriver

__all__ = ["CodexDriver"]
