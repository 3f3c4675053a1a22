"""Commands are told apart as a shell tells them: what is quoted, printed or a document is none."""

from __future__ import annotations

import pytest

from transcripts.facts.shell import commands


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("gh pr create", [["gh", "pr", "create"]]),
        ("cd a && gh pr create -t 'b; c'", [["cd", "a"], ["gh", "pr", "create", "-t", "b; c"]]),
        ("echo 'gh pr create'", [["echo", "gh pr create"]]),
        ("A=1 env B=2 sudo gh pr view", [["gh", "pr", "view"]]),
        ("bash -lc 'x && gh pr create'", [["x"], ["gh", "pr", "create"]]),
        ("sh -c \"bash -c 'gh pr merge 4'\"", [["gh", "pr", "merge", "4"]]),
        ("cat <<'END'\ngh pr create\nEND\nls", [["cat", "<<END"], ["ls"]]),
        ("cat <<-END > a\n\tgh pr create\n\tEND\nls", [["cat", "<<-END", ">", "a"], ["ls"]]),
        ("# gh pr create\nls # gh pr merge", [["ls", "#", "gh", "pr", "merge"]]),
        ("gh pr \\\n  create", [["gh", "pr", "create"]]),
        ("a | b & c\nd", [["a"], ["b"], ["c"], ["d"]]),
        ("ls 'no end", []),
        ("", []),
    ],
)
def test_a_script_is_parted_into_its_commands(script: str, found: list[list[str]]) -> None:
    assert list(commands(script)) == found


def test_shells_in_shells_end() -> None:
    script = "x"
    for _ in range(12):
        script = "bash -c " + "'" + script.replace("'", "'\\''") + "'"
        if len(script) > 20_000:
            break
    assert len(list(commands(script))) == 1
