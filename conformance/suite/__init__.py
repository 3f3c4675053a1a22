"""The checks as pytest tests, for any writer of sessions.

``pytest -p conformance.suite.plugin --pyargs conformance.suite`` asks the reference stores;
``--adapter`` names another writer, or a ``conftest.py`` that overrides the fixture ``mover``
beside a test file that says ``from conformance.suite.test_live import *``.
"""
