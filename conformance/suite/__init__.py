"""The checks as pytest tests, for any adapter.

``pytest --pyargs conformance.suite --adapter exec:./my-adapter`` asks everything that
``conformance check`` asks, a test for each question; ``--live`` also has the real CLIs go on with
what the adapter wrote. A store in Python is asked by a class beside its other tests:
:class:`StoreTests`.
"""

from conformance.suite.stores import StoreTests

__all__ = ["StoreTests"]
