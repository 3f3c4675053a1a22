"""Rows of a Claude Code session into messages: the parts of the reader."""
