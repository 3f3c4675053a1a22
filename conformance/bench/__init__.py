"""How fast sessions are read, and in how much memory: measured, never asserted.

``python -m conformance.bench`` (``tox -e bench``) makes sessions of real size from the records
of the corpus, reads them with every store, and prints each figure against bare
``orjson.loads`` over the same lines in the same run. Times differ from machine to machine, so
no test looks at them; ratios of one run are what is quoted.
"""
