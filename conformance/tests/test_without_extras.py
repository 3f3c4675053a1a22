"""What is told to be installed with the package alone runs with the package alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from conformance.generated import ROOT

_NAME = re.compile(r"[\w.-]+")

_REFUSED = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"{{name}} is of an extra", name=name)

sys.meta_path.insert(0, Refused())
from conformance.cli import main
main()
"""


def _of_extras() -> set[str]:
    """Return the top-level modules of everything that only an extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {
        _NAME.findall(one)[0].lower()
        for extra in project["optional-dependencies"].values()
        for one in extra
    }
    return {
        module
        for module, packages in packages_distributions().items()
        if any(package.lower() in wanted for package in packages)
    }


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("check", "entry:codex", "--only", "damage.*"), 0),
        (("drift", "copilot@1.0.102", "--against", "1.0.80"), 1),
    ],
    ids=["check", "drift"],
)
def test_a_command_needs_no_extra(arguments: tuple[str, ...], wanted: int, tmp_path: Path) -> None:
    refused = _of_extras()
    assert {"pyte", "starlette"} <= refused
    ran = subprocess.run(
        [sys.executable, "-c", _REFUSED.format(names=refused), *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    # Two releases differ, which is told by the exit code of a check that fails.
    assert (ran.returncode, "Traceback" in ran.stderr) == (wanted, False), ran.stderr
