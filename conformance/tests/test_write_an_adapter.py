"""The page about writing an adapter leads where it says: its files and commands, one by one."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.corpus import VARIABLE, find_corpus, releases
from conformance.generated import ROOT
from conformance.tests.test_adapter_examples import node
from conformance.tests.test_suite import PLUGIN

PAGE = (ROOT / "docs" / "write-an-adapter.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCENARIOS = ("command-fails", "plain-exchange", "rewind")
NAMED = re.compile(r"^(?://|#) ([\w.-]+)")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where a reader of the page is: with the commands installed, and here with few recordings."""
    whole, small, programs = find_corpus(), tmp_path / "corpus", tmp_path / "bin"
    for scenario in SCENARIOS:
        name = f"codex/{releases(whole, 'codex')[-1]}/{scenario}"
        shutil.copytree(whole / name, small / name)
    programs.mkdir()
    start = "from conformance.cli import main; main()"
    for name, arguments in {
        "conformance": ["-c", start],
        "pytest": ["-m", "pytest", *PLUGIN, "-p", "no:cacheprovider"],
    }.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *arguments])} "$@"\n')
        program.chmod(0o755)
    (programs / "node").symlink_to(node())
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), VARIABLE: str(small)}


def test_every_file_and_command_of_the_page_does_what_it_says(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    there = tmp_path / "mine"
    there.mkdir()
    ran, shown = "", 0
    for language, text in BLOCKS[1:]:
        if language in ("js", "toml"):
            named = NAMED.match(text)
            assert named is not None, text
            (there / named[1].removesuffix(":")).write_text(text, encoding="utf-8")
        elif language == "console":
            done = subprocess.run(
                ["sh", "-c", text],
                cwd=there,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            ran = " ".join(f"{done.stdout} {done.stderr}".split())
        else:
            assert language == "text"
            shown += 1
            for line in text.splitlines():
                wanted = ".*".join(re.escape(part.strip()) for part in line.split("…"))
                assert re.search(wanted, ran), f"{line!r} is not in {ran}"
    assert shown == sum(language == "console" for language, _ in BLOCKS) - 1 == 6


def test_the_first_block_installs_and_all_others_are_tried() -> None:
    assert BLOCKS[0] == ("console", "pip install '.[suite]'\n")
    assert {language for language, _ in BLOCKS} == {"console", "js", "toml", "text"}


def test_it_takes_less_than_sixty_lines() -> None:
    last: dict[str, str] = {}
    for language, text in BLOCKS:
        if language == "js":
            named = NAMED.match(text)
            assert named is not None
            last[named[1]] = text
    assert set(last) == {"adapter.mjs", "codex.mjs"}
    assert sum(len(text.splitlines()) for text in last.values()) < 60
