"""The wheel, asked from where it is installed: is it small, does it find its data and its suite?

Run by ``tox -e wheel``, which names the wheel, in an environment that has the wheel and what its
extra ``suite`` needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import conformance
from conformance.corpus import cases, find_corpus, find_schemas, releases
from conformance.formats.snapshots import kept_releases

LARGEST = 20 * 1024 * 1024
AGENTS = ("claude", "codex", "copilot")


def main(wheel: Path) -> None:
    size = wheel.stat().st_size
    assert size <= LARGEST, f"{wheel.name} has {size} bytes, more than {LARGEST}"
    checkout = Path(__file__).parent.parent.parent
    corpus, schemas = find_corpus(), find_schemas()
    for place in (Path(conformance.__file__), corpus, schemas):
        assert not place.is_relative_to(checkout) or ".tox" in place.parts, place
    for agent in AGENTS:
        newest = releases(corpus, agent)[-1]
        assert newest in kept_releases(schemas, agent), f"no schemas of {agent} {newest}"
        home = next(cases(corpus, agent, newest)).home
        asked = ["schema", str(home), "--agent", agent, "--strict"]
        command = Path(sys.executable).with_name("conformance")
        subprocess.run([command, *asked], check=True)
    check_as_a_stranger()
    print(f"{wheel.name}: {size} bytes, {sum(1 for _ in cases(corpus))} cases")


def check_as_a_stranger() -> None:
    """Have an adapter checked by the installed suite, found by its entry point alone."""
    asked = ["--pyargs", "conformance.suite", "--adapter", "entry:codex", "--only", "damage.*"]
    with TemporaryDirectory() as elsewhere:
        # Above this directory is no configuration of ours.
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *asked],
            cwd=elsewhere,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, " passed in " in ran.stdout) == (0, True), ran.stdout


main(Path(os.environ["TOX_PACKAGE"]))
