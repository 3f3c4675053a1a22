"""How hypothesis searches: the same examples each time, unless it is sent to find new ones.

A test that fails once in many runs tells nobody which change broke it. ``--hypothesis-profile
searching`` (tox's environment ``deep``) takes new examples at each run.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.register_profile("searching", derandomize=False, print_blob=True)
settings.load_profile("repeatable")
