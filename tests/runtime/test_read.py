from __future__ import annotations

import base64
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.tools.read import SPEC
from prowess.store import MemorySessionStore
from tests.runtime.making import failure, result

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture
async def alpha(session: Session) -> Session:
    await session.load(["alpha"])
    return session


async def _read(session: Session, **arguments: object) -> dict[str, Any]:
    found = result(await session.call("skills.read", arguments))
    assert SPEC.output_schema is not None
    jsonschema.validate(found, dict(SPEC.output_schema))
    return found


async def _refused(session: Session, **arguments: object) -> dict[str, Any]:
    return failure(await session.call("skills.read", arguments))


@pytest.mark.proves("runtime.read.text", "runtime.read.relative")
async def test_a_text_read_gives_the_exact_characters_and_where_they_lie(alpha: Session, skills: Path) -> None:
    text = "\ufeffa\r\nü\u2028\0 end"
    (skills / "alpha" / "references" / "odd.md").write_bytes(text.encode())
    await alpha.load(["alpha"])

    found = await _read(alpha, path="./references//odd.md")

    assert found["text"] == text
    assert list(found) == [
        "skill", "path", "encoding", "media_type", "text", "offset", "size", "truncated", "next_offset", "digest"
    ]  # fmt: skip
    assert (found["path"], found["encoding"], found["media_type"]) == ("references/odd.md", "text", "text/markdown")
    assert (found["offset"], found["size"], found["truncated"], found["next_offset"]) == (
        0,
        len(text.encode()),
        False,
        None,
    )


@pytest.mark.proves("runtime.read.binary")
async def test_a_binary_read_gives_the_exact_bytes_in_base64_with_their_media_type(
    alpha: Session, skills: Path
) -> None:
    found = await _read(alpha, path="assets/dot.png", encoding="binary")

    assert (
        base64.b64decode(found["data_base64"], validate=True) == (skills / "alpha" / "assets" / "dot.png").read_bytes()
    )
    assert (found["encoding"], found["media_type"]) == ("binary", "image/png")
    assert "text" not in found


@pytest.mark.proves("runtime.read.not-text")
@pytest.mark.parametrize("data", [b"\xff", b"a\xc3", b"\xed\xa0\x80"])
async def test_bytes_that_are_not_utf8_are_refused_with_the_hint_to_read_binary(
    alpha: Session, skills: Path, data: bytes
) -> None:
    (skills / "alpha" / "x.dat").write_bytes(data)
    await alpha.load(["alpha"])

    detail = await _refused(alpha, path="x.dat")

    assert detail["code"] == "not_text"
    assert "'binary'" in detail["message"]
    assert base64.b64decode((await _read(alpha, path="x.dat", encoding="binary"))["data_base64"]) == data


@pytest.mark.proves("runtime.read.range", "runtime.read.truncation")
async def test_a_long_file_comes_in_slices_that_add_up(alpha: Session, skills: Path) -> None:
    text = "aüb€" * 40_000
    (skills / "alpha" / "long.txt").write_text(text, encoding="utf-8")
    await alpha.load(["alpha"])

    parts, offset = [], 0
    while offset is not None:
        found = await _read(alpha, path="long.txt", offset=offset)
        assert len(found["text"].encode()) <= 65_536
        assert found["truncated"] == (found["next_offset"] is not None)
        assert found["size"] == len(text.encode())
        parts.append(found["text"])
        offset = found["next_offset"]

    assert len(parts) == 5
    assert "".join(parts) == text
    whole = b""
    while len(whole) < len(text.encode()):
        found = await _read(alpha, path="long.txt", offset=len(whole), limit=30_001, encoding="binary")
        part = base64.b64decode(found["data_base64"])
        assert (found["offset"], len(part) <= 30_001, bool(part)) == (len(whole), True, True)
        whole += part
    assert whole == text.encode()


@pytest.mark.proves("runtime.read.section")
async def test_a_section_comes_with_the_outline_of_its_file(alpha: Session) -> None:
    found = await _read(alpha, path="references/guide.md", section="use-ü")

    assert found["text"] == "## Use ü\n\nUse it.\n\n"
    assert found["sections"] == [
        {"slug": "preamble", "title": "", "level": 0},
        {"slug": "guide", "title": "Guide", "level": 1},
        {"slug": "use-ü", "title": "Use ü", "level": 2},
        {"slug": "end", "title": "End", "level": 2},
    ]
    assert (found["offset"], found["truncated"], found["next_offset"]) == (17, False, None)
    rest = await _read(alpha, path="references/guide.md", section="use-ü", limit=9)
    assert (rest["text"], rest["truncated"], rest["next_offset"]) == ("## Use ü", True, 26)
    assert (await _read(alpha, path="references/guide.md", section="preamble"))["text"] == ""


async def test_an_unknown_section_suggests_the_nearest(alpha: Session) -> None:
    detail = await _refused(alpha, path="references/guide.md", section="ende")

    assert (detail["code"], detail["suggestions"]) == ("resource_not_found", ["end"])
    assert detail["message"] == "'references/guide.md' of skill 'alpha' has no section 'ende'; it has 'end'"


async def test_a_section_unlike_any_is_answered_with_the_first_there_are(alpha: Session) -> None:
    detail = await _refused(alpha, path="references/guide.md", section="zzz")

    assert detail["suggestions"][:2] == ["preamble", "guide"]
    assert "has no section 'zzz'; it has 'preamble', 'guide'" in detail["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": "SKILL.md", "artifact": "x"},
        {"artifact": "x", "skill": "alpha"},
        {"path": "SKILL.md", "section": "a", "encoding": "binary"},
        {"path": "SKILL.md", "section": "a", "offset": 1},
        {"path": "SKILL.md", "offset": -1},
        {"path": "SKILL.md", "limit": 0},
        {"path": "SKILL.md", "encoding": "utf-8"},
        {"path": 7},
    ],
)
async def test_arguments_that_do_not_fit_together_are_refused(alpha: Session, arguments: dict[str, object]) -> None:
    assert (await _refused(alpha, **arguments))["code"] == "invalid_arguments"


@pytest.mark.proves("runtime.read.skill-field", "runtime.read.default-skill")
async def test_a_read_uses_the_skill_it_names_or_the_one_loaded_last_and_says_which(alpha: Session) -> None:
    await alpha.load(["beta"], "add")

    assert (await _read(alpha, path="SKILL.md"))["skill"] == "beta"
    named = await _read(alpha, path="SKILL.md", skill="alpha")
    assert named["skill"] == "alpha"
    assert "# Alpha" in named["text"]


@pytest.mark.proves("runtime.session.authorises")
async def test_only_active_skills_can_be_read(session: Session) -> None:
    detail = await _refused(session, path="SKILL.md")
    assert detail["code"] == "skill_not_active"
    assert "skills.load" in detail["message"]

    await session.load(["alpha"])
    detail = await _refused(session, path="SKILL.md", skill="beta")
    assert detail["code"] == "skill_not_active"
    assert "['beta']" in detail["message"]
    assert (await _refused(session, path="SKILL.md", skill="betta"))["code"] == "skill_not_found"
    await session.unload(["alpha"])
    assert (await _refused(session, path="SKILL.md", skill="alpha"))["code"] == "skill_not_active"


@pytest.mark.proves("runtime.session.authorises")
async def test_what_only_another_session_of_the_store_has_loaded_cannot_be_read(catalog: Catalog) -> None:
    store = MemorySessionStore()
    one, two = Session(catalog, store=store), Session(catalog, store=store)
    await one.load(["alpha"])

    assert (await _refused(two, path="SKILL.md", skill="alpha"))["code"] == "skill_not_active"
    assert (await _refused(two, path="SKILL.md"))["code"] == "skill_not_active"
    assert (await _read(one, path="SKILL.md"))["skill"] == "alpha"


@pytest.mark.proves("runtime.read.containment")
@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "../beta/SKILL.md",
        "a/../SKILL.md",
        "/etc/hostname",
        "//x",
        "C:\\x",
        "c:/x",
        "\\\\host",
        "a\\b",
        "a\0b",
    ],
)
async def test_an_unsafe_path_is_refused_before_anything_is_opened(
    alpha: Session, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_open(*arguments: object, **options: object) -> int:
        raise AssertionError(arguments)

    monkeypatch.setattr(os, "open", no_open)

    assert (await _refused(alpha, path=path))["code"] == "unsafe_path"


@pytest.mark.proves("runtime.read.no-decoding")
async def test_nothing_in_a_path_is_decoded(alpha: Session, skills: Path) -> None:
    (skills / "alpha" / "%2e%2e").mkdir()
    (skills / "alpha" / "%2e%2e" / "x.md").write_text("literal")
    (skills / "alpha" / "．．").write_text("fullwidth")
    await alpha.load(["alpha"])

    assert (await _read(alpha, path="%2e%2e/x.md"))["text"] == "literal"
    assert (await _read(alpha, path="．．"))["text"] == "fullwidth"
    for path in ("..%2fbeta/SKILL.md", "．．/beta/SKILL.md", "references／guide.md", "~/x", "$HOME/x"):
        assert (await _refused(alpha, path=path))["code"] == "resource_not_found"


@pytest.mark.proves("runtime.read.cross-skill", "runtime.session.authorises")
@pytest.mark.parametrize("active", [["alpha"], ["beta", "alpha"]])
async def test_another_skill_cannot_be_read_through_any_path(session: Session, skills: Path, active: list[str]) -> None:
    (skills / "alpha" / "other").symlink_to(skills / "beta")
    (skills / "alpha" / "copy.md").symlink_to("../beta/references/secret.md")
    await session.load(active)

    for path in (
        "../beta/references/secret.md",
        str(skills / "beta" / "SKILL.md"),
        "other/references/secret.md",
        "copy.md",
    ):
        detail = await _refused(session, path=path)
        assert detail["code"] == "unsafe_path"
        assert "beta's secret" not in detail["message"]


@pytest.mark.proves("runtime.read.links")
async def test_links_are_refused_wherever_they_point(alpha: Session, skills: Path) -> None:
    (skills / "alpha" / "in.md").symlink_to("references/guide.md")
    (skills / "alpha" / "out.md").symlink_to("/etc/hostname")
    (skills / "alpha" / "dir").symlink_to("references")
    (skills / "alpha" / "gone").symlink_to("nowhere")
    await alpha.load(["alpha"])

    for path in ("in.md", "out.md", "dir/guide.md", "gone"):
        assert (await _refused(alpha, path=path))["code"] == "unsafe_path", path


@pytest.mark.proves("runtime.read.special-files")
async def test_hard_links_pipes_and_sockets_are_refused_without_waiting(
    session: Session, skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = skills / "alpha"
    (tmp_path / "secret.txt").write_text("secret")
    os.link(tmp_path / "secret.txt", base / "hard.txt")
    os.mkfifo(base / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(base)  # the address of a socket must be short
        listener.bind("sock")
        await session.load(["alpha"])

        begun = time.monotonic()
        for path in ("hard.txt", "pipe", "sock"):
            assert (await _refused(session, path=path))["code"] == "unsafe_path", path
    assert time.monotonic() - begun < 10  # opening a pipe without a writer would wait forever
    assert threading.active_count() < 20


@pytest.mark.proves("runtime.read.directory")
async def test_a_directory_answers_with_a_capped_list_of_what_it_holds(alpha: Session, skills: Path) -> None:
    detail = await _refused(alpha, path="references")
    assert (detail["code"], detail["suggestions"]) == ("not_a_file", ["deep/", "guide.md"])

    for number in range(70):
        (skills / "alpha" / "assets" / f"{number:03}.txt").write_text("x")
    listed = (await _refused(alpha, path="assets/"))["suggestions"]
    assert len(listed) == 51
    assert listed[-1] == "and 21 more"
    assert "references/" in (await _refused(alpha, path="."))["suggestions"]


@pytest.mark.proves("runtime.read.missing")
async def test_a_missing_file_suggests_the_nearest_paths_and_the_session_goes_on(alpha: Session) -> None:
    detail = await _refused(alpha, path="docs/Guide.md")

    assert (detail["code"], detail["suggestions"]) == ("resource_not_found", ["references/guide.md"])
    assert (await _refused(alpha, path="references/guide.md/x"))["code"] == "resource_not_found"
    assert (await _read(alpha, path="references/guide.md"))["size"] > 0


async def test_below_scripts_there_are_facts_and_never_the_text(alpha: Session) -> None:
    for encoding in ("text", "binary"):
        found = await _read(alpha, path="scripts/run.py", encoding=encoding)
        assert list(found) == ["skill", "path", "size", "digest", "interpreter", "usage"]
        assert found["interpreter"] == "python3"
        assert "skills.run_script" in found["usage"]
        assert "SECRET-SOURCE" not in str(found)
    odd = await _read(alpha, path="scripts/data.bin")
    assert odd["interpreter"] is None
    assert (await _refused(alpha, path="scripts/none.py"))["code"] == "resource_not_found"


async def test_git_metadata_belongs_to_no_skill(alpha: Session, skills: Path) -> None:
    (skills / "alpha" / ".git").mkdir()
    (skills / "alpha" / ".git" / "config").write_text("token")
    await alpha.load(["alpha"])

    assert (await _refused(alpha, path=".git/config"))["code"] == "resource_not_found"


@pytest.mark.parametrize("path", ["docs/.git/config", "docs/.git", "./docs//.git/config"])
async def test_git_metadata_of_a_nested_repository_belongs_to_no_skill(alpha: Session, skills: Path, path: str) -> None:
    (skills / "alpha" / "docs" / ".git").mkdir(parents=True)
    (skills / "alpha" / "docs" / ".git" / "config").write_text("token")
    (skills / "alpha" / "docs" / "a.md").write_text("a")
    await alpha.load(["alpha"])

    assert (await _refused(alpha, path=path))["code"] == "resource_not_found"
    listed = (await _refused(alpha, path="docs"))["message"]
    assert "a.md" in listed
    assert ".git" not in listed


async def test_a_file_over_sixteen_mebibytes_is_refused_with_its_size(alpha: Session, skills: Path) -> None:
    with (skills / "alpha" / "huge.bin").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    await alpha.load(["alpha"])

    detail = await _refused(alpha, path="huge.bin", encoding="binary")

    assert detail["code"] == "limit_exceeded"
    assert "16777217 is over the limit of 16777216" in detail["message"]


async def test_an_edited_or_added_file_is_refused_until_the_skill_is_loaded_again(alpha: Session, skills: Path) -> None:
    guide = skills / "alpha" / "references" / "guide.md"
    guide.write_text("fresh words")
    (skills / "alpha" / "added.md").write_text("added")

    for path in ("references/guide.md", "added.md"):
        detail = await _refused(alpha, path=path)
        assert detail["code"] == "digest_changed"
        assert "load 'alpha' again" in detail["message"]
        assert "fresh words" not in str(detail)
    assert (await _read(alpha, path="references/deep/note.txt"))["text"] == "note\n"

    await alpha.load(["alpha"])
    assert (await _read(alpha, path="references/guide.md"))["text"] == "fresh words"


async def test_a_live_skill_follows_its_authors_edits_with_a_notice(skills: Path) -> None:
    session = Session(Catalog(skills, live=True))
    await session.load(["beta", "alpha"])
    before = session.active_skills[1].digest
    (skills / "alpha" / "references" / "guide.md").write_text("fresh words")

    found = await _read(session, path="references/guide.md")

    assert found["text"] == "fresh words"
    assert [notice["code"] for notice in found["notices"]] == ["skill_reloaded"]
    assert session.active_skills[1].digest != before
    assert [skill.name for skill in session.active_skills] == ["beta", "alpha"]
    assert "notices" not in await _read(session, path="references/guide.md")


_WATCHED = """\
import sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
import anyio
from prowess.catalog import Catalog
from prowess.runtime import Session

async def main():
    session = Session(Catalog(sys.argv[1]))
    session.instructions(); session.tools(); await session.refresh(); session.instructions()
    seen = " ".join(opened)
    await session.load(["alpha"])
    await session.read("references/guide.md")
    assert "SKILL.md" in seen or "alpha" in seen, "the hook sees what is opened"
    early = [name for name in ("guide.md", "note.txt", "dot.png", "run.py") if name in seen]
    print(early, "guide.md" in " ".join(opened))

anyio.run(main)
"""


@pytest.mark.proves("runtime.read.lazy")
def test_no_reference_is_opened_before_a_call_asks_for_it(skills: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, str(skills)], capture_output=True, text=True, check=True, timeout=30
    )

    assert done.stdout == "[] True\n", done.stderr


async def test_every_read_says_under_which_digest_it_was_made(alpha: Session, skills: Path) -> None:

    data = (skills / "alpha" / "references" / "guide.md").read_bytes()

    found = await _read(alpha, path="references/guide.md", limit=3)

    assert found["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
