"""Messages' verdicts gathered into cells: the worst counts, and the smallest case is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from conformance.peers.judging import VERDICTS, Judged, Verdict
from conformance.peers.results import Evidence, Failure, Job, Score
from transcripts.model import KINDS

_PLACES = re.compile(r"/(?:tmp|dev/shm|root|home|work)/[^\s'\",;:)]*")


def portable(words: str) -> str:
    """Return what a tool or a CLI said without where things lay on this machine."""
    return _PLACES.sub("…", words)


class Tally:
    """All messages of one tool, job and store, by kind."""

    def __init__(self, job: Job, agent: str, target: str | None = None) -> None:
        self.job: Job = job
        self.agent = agent
        self.target = target
        self._counts: dict[str, Counter[Verdict]] = {}
        self._strays: Counter[str] = Counter()
        self._fields: dict[str, Counter[str]] = {}
        self._evidence: dict[str, tuple[tuple[int, int, str], Evidence]] = {}
        self._failed: list[tuple[int, str, str]] = []
        self.asked = 0

    def add(self, case: str, size: int, judged: Iterable[Judged]) -> None:
        """Count what became of a case's messages; ``size`` says how small a case it is."""
        self.asked += 1
        for one in judged:
            counts = self._counts.setdefault(one.kind, Counter())
            fields = self._fields.setdefault(one.kind, Counter())
            if one.stray:
                self._strays[one.kind] += 1
            else:
                counts[one.verdict] += 1
            fields.update({wrong.field for wrong in one.wrong} if one.verdict != "lost" else ())
            for wrong in one.wrong[:1]:
                rank = (-VERDICTS.index(one.verdict), size, case)
                evidence = Evidence(
                    case=case, field=wrong.field, expected=wrong.expected, got=portable(wrong.got)
                )
                known = self._evidence.get(one.kind)
                if known is None or rank < known[0]:
                    self._evidence[one.kind] = (rank, evidence)

    def fail(self, case: str, size: int, why: str, messages: Iterable[Judged]) -> None:
        """Count a case to which there was no answer: all its messages are lost."""
        self._failed.append((size, case, why))
        self.add(case, size, messages)

    def scores(self, lacks: Mapping[str, str]) -> list[Score]:
        """Return the cells, in the order of kinds; ``lacks`` says why what is not offered isn't."""
        return [
            self._score(kind.__name__, lacks) for kind in KINDS if kind.__name__ in self._counts
        ]

    def failure(self) -> Failure | None:
        """Return what was not answered, with the smallest case; None if all was."""
        if not self._failed:
            return None
        _, case, why = min(self._failed)
        return Failure(
            job=self.job,
            agent=self.agent,
            target=self.target,
            cases=len(self._failed),
            asked=self.asked,
            case=case,
            why=portable(why),
        )

    def _score(self, kind: str, lacks: Mapping[str, str]) -> Score:
        counts = self._counts[kind]
        found: dict[Verdict, int] = {one: counts[one] for one in VERDICTS if counts[one]}
        offered: list[Verdict] = [verdict for verdict in found if verdict != "not offered"]
        if self._strays[kind]:
            offered.append("degraded")
        worst: Verdict = max(offered, key=VERDICTS.index) if offered else "not offered"
        evidence = self._evidence.get(kind)
        return Score(
            job=self.job,
            agent=self.agent,
            target=self.target,
            kind=kind,
            verdict=worst,
            counts=found,
            strays=self._strays[kind],
            fields=dict(sorted(self._fields[kind].items())),
            evidence=evidence[1] if evidence and worst not in ("exact", "not offered") else None,
            why=(lacks.get(kind) or lacks.get("thread", "")) if worst == "not offered" else "",
        )
