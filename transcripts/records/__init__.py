"""Bytes to records and back: every record keeps its raw bytes and its place."""

from transcripts.records.base import Record, RecordFile

__all__ = ["Record", "RecordFile"]
