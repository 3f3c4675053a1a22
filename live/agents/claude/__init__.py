"""Claude Code, driven: ``claude -p`` against the Anthropic wire."""

from live.agents.claude.driver import ClaudeDriver

__all__ = ["ClaudeDriver"]
