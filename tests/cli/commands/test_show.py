from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.cli.rich_page import PALETTES, drawn
from prowess.format import Role, read_skill
from prowess.report.skill_page import SkillPage
from tests.cli.terminal import on_a_terminal
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

BODY = "# Title\n\n- item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nRun `x` and see [it](references/it.md).\n"


def test_a_skill_is_shown_with_what_each_level_costs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill = write_skill(tmp_path, "pdf", body=BODY, files={"references/it.md": "x" * 41}, extra="license: MIT\n")
    assert run(["show", str(skill)]) == 0
    out = capfd.readouterr().out
    assert out.splitlines()[0] == "pdf"
    assert "license: MIT" in out
    assert re.search(r"1 always: about \d+ tokens \(pieces of text\)", out)
    assert re.search(r"2 when loaded: about \d+ tokens", out)
    assert "3 when needed: about 11 tokens (bytes / 4), 1 file\n  references/it.md  41 bytes" in out
    assert out.endswith(BODY)
    assert run(["show", str(skill), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["trit"], data["role"], data["color"]) == ("0", "Coordinator", "#F59E0B")


@pytest.mark.proves("tooling.cli.show", "tooling.boxxy.rendering")
def test_on_a_terminal_a_skill_has_the_colours_of_its_role_and_none_under_no_color(tmp_path: Path) -> None:
    write_skill(tmp_path, "pdf", body=BODY)
    shown = on_a_terminal(tmp_path, "show", "pdf", "--theme", "trit")
    assert "Coordinator (0) #F59E0B" in shown
    assert "\x1b[1;38;2;217;119;6mTitle" in shown
    assert "| 1 | 2 |" not in shown
    plain = on_a_terminal(tmp_path, "show", "pdf", "--theme", "trit", environment={"NO_COLOR": "1"})
    assert "\x1b" not in plain
    assert "| 1 | 2 |" in plain


def test_nothing_in_a_skill_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    hostile = (
        "# \x1b[31mred \x9b1m \u202e [x](javascript:alert%281%29) [bold]m[/bold] :smile:\n\n\x1b]8;;http://a\x07\n"
    )
    skill = write_skill(tmp_path, "pdf", body=hostile)
    page = SkillPage(skill=read_skill(skill))
    text = drawn(page, roles=True, width=60)
    without = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", without)
    assert "\x1b[31m" not in text
    assert "[bold]m[/bold] :smile:" in without
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "\n".join(page.lines(roles=True)))


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("role", list(Role))
def test_texts_can_be_read_on_dark_and_on_light(role: Role) -> None:
    palette = PALETTES[role]
    for colour in (palette.heading, palette.accent):
        own = luminance(colour) + 0.05
        assert own / 0.05 >= 3, colour
        assert 1.05 / own >= 3, colour
    assert 1.05 / (luminance(palette.code) + 0.05) >= 4.5


@pytest.mark.proves("tooling.boxxy.validate-dir", "tooling.boxxy.triad-summary", "tooling.boxxy.balancer")
def test_a_folder_is_validated_and_its_roles_are_summed_up(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("pdf", "hello"):
        write_skill(tmp_path, name)
    write_skill(tmp_path / "deep", "skill")
    assert run(["show", str(tmp_path), "--theme", "trit"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "■ Coordinator (0)",
        "  ● pdf",
        "■ Generator (+1)",
        "  ● hello",
        "■ Verifier (-1)",
        "  ● skill",
        "✓ 3 skills: whole triads",
        "✓ ∑ trits ≡ 0 (mod 3): balanced",
        "3 valid, 0 invalid in the profile boxxy",
    ]

    write_skill(tmp_path, "test-skill")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("---\nname: Bad\n---\n")
    assert run(["show", str(tmp_path), "--theme", "trit"]) == 1
    out = capfd.readouterr().out
    assert "✗ 4 skills: not a multiple of 3\n✗ ∑ trits ≡ 1 (mod 3): needs a Verifier (-1)\n" in out
    assert "bad/SKILL.md:1:1 description.required  description is missing" in out
    assert out.endswith("4 valid, 1 invalid in the profile boxxy\n")
    assert run(["show", str(tmp_path), "--theme", "trit", "--json"]) == 1
    data = json.loads(capfd.readouterr().out)
    assert (data["valid"], data["invalid"], data["missing"]) == (4, 1, "Verifier")
    assert {one["rule"] for one in data["messages"]} >= {"description.required", "name.format"}


@pytest.mark.proves("tooling.boxxy.triad-summary")
def test_on_a_terminal_each_group_has_its_colour(tmp_path: Path) -> None:
    write_skill(tmp_path, "pdf")
    shown = on_a_terminal(tmp_path, "show", "--theme", "trit")
    assert "\x1b[38;2;245;158;11m■" in shown
    assert "\x1b[38;2;168;85;247m■" in shown
    assert "\x1b[38;2;46;95;163m■" in shown


def test_only_what_a_model_would_read_counts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files: dict[str, str | bytes] = {
        "references/a.md": "x" * 400,
        "forms.md": "ü" * 200,
        "assets/template.html": "y" * 4000,
        "references/long.md": "ü" * 20_000,
        "assets/picture.png": b"\x89PNG\x00" * 1000,
        "assets/latin.txt": b"\xe9" * 1000,
        "scripts/run.py": "print()\n" * 1000,
        "LICENSE.txt": "z" * 10_000,
        "evals/evals.json": "[]" * 1000,
        ".cache/x.md": "z" * 1000,
    }
    write_skill(tmp_path, "pdf", files=files)
    assert run(["show", str(tmp_path / "pdf")]) == 0
    needed = (400 + 400 + 4000 + 40_000) // 4
    expected = f"3 when needed: about {needed} tokens (bytes / 4), 4 files; 6 files that no model reads\n"
    assert expected in capfd.readouterr().out


def test_a_folder_is_a_table_of_costs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path, "pdf", files={"references/a.md": "x" * 4000})
    write_skill(tmp_path / "deep", "a-name-that-is-much-longer-than-others")
    assert run(["show", str(tmp_path)]) == 0
    head, long, pdf, total = (line.split() for line in capfd.readouterr().out.splitlines())
    assert head == ["skill", "always", "when", "loaded", "when", "needed", "files"]
    assert long[0] == "a-name-that-is-much-longer-than-others"
    assert (pdf[0], pdf[3:]) == ("pdf", ["1000", "1"])
    assert total[:2] == ["2", "skills"]
    assert [int(one) + int(other) for one, other in zip(long[1:], pdf[1:], strict=True)] == [
        int(one) for one in total[2:]
    ]
    assert run(["show", str(tmp_path), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["skills"][1]["when_needed"] == data["total"]["when_needed"] == 1000
    assert data["broken"] == []

    narrow = on_a_terminal(tmp_path, "show", columns=48)
    assert max(map(len, narrow.split("\r\n"))) <= 48
    assert "a-name…" in narrow

    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("no fences")
    assert run(["show", str(tmp_path)]) == 1
    out, err = capfd.readouterr()
    assert out.splitlines()[-1].split()[:2] == ["2", "skills"]
    assert "not counted: " in err
    assert "see prowess check " in err


def test_what_cannot_be_shown_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(tmp_path / "gone")]) == 2
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("no fences")
    assert run(["show", str(broken)]) == 1
    assert "see prowess check" in capfd.readouterr().err


@pytest.mark.proves("tooling.boxxy.sample", "tooling.boxxy.extension-only")
def test_only_the_attributes_form_and_the_theme_speak_of_roles(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = str(write_skill(tmp_path, "pdf", description="Reads <forms> & more."))
    assert run(["to-prompt", "--form", "attributes", skill]) == 0
    out = capfd.readouterr().out
    assert '<skills count="1">' in out
    assert 'trit="0" role="Coordinator" color="#F59E0B"' in out
    assert "Reads &lt;forms&gt; &amp; more." in out
    for form in ("skills-ref", "xml", "tool", "json", "markdown"):
        assert run(["to-prompt", "--form", form, skill]) == 0
        assert "Coordinator" not in capfd.readouterr().out, form
    assert run(["show", skill]) == 0
    assert "Coordinator" not in capfd.readouterr().out
    assert run(["show", skill, "--theme", "trit"]) == 0
    assert capfd.readouterr().out.startswith("pdf  Coordinator (0)\n")


def test_a_skill_is_shown_by_its_name_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / ".agents" / "skills", "pdf", body=BODY)
    monkeypatch.chdir(tmp_path)
    assert run(["show", "pdf"]) == 2
    assert "'pdf' does not exist here, and no skill is called 'pdf': it is held back" in capfd.readouterr().err
    assert run(["trust"]) == 0
    assert run(["show", "pdf"]) == 0
    assert capfd.readouterr().out.endswith(BODY)
    assert run(["show", "x/pdf"]) == 2
    assert capfd.readouterr().err.endswith("'x/pdf' does not exist\n")


def test_what_a_skill_refuses_and_its_hooks_are_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hooks = "hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: x\n"
    extra = f"disallowedTools: Write Bash(rm:*)\n{hooks}"
    skill = write_skill(tmp_path, "pdf", body=BODY, extra=extra)
    assert run(["show", str(skill)]) == 0
    assert "disallowed-tools: Write Bash(rm:*)\nhooks: PreToolUse\n" in capfd.readouterr().out
    listed = write_skill(tmp_path, "csv", extra="disallowed-tools: [Write, Edit]\nhooks: 3\n")
    assert run(["show", str(listed)]) == 0
    assert "disallowed-tools: Write, Edit\nhooks: 3\n" in capfd.readouterr().out
