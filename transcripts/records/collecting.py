"""Python's garbage collector put off while something big is built that is all going to stay.

Reading makes hundreds of thousands of objects and next to no garbage; the collector would go
through all of them again and again, which took as long as the reading itself.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None, None, None]:
    """Put the collector off, and leave it as it was found."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What was built counts as old at once; else the first thing that the collector does
            # is to go through all of it.
            gc.freeze()
            gc.unfreeze()
        gc.enable()
