"""An agent that goes on with a change: what it is shown it leaves alone, the rest it does."""

from __future__ import annotations

from typing import Any

import pytest

from live.agents.base import find_driver
from live.checks import load
from live.checks.going_on import Edits, gone_on_with
from live.composing import play, steps
from live.model.history import Entry
from live.model.routing import Asked, Unscripted, route
from live.model.script import Response, Scenario, Turn

EDITS = Edits(
    files={"a.yaml": "a\nwait: 99\n", "b.yaml": "b\nwait: 99\n"},
    holds="wait: 99",
    marks="# by hand\n",
)
THEN = Scenario(
    name="then",
    revision=1,
    title="then",
    turns=(Turn(prompt="Go on with the rest.", responses=(Response(text="All done."),)),),
)
PROMPT = Entry(role="user", type="text", text="Go on with the rest.")


class Files:
    """A workspace of two files, and a CLI that does what the scripted model asks for."""

    def __init__(self, before: list[Entry], **files: str) -> None:
        driver = find_driver("claude", "2.1.332")
        scenario = gone_on_with(EDITS, THEN)
        self.play = play(steps(scenario, driver, "/srv/project"), driver, scenario)
        self.history = [*before, PROMPT]
        self.files = files

    def run(self) -> list[str]:
        """Follow the answers to the last one; return the ids of the calls that were made."""
        made: list[str] = []
        for _ in range(9):
            answer = route(self.play, Asked(history=self.history, tools=("Bash",))).response
            self.history.append(Entry(role="assistant", type="text", text=answer.text))
            if not answer.calls:
                return made
            for call in answer.calls:
                made.append(call.id.removeprefix("toolu_"))
                self.history.append(
                    Entry(
                        role="assistant",
                        type="call",
                        call_id=call.id,
                        name=call.name,
                        arguments=call.arguments,
                    )
                )
                said = self._do(call.arguments["command"])
                self.history.append(Entry(role="tool", type="result", call_id=call.id, text=said))
        raise AssertionError("it never comes to an end")

    def _do(self, command: str) -> str:
        name = next(path for path in EDITS.files if path in command)
        if command.startswith("cat"):
            return self.files[name]
        self.files[name] = EDITS.files[name]
        return ""


def changed(path: str, text: str | None = "Updated.", *, error: bool | None = None) -> list[Entry]:
    """Return an edit of a file and its result, as any CLI might send it."""
    edit = {"file": f"/srv/project/{path}", "from": "wait: 10", "to": "wait: 99"}
    call = Entry(role="assistant", type="call", call_id=f"e{path}", name="any", arguments=edit)
    if text is None:
        return [call]
    end = Entry(role="tool", type="result", call_id=f"e{path}", text=text, error=error)
    return [call, end]


DONE = "a\nwait: 99\n# by hand\n"
OPEN = "b\nwait: 10\n"


@pytest.mark.parametrize(
    "before",
    [
        changed("a.yaml"),
        [Entry(role="assistant", type="text", text="(edit) a.yaml: wait: 10 is now wait: 99")],
        [Entry(role="user", type="text", text="The agent changed a.yaml, which has wait: 99 now")],
    ],
    ids=["natively", "in prose", "in prose told by the user"],
)
def test_what_is_shown_as_done_is_looked_at_and_left_alone(before: list[Entry]) -> None:
    workspace = Files(before, **{"a.yaml": DONE, "b.yaml": OPEN})
    assert workspace.run() == ["look-1", "write-hidden-2"]
    assert workspace.files == {"a.yaml": DONE, "b.yaml": EDITS.files["b.yaml"]}


@pytest.mark.parametrize(
    "before",
    [
        [],
        changed("a.yaml", None),
        changed("a.yaml", "aborted"),
        changed("a.yaml", "The file could not be written.", error=True),
    ],
    ids=["not at all", "without a result", "with 'aborted'", "with an error"],
)
def test_what_is_not_shown_as_done_is_done_again_and_what_was_added_is_gone(
    before: list[Entry],
) -> None:
    workspace = Files(before, **{"a.yaml": DONE, "b.yaml": OPEN})
    assert workspace.run() == ["write-hidden-1", "write-hidden-2"]
    assert workspace.files == EDITS.files


def test_what_was_shown_as_done_and_is_not_is_done() -> None:
    workspace = Files([*changed("a.yaml"), *changed("b.yaml")], **{"a.yaml": DONE, "b.yaml": OPEN})
    assert workspace.run() == ["look-1", "look-2", "write-refuted-2"]
    assert workspace.files == {"a.yaml": DONE, "b.yaml": EDITS.files["b.yaml"]}


def test_the_scripts_own_words_come_after_the_going_on() -> None:
    first = gone_on_with(EDITS, THEN).turns[0]
    assert first.prompt == "Go on with the rest."
    assert [one.text for one in first.responses][-1] == "All done."
    assert len(first.responses) == 3 * len(EDITS.files) + 1


@pytest.mark.parametrize("name", ["t6", "t6-batch", "t6-midstream"])
def test_a_check_that_is_gone_on_with_writes_what_it_asks_for(name: str) -> None:
    check = load(name)
    edits: Any = check.edits
    assert all(edits.holds in content for content in edits.files.values())
    assert all(edits.holds not in content for content in check.source.workspace.values())
    assert all(edits.marks not in content for content in edits.files.values())
    assert set(edits.files) == set(check.source.workspace)


def test_nothing_is_answered_before_the_going_on_was_asked_for() -> None:
    workspace = Files([], **{"a.yaml": DONE, "b.yaml": OPEN})
    with pytest.raises(Unscripted):
        route(workspace.play, Asked(history=workspace.history[:-1], tools=("Bash",)))


@pytest.mark.parametrize(
    ("agent", "release"), [("claude", "2.1.332"), ("codex", "0.171.0"), ("copilot", "1.0.102")]
)
def test_a_look_is_known_by_its_id_on_the_wire_of_every_agent(agent: str, release: str) -> None:
    driver = find_driver(agent, release)
    scenario = gone_on_with(EDITS, THEN)
    responses = play(steps(scenario, driver, "/srv/project"), driver, scenario).threads[0].turns[0]
    called = {call.id for response in responses.responses for call in response.calls}
    checks = {one.given.check for one in responses.responses if one.given and one.given.check}
    assert len(checks) == len(EDITS.files)
    assert checks <= called
