"""Whether anything broke, which is another question than whether anything changed.

*Reading*: our readers find in a release's recordings what the script says. *Writing*: the release
itself resumes what our writers make of every conversation, and its model is shown it
(:mod:`.resuming`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.corpus import Case
from conformance.matrix import read_case
from conformance.truth import differences
from transcripts.errors import TranscriptError
from transcripts.stores.base import store_class


def misread(cases: Mapping[str, Case]) -> Iterator[str]:
    """Yield what our reader gets wrong in a release's recordings, held against the script."""
    for name, case in sorted(cases.items()):
        try:
            transcript = read_case(case, store_class(case.facts.agent))
        except TranscriptError as error:
            yield f"reading {name}: {error}"
            continue
        except Exception as error:  # a crash of the reader's is what is looked for here
            yield f"reading {name}: the reader crashed: {type(error).__name__}: {error}"
            continue
        for fault in differences(case, transcript):
            yield f"reading {name}: {fault}"
