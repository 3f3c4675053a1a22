"""docs/hooks.md shows what the commands really print, and what the dialects say of themselves."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.generated import ROOT
from conformance.report.hooks import blind_spots
from conformance.report.markdown import placed
from transcripts.cli import transcripts

PAGE = ROOT / "docs" / "hooks.md"


def examples() -> Iterator[tuple[str, str]]:
    """Yield each command of the page that has an output below it, and that output."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n\$ (.+?)^```", text, re.DOTALL | re.MULTILINE):
        command, _, shown = block.replace("\\\n", "").partition("\n")
        yield command, shown


def test_the_page_has_an_example_of_each_command() -> None:
    asked = {command.split()[2] for command, _ in examples()}
    assert asked == {"tree", "summary", "join"}


@pytest.mark.parametrize(("command", "shown"), list(examples()), ids=lambda text: text[:24])
def test_an_example_shows_what_the_command_prints(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "96")
    result = CliRunner().invoke(transcripts, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.output.rstrip().split("\n")] == shown.rstrip().split(
        "\n"
    )


def test_the_page_says_of_each_dialect_what_it_can_not_show() -> None:
    assert placed(PAGE, blind_spots(), "dialects") == PAGE.read_text(encoding="utf-8")


def test_a_page_without_its_markers_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "hooks.md"
    page.write_text("nothing")
    with pytest.raises(Exception, match="dialects:start"):
        placed(page, "x", "dialects")
