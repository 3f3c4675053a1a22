"""The wheel, asked from where it is installed: is it small enough, and does it find its data?

Run by ``tox -e wheel``, which names the wheel, in an environment that has the wheel alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
    print(f"{wheel.name}: {size} bytes, {sum(1 for _ in cases(corpus))} cases")


main(Path(os.environ["TOX_PACKAGE"]))
