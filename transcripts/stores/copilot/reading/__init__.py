"""Copilot CLI's events into messages: the parts of the reader."""
