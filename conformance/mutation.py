"""Ask mutants of the stores' code, a seeded sample of them, whether any test notices.

mutmut changes one thing at a time in the code that ``pyproject.toml`` names and runs the tests
that reach it. All mutants take days, so each run asks those that match ``--always`` and as many
of the others as ``--sample`` says, with another ``--seed`` others; answers are kept in
``mutants``. What no test noticed is
written as a table, with what was changed: either a test is missing, or the change is none.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

MUTANTS = Path("mutants")
OUTCOMES = {
    None: "not asked",
    0: "survived",
    1: "killed",
    3: "killed",
    33: "reached by no test",
}
"""What mutmut's exit codes say of a mutant; any other is a timeout or a crash."""

AT_ONCE = 200
"""mutmut holds every mutant against every name it is given, and forgets patterns beyond 256."""


def results() -> Iterator[tuple[str, str, str]]:
    """Yield the file and the name of every mutant that mutmut has made, and what became of it."""
    for meta in sorted(MUTANTS.rglob("*.py.meta")):
        file = meta.relative_to(MUTANTS).as_posix().removesuffix(".meta")
        for name, code in json.loads(meta.read_text("utf-8"))["exit_code_by_key"].items():
            yield file, name, OUTCOMES.get(code, "timed out or crashed")


def chosen(names: Iterable[str], always: str, sample: int, seed: int) -> list[str]:
    """Choose at random, but by the seed, from the mutants that are not asked anyhow."""
    others = sorted(name for name in names if not fnmatch.fnmatch(name, always))
    return random.Random(seed).sample(others, min(sample, len(others)))


def table() -> str:
    """Count what became of the mutants, and list those that no test noticed."""
    found = list(results())
    counts = Counter(outcome for _, _, outcome in found)
    total = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
    rows = [_row(file, name) for file, name, outcome in found if outcome == "survived"]
    return "\n".join((f"{len(found)} mutants: {total}.", "", *HEADING, *rows, ""))


HEADING = ("| mutant | line | was | became |", "|-|-|-|-|")


def _row(file: str, name: str) -> str:
    """Return the line in its file, and the lines of the difference that ``mutmut show`` prints."""
    shown = subprocess.run(["mutmut", "show", name], capture_output=True, text=True, check=True)
    diff = [line for line in shown.stdout.splitlines() if line[:3] not in ("---", "+++")]
    was = [line[1:].strip() for line in diff if line.startswith("-")]
    became = [line[1:].strip() for line in diff if line.startswith("+")]
    cells = (_line(file, name, was), _code(was), _code(became))
    return f"| {name} | {' | '.join(cells)} |"


def _line(file: str, name: str, was: Sequence[str]) -> str:
    """Find the changed line below the function's own; a line above, where only one was added."""
    function = name.rpartition(".")[2].rpartition("__mutmut_")[0].split("ǁ")[-1].removeprefix("x_")
    lines = [line.strip() for line in Path(file).read_text("utf-8").splitlines()]
    starts = [i for i, line in enumerate(lines) if f"def {function}(" in line] or [0]
    place = next((i for i in range(starts[0], len(lines)) if lines[i] in was), starts[0])
    return f"{file}:{place + 1}"


def _code(lines: Sequence[str]) -> str:
    return f"`{' '.join(lines)}`".replace("|", "\\|")


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask the mutants and print the table; it fails only where mutmut itself does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--always", default="conformance.fidelity*", metavar="GLOB")
    parser.add_argument("--sample", type=int, default=1000, help="how many of the others to ask")
    parser.add_argument("--seed", type=int, default=0, help="which of the others")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path, help="where the table goes besides the terminal")
    wanted = parser.parse_args(arguments)
    run = ["mutmut", "run", "--max-children", str(wanted.processes)]
    subprocess.run([*run, wanted.always], check=True)
    names = (name for _, name, _ in results())
    sample = chosen(names, wanted.always, wanted.sample, wanted.seed)
    for start in range(0, len(sample), AT_ONCE):
        subprocess.run([*run, *sample[start : start + AT_ONCE]], check=True)
    found = table()
    if wanted.write:
        wanted.write.write_text(found, encoding="utf-8")
    sys.stdout.write(found)


if __name__ == "__main__":
    main()
