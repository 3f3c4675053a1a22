"""What the CLIs' undocumented files were seen to be: observed, kept as JSON Schemas, compared.

Records are named (:mod:`.naming`), gathered from a home (:mod:`.records`), observed pointer by
pointer (:mod:`.observing`), written as one JSON Schema a kind (:mod:`.schema`), kept beside
their release (:mod:`.snapshots`), and any file can be judged by them (:mod:`.judging`).
"""
