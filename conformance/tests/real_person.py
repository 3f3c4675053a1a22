"""A person with CLIs of their own on the PATH, whose providers are scripted models on loopback.

What a login is to a real person, an address and a placeholder key are to this one. All else is as
it is there: the installed CLIs, found on the PATH, in one home, in the person's environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from live.agents.base import find_driver
from live.composing import play, steps
from live.model.log import Exchange
from live.model.process import ScriptedModel
from live.model.script import Scenario
from live.releases import install
from live.sandbox import PORT, Sandbox

_HERE = "."
"""The workspace as calls name it: nobody knows beforehand which one is made."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Their home, their environment, and the models behind their CLIs."""

    home: Path
    environment: Mapping[str, str]
    network: Sequence[str]
    models: Mapping[str, ScriptedModel]

    def runs(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``conformance live --real`` as the person does, with further variables set."""
        command = (sys.executable, "-c", "from conformance.cli import main; main()")
        return subprocess.run(
            [*self.network, *command, "live", "--real", *arguments],
            env={**self.environment, **variables},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )

    def asked(self, agent: str) -> Sequence[Exchange]:
        """Return what an agent's model was asked by the conversation itself."""
        return [one for one in self.models[agent].exchanges() if one.kind == "turn"]


@contextmanager
def person(
    scratch: Path, scripts: Mapping[str, tuple[str, Scenario]]
) -> Generator[Person, None, None]:
    """Set a person up with a release of each agent, whose model follows a script."""
    drivers = {agent: find_driver(agent, release) for agent, (release, _) in scripts.items()}
    there = {
        agent: install(agent, driver.package, driver.version) for agent, driver in drivers.items()
    }
    first = next(iter(there.values()))
    with ExitStack() as stack:
        node = max(driver.node for driver in drivers.values())
        box = stack.enter_context(Sandbox(first.prefix, node_at_least=node))
        paths = [str(one.prefix / "node_modules" / ".bin") for one in there.values()]
        environment = {
            **box.environment(),
            "PATH": os.pathsep.join((*paths, str(box.node.parent), "/usr/bin", "/bin")),
            "HOME": str(box.home),
            "TMPDIR": str(box.tmp),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        models: dict[str, ScriptedModel] = {}
        for number, (agent, driver) in enumerate(drivers.items()):
            scenario = scripts[agent][1]
            scripted = play(steps(scenario, driver, _HERE), driver, scenario)
            port = PORT + number if box.sealed else 0
            model = ScriptedModel(scripted, scratch / f"{agent}.log", port, prefix=box.network)
            models[agent] = stack.enter_context(model)
            driver.prepare(box.home, str(box.workspace), model.port, None)
            environment |= driver.environment(str(box.home), model.port)
        yield Person(home=box.home, environment=environment, network=box.network, models=models)
