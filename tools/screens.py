"""Write the screens of the documentation as SVG, drawn by the commands' own code.

docs/screens/show.svg, check.svg, triads.svg

python tools/screens.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from prowess.cli.rich_page import layout
from prowess.format import read_skill
from prowess.format.parsing import parse_document
from prowess.format.reading import validate_skill
from prowess.report import CheckedSkill
from prowess.report.skill_page import SkillPage, TriadSummary
from prowess.report.text_report import TextLayout, check_lines

ROOT = Path(__file__).parents[1]
SKILLS = ROOT / "examples" / "skills"
_BROKEN = "---\nname: Invoices\ndescription: Checks invoices: sums, VAT\nlicence: MIT\n---\nSee [rates](../rates.md).\n"
_WEB_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)  # the page must not fetch anything
_MARK = re.compile("\x02(.*?)\x03(.*?)\x04")


def _console(width: int = 96) -> Console:
    return Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")


def _styled(text: str, colour: str) -> str:
    return f"\x02{colour}\x03{text}\x04"


def _print(console: Console, line: str) -> None:
    text, at = Text(), 0
    for match in _MARK.finditer(line):
        text.append(line[at : match.start()])
        text.append(match[2], style=match[1])
        at = match.end()
    console.print(text.append(line[at:]))


def screens() -> dict[str, str]:
    """Return each screen by name."""
    show, check, triads = _console(), _console(110), _console(60)
    show.print(layout(SkillPage(skill=read_skill(SKILLS / "release-notes")), roles=True))
    document = parse_document(_BROKEN, path="invoices/SKILL.md")
    checked = CheckedSkill(
        path="invoices", name="invoices", read=lambda: document, diagnostics=tuple(validate_skill(document))
    )
    for line in check_lines([checked], TextLayout(style=_styled)):
        _print(check, line)
    for line in TriadSummary.of(sorted(path.name for path in SKILLS.iterdir() if path.is_dir())).lines(_styled):
        _print(triads, line)
    titles = {
        "show": "prowess show release-notes --theme trit",
        "check": "prowess check",
        "triads": "prowess show . --theme trit",
    }
    consoles = {"show": show, "check": check, "triads": triads}
    return {
        name: _WEB_FONTS.sub("", console.export_svg(title=titles[name], unique_id=name))
        for name, console in consoles.items()
    }


def main() -> None:
    """Write the files."""
    folder = ROOT / "docs" / "screens"
    folder.mkdir(exist_ok=True)
    for name, svg in screens().items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
