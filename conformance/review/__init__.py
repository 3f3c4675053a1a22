"""What waits to be looked at: snapshots that are no longer what the code makes, new recordings.

Everything generated from recordings is compared with what is kept (:mod:`.snapshots`), recordings
made with ``record --pending`` wait beside the corpus (:mod:`.recordings`). What differs is told in
the format's own words first (:mod:`.differences`). Nothing else writes these files.
"""

from conformance.review.pending import Pending, State

__all__ = ["Pending", "State"]
