"""Peers are files: each is whole, exact in its version, and says what it does not offer."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.peers import PeerError, find_peer, peers
from conformance.peers.listing import NOT_OFFERED

WHOLE = """
package = "a-tool"
version = "1.2.3"
ecosystem = "pypi"
licence = "MIT"
homepage = "https://example.com"
language = "Python"
about = "reads sessions"

[speed]
does = "reads whole"
command = ["{bin}/a-tool", "{file}"]
"""


def _peer(directory: Path, text: str, name: str = "a-tool") -> Path:
    (directory / f"{name}.toml").write_text(text, encoding="utf-8")
    return directory


def test_every_peer_is_whole_and_of_one_exact_release() -> None:
    found = peers()
    assert len({peer.name for peer in found}) == len(found) >= 8
    for peer in found:
        assert peer.homepage.startswith("https://")
        assert peer.unavailable or peer.bridge or peer.speed
        assert all(one.why for one in peer.not_offered)


def test_a_peer_that_is_whole_is_read(tmp_path: Path) -> None:
    peer = find_peer("a-tool", _peer(tmp_path, WHOLE))
    assert (peer.name, peer.version, peer.bridge, peer.stores) == ("a-tool", "1.2.3", "", {})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('version = "1.2.3"', 'version = ">=1"'), "not exact"),
        (('package = "a-tool"', ""), "package"),
        (('ecosystem = "pypi"', 'ecosystem = "cargo"'), "cargo"),
        (('about = "reads', 'abuot = "x"\nabout = "reads'), "abuot"),
        (("[speed]", "[stores.claude]\nread = true\n[speed]"), "go together"),
        (("[speed]", 'unavailable = "gone"\n[speed]'), "no bridge, stores or speed"),
        (
            ("[speed]", '[[not_offered]]\nwhat = ["colour"]\nwhy = "no"\n[speed]'),
            "not_offered names 'colour'",
        ),
        (
            ("[speed]", '[[not_offered]]\nwhat = ["text"]\nwhy = "no"\nstores = ["x"]\n[speed]'),
            "no store of 'x'",
        ),
        (("[speed]", 'bridge = "none.py"\n[stores.claude]\nread = true\n[speed]'), "none.py"),
        (('"reads whole"', '"reads'), "[Uu]nterminated|[Ii]llegal"),
    ],
)
def test_what_is_wrong_with_a_peers_file_is_said(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    with pytest.raises(PeerError, match=told) as caught:
        peers(_peer(tmp_path, WHOLE.replace(*change)))
    assert "a-tool.toml" in str(caught.value)


def test_a_name_that_is_no_peers_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="use one of a-tool"):
        find_peer("another", _peer(tmp_path, WHOLE))


def test_what_is_not_offered_holds_for_the_stores_that_it_names(tmp_path: Path) -> None:
    lacking = (
        '[[not_offered]]\nwhat = ["exit_code", "Reasoning"]\nwhy = "no place"\nstores = ["codex"]\n'
    )
    peer = find_peer("a-tool", _peer(tmp_path, WHOLE.replace("[speed]", f"{lacking}[speed]")))
    assert peer.lacks("codex") == {"exit_code": "no place", "Reasoning": "no place"}
    assert peer.lacks("claude") == {}
    assert set(peer.lacks("codex")) <= NOT_OFFERED
