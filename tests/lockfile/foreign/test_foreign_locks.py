"""Locks of other tools are read as those tools wrote them.

skills-lock.json and .skill-lock.json are from `skills` 1.7.4, apm.lock.yaml from apm 0.35.0, harness.lock from hlock
0.8.0, with paths and hosts replaced. skills.lock.json and toolhive.lock.yaml follow the published samples.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess

import pytest

from prowess.errors import LockfileError
from prowess.lockfile.foreign.entries import ForeignLock, RecordedHash
from prowess.lockfile.foreign.hashes import SkillFile, git_tree, matches
from prowess.lockfile.foreign.locale_order import UnknownOrderError, in_locale_order, locale_key
from prowess.lockfile.foreign.reading import FORMATS, read_foreign_lock
from tests.lockfile.foreign.skills import MAIL, PDF, SAMPLES, SMALL_PDF, write_skill

_COMMIT = "bf16a3b110f2b5c86eb7c4d7556cbed061d8377d"
_DIGEST = "sha256:bc6708cbbc37adb919157f04d31e601e68f4b9c24b35c655079da87ad0e30f86"


def _read(name: str) -> ForeignLock:
    return read_foreign_lock((SAMPLES / name).read_bytes(), str(SAMPLES / name))


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("skills-lock.json", {"mail": ("../skills", None, None), "pdf": ("../skills", None, None)}),
        (".skill-lock.json", {"pdf": ("/srv/skills", None, None)}),
        (
            "apm.lock.yaml",
            {"mail": ("acme/tools", _COMMIT, "skills/mail"), "pdf": ("acme/tools", _COMMIT, "skills/pdf")},
        ),
        (
            "harness.lock",
            {
                "mail": ("git+https://github.com/acme/tools", _COMMIT, "skills/mail"),
                "pdf": ("./.claude/skills/pdf", None, None),
            },
        ),
        (
            "skills.lock.json",
            {"manage-pull-requests": ("oci://ghcr.io/myorg/skills/manage-pull-requests", _DIGEST, None)},
        ),
        (
            "toolhive.lock.yaml",
            {
                "code-review": ("oci://ghcr.io/org/code-review", _DIGEST, None),
                "style-guide": ("git+https://github.com/org/guides", _COMMIT, "skills/style-guide"),
            },
        ),
    ],
)
def test_each_format_names_its_skills_with_source_state_and_directory(
    name: str, places: dict[str, tuple[str, str | None, str | None]]
) -> None:
    lock = _read(name)
    assert lock.format == name
    assert {skill.name: (skill.source, skill.state, skill.path) for skill in lock.skills} == places
    assert all(skill.can_be_checked for skill in lock.skills)


@pytest.mark.parametrize("name", ["skills-lock.json", ".skill-lock.json", "apm.lock.yaml", "harness.lock"])
def test_the_hashes_that_the_tools_wrote_fit_the_files_and_no_others(name: str) -> None:
    for skill in _read(name).skills:
        files = {"mail": MAIL, "pdf": SMALL_PDF if name == "harness.lock" else PDF}[skill.name]
        assert skill.hashes
        for recorded in skill.hashes:
            assert matches(recorded, files), recorded.kind
            for path, file in files.items():
                assert not matches(recorded, {**files, path: SkillFile(data=file.data + b" ")})
            assert not matches(recorded, {**files, "more.md": SkillFile(data=b"")})


def test_toolhive_and_apm_hashes_follow_their_published_vectors() -> None:
    one, two = (skill.hashes[0] for skill in _read("toolhive.lock.yaml").skills)
    assert matches(
        one, {"SKILL.md": SkillFile(data=b"# Skill"), "refs/guide.md": SkillFile(data=b"guide", executable=True)}
    )
    assert matches(two, {"a.txt": SkillFile(data=b"hello world")})
    crlf = {"SKILL.md": SkillFile(data=MAIL["SKILL.md"].data.replace(b"\n", b"\r\n"))}
    files = next(one for one in _read("apm.lock.yaml").skills[0].hashes if one.kind == "apm-files")
    assert matches(files, crlf)  # apm takes line ends of a text for equal


def test_the_digest_of_a_site_without_one_in_its_index_is_the_hash_of_all_files() -> None:
    data = b"SKILL.md\0one\0a/b.md\0two\0"
    entry = {
        "source": "example.org",
        "sourceUrl": "https://example.org/skills",
        "sourceType": "well-known",
        "skillFolderHash": "",
        "wellKnownDigest": f"sha256:{hashlib.sha256(data).hexdigest()}",
    }
    lock = json.dumps({"version": 3, "skills": {"x": entry}}).encode()
    (skill,) = read_foreign_lock(lock, ".skill-lock.json").skills
    (recorded,) = skill.hashes
    files = {"a/b.md": SkillFile(data=b"two"), "SKILL.md": SkillFile(data=b"one")}
    assert skill.source == "https://example.org/skills"
    assert matches(recorded, files)
    assert not matches(recorded, {"SKILL.md": SkillFile(data=b"one")})


def test_the_tree_of_a_skill_is_the_object_that_git_makes(tmp_path: object) -> None:
    root = write_skill(tmp_path / "r", PDF | {"a/x": SkillFile(data=b""), "a.b": SkillFile(data=b"")})  # type: ignore[operator]
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    tree = subprocess.run(["git", "-C", str(root), "write-tree"], check=True, capture_output=True, text=True).stdout
    files = PDF | {"a/x": SkillFile(data=b""), "a.b": SkillFile(data=b"")}
    assert git_tree(files) == tree.strip()
    assert matches(RecordedHash(kind="git-tree", expected=tree.strip()), files)


def test_what_has_no_counterpart_is_named() -> None:
    assert _read("toolhive.lock.yaml").unmapped == (
        "plugins",
        "the signer of skill 'code-review'; `prowess verify` checks signatures anew",
    )
    assert _read("harness.lock").unmapped == ("models ([[llm]])",)
    assert [skill.requires for skill in _read("toolhive.lock.yaml").skills] == [("style-guide",), ()]
    assert [(skill.unsigned, skill.is_requested) for skill in _read("toolhive.lock.yaml").skills] == [
        (False, True),
        (True, False),
    ]


def test_packages_of_a_registry_are_read_from_version_2_of_apm_locks() -> None:
    text = b"""\
lockfile_version: "2"
dependencies:
  - repo_url: registry.example.com/contoso/baseline
    source: registry
    resolved_url: https://registry.example.com/contoso/baseline/2.3.1.tgz
    resolved_hash: "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
    version: "2.3.1"
    package_type: skill_bundle
    deployed_files: [.agents/skills/one/SKILL.md, .agents/skills/two/SKILL.md, .claude/skills/one/SKILL.md]
  - repo_url: gitlab.com/contoso/prompts
    resolved_commit: bf16a3b110f2b5c86eb7c4d7556cbed061d8377d
    resolved_by: registry.example.com/contoso/baseline
    deployed_files: [.agents/skills/three/SKILL.md, .github/prompts/x.md]
mcp_servers: [github]
"""
    lock = read_foreign_lock(text, "apm.lock.yaml")
    assert [(skill.name, skill.source, skill.is_requested) for skill in lock.skills] == [
        ("one", "https://registry.example.com/contoso/baseline/2.3.1.tgz", True),
        ("two", "https://registry.example.com/contoso/baseline/2.3.1.tgz", True),
        ("three", "git+https://gitlab.com/contoso/prompts", False),
    ]
    assert lock.skills[0].artifact == "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
    assert lock.unmapped == (
        "MCP servers (mcp_servers)",
        "what package gitlab.com/contoso/prompts has beside skills",
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"- a\n", b'{"version": 99, "skills": {}}', b"a: &b c\n"])
def test_a_file_that_is_not_in_the_format_is_refused(name: str, data: bytes) -> None:
    if name in {"apm.lock.yaml", "toolhive.lock.yaml"} and data in {b"", b'{"version": 99, "skills": {}}'}:
        data = b"lockfile_version: '3'\nversion: 2\n"  # an empty document of these formats has no skill
    with pytest.raises(LockfileError):
        read_foreign_lock(data, name)


def test_every_cut_of_a_lock_is_refused_or_read_and_never_a_fault_of_the_reader() -> None:
    for name in FORMATS:
        data = (SAMPLES / name).read_bytes()
        for at in range(0, len(data), 7):
            try:
                read_foreign_lock(data[:at], name)
            except LockfileError:
                continue


def test_a_file_of_another_name_is_not_guessed() -> None:
    with pytest.raises(LockfileError, match=r"tells no tool; name it skills-lock\.json"):
        read_foreign_lock(b"{}", "lock.json")


_ALPHABET = (
    "abcABCxyzXYZ019-_./ ()[]{}!?'\"@#%&+=~^$,;:éèäöüÉÄŁłøØåñçŞşđħŋþßæÆœðґабвйёЖЯїαβωΩςάさかがカガっ日本語中文字"
)


@pytest.mark.skipif(shutil.which("node") is None, reason="the order of node is the subject")
def test_random_names_have_the_order_of_locale_compare() -> None:
    """`PROWESS_LOCALE_NAMES=3000` compares as many names."""
    chance = random.Random(1)
    count = int(os.environ.get("PROWESS_LOCALE_NAMES", "400"))
    names = ["".join(chance.choices(_ALPHABET, k=chance.choice((1, 2, 3, 5, 9)))) for _ in range(count)]
    program = (
        "const names = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(names.map((name, at) => name.localeCompare(names[(at + 1) % names.length]))));"
        "console.log(JSON.stringify(names.map((_, at) => at).sort((a, b) => names[a].localeCompare(names[b]))))"
    )
    ran = subprocess.run(["node", "-e", program], input=json.dumps(names).encode(), capture_output=True, check=True)
    signs, order = map(json.loads, ran.stdout.splitlines())
    keys = [locale_key(name) for name in names]
    following = [*keys[1:], keys[0]]
    assert [(one > other) - (one < other) for one, other in zip(keys, following, strict=True)] == signs
    assert [keys[at] for at in order] == sorted(keys)


def test_names_whose_order_is_not_known_or_not_fixed_have_no_hash() -> None:
    assert in_locale_order(["b.md", "B.md", "a/b", "a-b", "_a", "1"]) == ["_a", "1", "a-b", "a/b", "b.md", "B.md"]
    with pytest.raises(UnknownOrderError, match="no known place"):
        in_locale_order(["a\U0001f600"])
    with pytest.raises(UnknownOrderError, match="no known place"):
        in_locale_order(["a\ue000"])
    with pytest.raises(UnknownOrderError, match="are equal for it"):
        in_locale_order(["é", "e\u0301"])
