from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from prowess import Catalog
from prowess.catalog.sources.mirror import (
    RemoteSkill,
    checked_label,
    forget,
    keep,
    mirrored,
    remote_skill,
    verify,
)
from prowess.catalog.trust import TrustStore
from prowess.errors import RemoteSkillError, SkillNotFoundError

DOCUMENT = b"---\nname: pdf\ndescription: Fill forms.\nallowed-tools: Bash\n---\nDo it.\n"
FRONT = {"name": "pdf", "description": "Fill forms.", "allowed-tools": "Bash"}
URI = "skill://acme/pdf/SKILL.md"


def _resource(path: str, data: bytes, root: str = "skill://acme/pdf/") -> dict[str, object]:
    return {"uri": root + path, "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}


def _entry(**changes: object) -> dict[str, Any]:
    files = [_resource("SKILL.md", DOCUMENT), _resource("a%20b/%C3%BC.md", b"x")]
    return {"uri": URI, "frontmatter": FRONT, "resources": files, **changes}


def _contents() -> dict[str, bytes]:
    return {"SKILL.md": DOCUMENT, "a b/ü.md": b"x"}


def _skill(**changes: object) -> RemoteSkill:
    return remote_skill("docs", _entry(**changes))


def test_a_copy_is_held_back_until_that_very_copy_is_trusted() -> None:
    source = keep(_skill(), _contents())
    catalog = Catalog(source)
    assert catalog.entries() == ()
    assert "prowess trust" in catalog.notices[0].message
    with pytest.raises(SkillNotFoundError, match="not trusted"):
        catalog.get("pdf")
    assert source.project is not None
    TrustStore().trust(source.project)
    catalog.refresh()
    (entry,) = catalog.entries()
    assert (entry.origin, entry.source, entry.layer) == ("docs", "mcp:docs", "plugin")
    assert catalog.get("pdf@mcp:docs").location == entry.location
    assert "/mcp/docs/" in entry.location
    assert catalog.skill("pdf").body == "Do it.\n"
    assert [file.path for file in catalog.skill("pdf").manifest.files] == ["SKILL.md", "a b/ü.md"]


def test_copies_are_private_and_lie_where_no_search_goes(own_home: Path) -> None:
    source = keep(_skill(), _contents())
    assert source.root.startswith(os.path.realpath(own_home))
    for path in Path(source.project or "").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600)
    assert Catalog.discover(cwd=own_home, trust_project=True).entries() == ()


def test_a_changed_skill_is_another_path_and_the_old_trust_is_gone() -> None:
    first = keep(_skill(), _contents())
    store = TrustStore()
    store.trust(first.project or "")
    again = keep(_skill(), _contents())
    assert again.project == first.project
    assert store.is_trusted(again.project or ""), "the same bytes are what was trusted"
    changed = keep(_skill(resources=[_resource("SKILL.md", DOCUMENT)]), _contents())
    assert changed.project != first.project
    assert store.listed() == ()
    assert [source.project for source in mirrored()] == [changed.project]
    back = keep(_skill(), _contents())
    assert not store.is_trusted(back.project or ""), "trust that was lost does not come back by itself"


def test_a_skill_of_another_server_never_stands_in_for_one_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: Ours.\n---\n")
    one = keep(_skill(), _contents())
    other = keep(remote_skill("evil", _entry()), _contents())
    for source in (one, other):
        TrustStore().trust(source.project or "")
    catalog = Catalog(one, other, tmp_path)
    assert catalog.get("pdf").description == "Ours."
    assert [shadowed.origin for shadowed in catalog.why("pdf").shadowed] == ["docs", "evil"]
    assert catalog.get("pdf@mcp:evil").origin == "evil"
    assert {found.rule for found in catalog.diagnostics} == {"catalog.shadowed"}


@pytest.mark.parametrize("change", ["edit", "add", "remove", "record", "other"])
def test_a_copy_that_was_changed_is_left_out(change: str) -> None:
    source = keep(_skill(), _contents())
    directory, root = Path(source.project or ""), Path(source.root)
    TrustStore().trust(str(directory))
    match change:
        case "edit":
            (root / "SKILL.md").write_bytes(DOCUMENT.replace(b"Do it", b"Do ot"))
        case "add":
            (root / "more.md").write_text("x")
        case "remove":
            (root / "a b" / "ü.md").unlink()
        case "record":
            (directory / "origin.json").write_text("{")
        case _:
            (directory / "origin.json").write_text(json.dumps({"origin": "docs", "entry": _entry(resources=[])}))
    catalog = Catalog(source)
    assert catalog.entries() == ()
    assert [found.rule for found in catalog.diagnostics] == ["catalog.mirror"]
    keep(_skill(), _contents())
    catalog.refresh()
    assert len(catalog.entries()) == 1, "fetching it again repairs it"


def test_a_server_that_is_forgotten_leaves_nothing(own_home: Path) -> None:
    source, other = keep(_skill(), _contents()), keep(remote_skill("other", _entry()), _contents())
    TrustStore().trust(source.project or "")
    forget("docs")
    assert [one.project for one in mirrored()] == [other.project]
    assert mirrored("docs") == []
    assert TrustStore().listed() == ()
    forget("docs")


def test_what_is_not_what_the_entry_says_is_not_kept() -> None:
    for contents, reason in [
        ({"SKILL.md": DOCUMENT}, "was not read"),
        ({**_contents(), "a b/ü.md": b"y"}, "differs from the entry"),
        ({**_contents(), "SKILL.md": DOCUMENT + b"\n"}, "differs from the entry"),
    ]:
        with pytest.raises(RemoteSkillError, match=reason):
            keep(_skill(), contents)
    lying = _skill(frontmatter={**FRONT, "description": "Harmless."})
    with pytest.raises(RemoteSkillError, match="front matter"):
        verify(lying, lying.files[0], DOCUMENT)
    assert mirrored() == []


ROOT = "skill://acme/pdf/"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"uri": 5}, "no uri"),
        ({"uri": "x" * 9000}, "no uri"),
        ({"frontmatter": None}, "no front matter"),
        ({"frontmatter": {"name": "pdf"}}, "conforming name"),
        ({"frontmatter": {**FRONT, "name": "../pdf"}}, "conforming name"),
        ({"frontmatter": {**FRONT, "name": "other"}}, "does not end in"),
        ({"uri": "skill://acme/pdf/skill.md"}, "does not end in"),
        ({"resources": "dynamic"}, "generated"),
        ({"resources": None}, "list its files"),
        ({"resources": []}, "list its files"),
        ({"resources": ["x"]}, "an item that is not an object"),
        ({"resources": [_resource("x", b"")]}, "its own SKILL.md"),
        ({"resources": [_resource(f"{number}", b"") for number in range(513)]}, "513 files"),
        ({"resources": [{**_resource("x", b""), "size": 16 * 1024 * 1024 + 1}]}, "bytes together"),
        ({"resources": [{**_resource("x", b""), "size": -1}]}, "no size"),
        ({"resources": [{**_resource("x", b""), "size": True}]}, "no size"),
        ({"resources": [{**_resource("x", b""), "digest": "sha256:ABC"}]}, "no digest"),
        ({"resources": [_resource("x", b"", "skill://acme/other/")]}, "not inside it"),
        ({"resources": [_resource("x", b"", "file:///")]}, "not inside it"),
        *(
            ({"resources": [_resource("SKILL.md", DOCUMENT), _resource(path, b"")]}, "another place")
            for path in (
                *("../x", "%2e%2e/x", "a/%2E%2E/x", "a%2Fb", "a%5Cb", "a%00b", "/x", "a//b", "a/", "."),
                *("C:/x", "%zz", "%FF", "x?y", "x#y", ".git/config", "a%0Ab", "a%1Bb"),
            )
        ),
        *(
            ({"resources": [_resource("SKILL.md", DOCUMENT), *(_resource(path, b"") for path in paths)]}, "twice")
            for paths in (("a", "a"), ("a", "A"), ("%C3%BC", "u%CC%88"), ("a", "a/b"), ("skill.MD",))
        ),
    ],
)
def test_an_entry_that_breaks_a_rule_is_refused_before_anything_is_read(
    changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(RemoteSkillError, match=reason):
        _skill(**changes)


def test_an_entry_is_an_object() -> None:
    with pytest.raises(RemoteSkillError, match="no uri"):
        remote_skill("docs", [])


@pytest.mark.parametrize("label", ["", "..", ".x", "A", "a/b", "a b", "x" * 65, "ü"])
def test_a_label_is_one_part_of_a_path(label: str) -> None:
    with pytest.raises(ValueError, match="not a label"):
        checked_label(label)
