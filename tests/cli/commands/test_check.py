from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prowess.cli.dispatch import run

GOOD = "---\nname: {name}\ndescription: d\n---\nBody\n"
_CONFORMANCE = Path(__file__).parents[2] / "conformance"


def write(root: Path, name: str, text: str | None = None) -> Path:
    skill = root / name
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(GOOD.format(name=name) if text is None else text, encoding="utf-8")
    return skill


def as_json(capfd: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 -- a JSON document
    return json.loads(capfd.readouterr().out)


def test_a_folder_of_skills_is_checked_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "b", "---\nname: b\n---\n")
    write(tmp_path, "a")
    monkeypatch.chdir(tmp_path)
    assert run(["check", ".", "--select", "spec"]) == 1
    out = capfd.readouterr().out
    assert out.splitlines()[0] == "b/SKILL.md:1:1 error description.required  description is missing"
    assert out.splitlines()[-1] == "1 error in 2 skills"
    assert run(["check", ".", "--exit-zero", "--quiet"]) == 0
    assert "2 skills" not in capfd.readouterr().out
    assert run(["check", "a", "a/SKILL.md", "./a", "--json"]) == 0
    assert as_json(capfd)["skills"] == [{"path": "a", "name": "a", "valid": True}]
    monkeypatch.chdir(tmp_path / "a")
    assert run(["check", "--select", "spec"]) == 0
    assert capfd.readouterr().out == "no faults in 1 skill\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell how much memory it took")
@pytest.mark.parametrize("start", ["", "[a](b) " * 300_000], ids=["holes", "links"])
def test_a_file_of_a_gibibyte_takes_little_memory(tmp_path: Path, start: str) -> None:
    text = write(tmp_path, "a", f"{GOOD.format(name='a')}{start}") / "SKILL.md"
    os.truncate(text, 1 << 30)
    program = (
        "import sys; from prowess.cli.dispatch import run; status = run(['check', '--quiet', sys.argv[1]]); "
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')], status)"
    )
    # Not what `getrusage` tells, which counts the process that started this one.
    said = subprocess.check_output([sys.executable, "-c", program, str(tmp_path)], text=True)
    kibibytes, status = said.splitlines()[-1].split()
    assert status == "1"
    assert int(kibibytes) < 200 * 1024


@pytest.mark.proves("tooling.cli.check-select")
def test_profile_and_selection_are_obeyed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill = str(write(tmp_path, "a", "---\nname: A\ndescription: d\nown: x\n---\n[x](no.md)"))
    assert run(["check", skill, "--profile", "lenient"]) == 0
    capfd.readouterr()
    assert (
        run(
            ["check", skill, "--json", "--select", "reference,name.format", "--ignore", "reference.case,reference.when"]
        )
        == 1
    )
    assert [found["rule"] for found in as_json(capfd)["diagnostics"]] == ["name.format", "reference.missing"]
    assert run(["check", skill, "--format", "json", "--profile", "skills-ref"]) == 1
    assert [found["rule"] for found in as_json(capfd)["diagnostics"]] == [
        "frontmatter.unknownField",
        "name.format",
        "name.matchesDirectory",
    ]
    assert run(["check", skill, "--json", "--profile", "skills-ref", "--select", "reference.missing"]) == 0
    assert [found["rule"] for found in as_json(capfd)["diagnostics"]] == ["reference.missing"]
    assert run(["check", skill, "--json", "--select", "spec", "--ignore", "name"]) == 1
    assert [found["rule"] for found in as_json(capfd)["diagnostics"]] == ["frontmatter.unknownField"]
    assert run(["check", skill, "--json", "--ignore", "spec,lint,security"]) == 0
    assert as_json(capfd)["diagnostics"] == []
    assert run(["check", skill, "--json", "--ignore", "name", "--select", "name.format"]) == 1
    assert [found["rule"] for found in as_json(capfd)["diagnostics"]] == ["name.format"]


@pytest.mark.proves("tooling.cli.check-formats")
def test_every_format_can_be_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill = str(write(tmp_path, "a", "---\nname: A\ndescription: d\n---\n"))
    begins = {
        "text": f"{skill}/SKILL.md:2:7 error",
        "json": "{",
        "sarif": "{",
        "github": "::error file=",
        "junit": "<?xml",
    }
    holds = {"json": '"diagnostics"', "sarif": "sarif-schema-2.1.0", "junit": "<testsuite"}
    for form, begin in begins.items():
        assert run(["check", skill, "--select", "name.format", "--format", form]) == 1
        out = capfd.readouterr().out
        assert out.startswith(begin), form
        assert holds.get(form, "name.format") in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "strict"], "'strict' is not one of spec"),
        (["--select", "name.formt"], "did you mean name.format?"),
        (["--ignore", "nam"], "no rule or family is called 'nam'"),
        (["no-such-place"], "'no-such-place' does not exist"),
        ([__file__], "is neither a directory nor a SKILL.md"),
        (["--format", "xml"], "Invalid value"),
    ],
)
def test_a_wrong_command_line_exits_with_two(
    arguments: list[str], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *arguments]) == 2
    assert says in capfd.readouterr().err


def test_one_skill_is_read_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def given(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    given(GOOD.format(name="a"))
    assert run(["check", "-"]) == 0
    capfd.readouterr()
    given("---\nname: a\n---\n")
    assert run(["check", "-", "--json"]) == 1
    assert as_json(capfd)["diagnostics"][0]["path"] == "<stdin>"
    given(GOOD.format(name="a"))
    assert run(["check", "-", "--stdin-path", str(tmp_path / "b" / "SKILL.md")]) == 1
    assert "the directory is called 'b'" in capfd.readouterr().out


def test_hostile_files_are_findings_and_never_stop_the_rest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "good")
    for name in ("pipe", "dir", "link", "huge", "none"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    (tmp_path / "dir" / "SKILL.md").mkdir()
    (tmp_path / "link" / "SKILL.md").symlink_to("/etc/hosts")
    with (tmp_path / "huge" / "SKILL.md").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "escape\x1b[2J").mkdir()
    (tmp_path / "escape\x1b[2J" / "skill.MD").write_text("x")
    assert run(["check", str(tmp_path)]) == 1
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2J" in out
    for name, rule in (("pipe", "file.notRegular"), ("dir", "file.notRegular"), ("link", "file.notRegular")):
        assert f"{name}/SKILL.md:1:1 error {rule}" in out
    assert "huge/SKILL.md:1:1 error file.size" in out
    assert "in 6 skills" in out


def test_a_directory_without_a_skill_lacks_its_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(tmp_path)]) == 1
    assert "the directory holds no SKILL.md" in capfd.readouterr().out


def test_what_was_not_looked_at_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "x", "a")
    monkeypatch.setattr("prowess.format.skill_directories.MAX_DEPTH", 0)
    assert run(["check", str(tmp_path)]) == 1
    assert "its subdirectories were not searched" in capfd.readouterr().err


def _cases() -> list[Any]:
    cases = json.loads((_CONFORMANCE / "format-cases.json").read_text(encoding="utf-8"))["cases"]
    return [
        pytest.param(case, id=case["id"]) for case in cases if all(isinstance(f, str) for f in case["files"].values())
    ]


@pytest.mark.parametrize("case", _cases())
def test_the_command_judges_the_conformance_cases_as_the_library(
    case: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = tmp_path / str(case["dir"])
    for name, content in case["files"].items():
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_bytes(content.encode())
    expected = case["spec"]
    assert run(["check", "--json", "--", str(skill)]) == (0 if expected["valid"] else 1)
    report = as_json(capfd)
    assert report["skills"][0]["valid"] is expected["valid"]
    errors = [found for found in report["diagnostics"] if found["severity"] == "error"]
    notes = {found["rule"] for found in report["diagnostics"] if found["severity"] != "error"}
    assert set(expected.get("rules", ())) <= {found["rule"] for found in errors}
    assert set(expected.get("notes", ())) <= notes
    if "line" in expected:
        assert next(found["line"] for found in errors if found["rule"] in expected["rules"]) == expected["line"]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_family_that_has_no_rule_is_a_wrong_command_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(["check", str(tmp_path), option, "quality"]) == 2
    assert "families are spec, " in capfd.readouterr().err
