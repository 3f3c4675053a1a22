"""What a link leads to outside of a store is not the store's; a store may be a link itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.checks.homes import laid, session_file
from conformance.corpus import Case, find_corpus, load_case, releases
from transcripts.errors import LeadsOut
from transcripts.stores.base import agents, open_store


@pytest.fixture(params=agents())
def case(request: pytest.FixtureRequest) -> Case:
    corpus = find_corpus()
    return load_case(
        corpus / request.param / releases(corpus, request.param)[-1] / "command-ok", corpus
    )


def _linked(path: Path, there: Path) -> None:
    there.parent.mkdir(parents=True, exist_ok=True)
    path.rename(there)
    path.symlink_to(there)


def test_a_file_outside_is_neither_read_nor_listed_and_both_say_so(
    case: Case, tmp_path: Path
) -> None:
    home = laid(case, tmp_path / "home")
    _linked(session_file(home, case.facts.session_path), tmp_path / "outside" / "secret.jsonl")
    store = open_store(case.facts.agent, home)
    with pytest.raises(LeadsOut, match=r"a link leads out of the store; give the path"):
        store.read(case.facts.session_id)
    listing = store.list()
    assert [one.session_id for one in listing] == []
    assert [one.why for one in listing.failed] == ["a link leads out of the store"]
    assert listing.seen == 1


def test_a_link_to_another_place_in_the_store_is_followed(case: Case, tmp_path: Path) -> None:
    home = laid(case, tmp_path / "home")
    file = session_file(home, case.facts.session_path)
    store = open_store(case.facts.agent, home)
    whole = store.read(case.facts.session_id)
    _linked(file, store.root / "kept" / "elsewhere.jsonl")
    found = store.read(case.facts.session_id)
    assert whole is not None
    assert found is not None
    assert len(found.messages) == len(whole.messages)
    assert [one.session_id for one in store.list()] == [case.facts.session_id]


@pytest.mark.parametrize("depth", [1, 2])
def test_a_store_on_another_disk_is_read(case: Case, tmp_path: Path, depth: int) -> None:
    home = laid(case, tmp_path / "home")
    parts = Path(case.facts.session_path).parts[:depth]
    _linked(home.joinpath(*parts), tmp_path / "disk" / "store")
    store = open_store(case.facts.agent, home)
    assert store.read(case.facts.session_id) is not None
    assert [one.session_id for one in store.list()] == [case.facts.session_id]
