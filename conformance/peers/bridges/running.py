"""A tool's own command, run in a home of its own: what it prints, and its failures as failures.

``borrowed`` lends a home in which a store is where the tool looks for it, without the tool being
able to write beside it: its index, its settings and its cache stay in the borrowed home.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wire import Failure, Stage

DIRECTORIES = {"claude": ".claude", "codex": ".codex", "copilot": ".copilot"}
_SECONDS = 120
_SAID = 500


@contextmanager
def borrowed(stores: Mapping[str, str]) -> Generator[Path, None, None]:
    """Lend a home that has each agent's store of the home that is named for it."""
    with tempfile.TemporaryDirectory(prefix="peer-") as place:
        home = Path(place)
        for agent, owner in stores.items():
            name = DIRECTORIES[agent]
            (Path(owner) / name).mkdir(parents=True, exist_ok=True)
            (home / name).symlink_to(Path(owner).resolve() / name)
        yield home


def run(
    command: Sequence[str],
    home: Path,
    stage: Stage = "read",
    *,
    cwd: Path | None = None,
    **variables: str,
) -> str:
    """Run a command of the tool and return what it printed; it must end with 0."""
    environment = {**os.environ, "HOME": str(home), "NO_COLOR": "1", **variables}
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env=environment,
            cwd=cwd or home,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Failure(stage, f"{command[0]}: {error}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-_SAID:]
        raise Failure(stage, f"it ended with exit code {done.returncode}: {said}")
    return done.stdout
