"""Bytes to records and back: every record keeps its raw bytes and its place."""

from transcripts.records.base import Held, Record, RecordFile

__all__ = ["Held", "Record", "RecordFile"]
