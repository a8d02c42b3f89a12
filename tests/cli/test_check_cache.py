from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import prowess
from prowess._internal.files import contained, file_mark
from prowess.cli import check_cache, skill_result
from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prowess.format.document import SkillDocument

pytestmark = pytest.mark.skipif(not contained.opens_beneath(), reason="no stamps where nothing opens beneath")

SKILLS = 9


class Checks:
    """Runs `prowess check` in a folder of skills, and tells which skills were judged and not taken from the cache."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.root, self._capfd, self.judged = root, capfd, list[str]()

    def __call__(self, *options: str) -> tuple[str, list[str]]:
        self.judged.clear()
        run(["check", ".", "--isolated", *options])
        return self._capfd.readouterr().out, sorted(self.judged)

    @property
    def file(self) -> Path:
        (file,) = (self.root.parent / "home" / "cache" / "check").iterdir()
        return file


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Checks:
    root = tmp_path / "skills"
    for at in range(SKILLS):
        (root / f"s{at}").mkdir(parents=True)
        text = f"---\nname: s{at}\ndescription: Sorts things.\n---\n# S\n[a](a.md) and [b](b.md)\n"
        (root / f"s{at}" / "SKILL.md").write_text(text)
        (root / f"s{at}" / "a.md").write_text("a\n")
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)  # as if every file had been left alone for long
    monkeypatch.chdir(root)
    checks = Checks(root, capfd)
    real = skill_result.judge_document

    def judge(document: SkillDocument, *rest: Any) -> skill_result.SkillResult:  # noqa: ANN401 -- passed on
        checks.judged.append(str(document.directory_name))
        return real(document, *rest)

    monkeypatch.setattr(skill_result, "judge_document", judge)
    return checks


ALL = [f"s{at}" for at in range(SKILLS)]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_a_second_check_of_unchanged_skills_judges_none_and_prints_the_same(check: Checks, form: str) -> None:
    first = check("--format", form)
    assert first[1] == ALL
    assert check("--format", form) == (first[0], [])
    assert check("--format", form, "--no-cache") == first


def add_a_script(skill: Path) -> None:
    (skill / "scripts").mkdir()
    (skill / "scripts" / "x.sh").write_text("read x\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "the text": lambda skill: (skill / "SKILL.md").write_text("---\nname: other\n---\n"),
    "a file that is linked to": lambda skill: (skill / "a.md").unlink(),
    "a file that was missing": lambda skill: (skill / "b.md").touch(),
    "a script": add_a_script,
    "a manifest": lambda skill: (skill / "skill.manifest.yaml").write_text("nothing: here\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_only_a_changed_skill_is_judged_again(check: Checks, change: Callable[[Path], object]) -> None:
    before, _ = check("--json")
    change(check.root / "s3")
    after, judged = check("--json")
    assert judged == ["s3"]
    assert after != before
    assert check("--json", "--no-cache") == (after, ALL)
    assert check("--json") == (after, [])


def test_other_settings_and_other_rules_find_anew(check: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    assert check("--ignore", "reference")[1] == ALL
    assert check("--ignore", "reference")[1] == []
    assert check("--profile", "boxxy")[1] == ALL
    assert check("--severity", "reference.missing=error")[1] == ALL
    assert check()[1] == ALL
    assert check()[1] == []
    monkeypatch.setattr(prowess, "__version__", "0.0.0")
    assert check()[1] == ALL
    assert check()[1] == []


def test_a_check_of_few_skills_one_with_fixes_and_one_without_cache_keep_nothing(check: Checks) -> None:
    run(["check", "s1", "s2", "--isolated"])
    check("--no-cache")
    check("--diff")
    assert not (check.root.parent / "home" / "cache").exists()


def test_a_file_that_was_just_changed_is_not_kept(check: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 2_000_000_000)
    assert check()[1] == ALL
    assert check()[1] == ALL


def test_a_skill_that_changes_while_it_is_judged_is_not_kept(check: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    real = skill_result.judge_document

    def judge(document: SkillDocument, *rest: Any) -> skill_result.SkillResult:  # noqa: ANN401 -- passed on
        if document.directory_name == "s5":
            (check.root / "s5" / "b.md").touch()
        return real(document, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(skill_result, "judge_document", judge)
        check()
    assert check()[1] == ["s5"]


def test_comments_that_ask_for_silence_are_read_each_time(check: Checks) -> None:
    with (check.root / "s2" / "SKILL.md").open("a") as file:
        file.write("<!-- prowess: ignore-file reference -->\n")
    heard = check("--suppressions", "on", "--json")[0]
    assert check("--suppressions", "on", "--json") == (heard, ["s2"])
    unheard, judged = check("--suppressions", "off", "--json")
    assert judged == ["s2"]
    assert unheard.count("reference.missing") == heard.count("reference.missing") + 1


def test_findings_between_skills_are_found_each_time(check: Checks) -> None:
    for at in (0, 1):
        manifest = f"composition:\n  exclusions:\n    - skill: s{1 - at}\n      reason: both sort\n"
        (check.root / f"s{at}" / "skill.manifest.yaml").write_text(manifest)
    long = "---\nname: s4\ndescription: " + "sorts " * 1500 + "\n---\nx\n"
    (check.root / "s4" / "SKILL.md").write_text(long)
    first, _ = check("--json")
    assert "catalog.budget" in first
    assert check("--json") == (first, [])


def test_a_baseline_hides_what_a_cached_check_found(check: Checks) -> None:
    check("--baseline", "../known.json", "--write-baseline")
    out, judged = check("--baseline", "../known.json", "--json")
    assert judged == []
    assert json.loads(out)["diagnostics"] == []


def forged(change: Callable[[Any], object]) -> Callable[[Path], object]:
    """Return what changes the decoded file: [form, rules, entries of [path, judgement, stamp, result]]."""

    def forge(file: Path) -> None:
        data = msgspec.msgpack.decode(file.read_bytes())
        change(data)
        file.write_bytes(msgspec.msgpack.encode(data))

    return forge


def finding(data: Any) -> Any:  # noqa: ANN401 -- undecoded
    return data[2][0][3]["findings"][0]


FORGERIES: dict[str, Callable[[Path], object]] = {
    "no bytes": lambda file: file.write_bytes(b""),
    "other bytes": lambda file: file.write_bytes(b"\xc1\xff" * 40),
    "half of it": lambda file: file.write_bytes(file.read_bytes()[:-100]),
    "deep nesting": lambda file: file.write_bytes(b"\x91" * 100_000),
    "open to others": lambda file: file.chmod(0o666),
    "another form": forged(lambda data: data.__setitem__(0, 2)),
    "one more value": forged(lambda data: data.append(1)),
    "a number as a message": forged(lambda data: finding(data).update(message=1)),
    "an unknown severity": forged(lambda data: finding(data).update(severity="none")),
    "an unknown rule": forged(lambda data: finding(data).update(rule="\x1b[2Jx.y")),
    "another family": forged(lambda data: finding(data).update(family="\x1b[2J")),
    "another skill": forged(lambda data: finding(data).update(skill="s8")),
    "another file": forged(lambda data: finding(data)["location"].update(path="s8/SKILL.md")),
    "a file outside": forged(lambda data: finding(data)["location"].update(path="s0/../../x")),
    "an absolute file": forged(lambda data: finding(data)["location"].update(path="s0//etc/passwd")),
    "a relative root": forged(lambda data: data[2][0][2].update(root="")),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_damaged_or_forged_file_is_ignored_and_written_anew(check: Checks, forge: Callable[[Path], object]) -> None:
    first = check("--json")[0]
    forge(check.file)
    out, judged = check("--json")
    assert out == first
    assert "s0" in judged
    assert check("--json") == (first, [])
    assert check.file.stat().st_mode & 0o777 == 0o600


def test_a_forged_message_reaches_the_terminal_escaped(check: Checks) -> None:
    check()
    forged(lambda data: finding(data).update(message="\x1b[2Jgone\u202e"))(check.file)
    for form in ("text", "json", "github", "junit", "sarif"):
        out, judged = check("--verbose", "--format", form)
        assert judged == []
        assert "gone" in out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_a_cache_that_cannot_be_written_is_no_fault(check: Checks) -> None:
    (check.root.parent / "home").write_text("a file")
    first = check()
    assert first[1] == ALL
    assert check() == first


def test_the_digest_of_the_rules_follows_the_files_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint" / "rule.py").write_text("x")
    monkeypatch.setattr(prowess, "__file__", str(tmp_path / "__init__.py"))
    before = check_cache._rules_digest()
    assert before == check_cache._rules_digest()
    os.utime(tmp_path / "lint" / "rule.py", ns=(1, 1))
    assert before != check_cache._rules_digest()
    monkeypatch.setattr(prowess, "__file__", str(tmp_path / "absent" / "__init__.py"))
    assert check_cache._rules_digest() == ""


def test_a_skill_that_cannot_be_parsed_is_kept_too(check: Checks) -> None:
    (check.root / "s6" / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    first = check("--json")[0]
    assert check("--json") == (first, [])
