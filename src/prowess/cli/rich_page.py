"""A skill rendered with rich: its Markdown formatted, and optionally its headings in the colour of its role.

All texts are escaped before they reach rich, and links are shown as text, so that a skill cannot send control sequences
to the terminal. Text colours have a contrast of at least 3 to 1 on black and on white.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.box import SIMPLE
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.format.role import Role

if TYPE_CHECKING:
    from prowess.report.skill_page import SkillPage


class Palette(Struct, frozen=True, kw_only=True):
    """Colours of texts, and the background of code, which is written in white."""

    heading: str
    accent: str
    code: str


PALETTES = {
    Role.COORDINATOR: Palette(heading="#D97706", accent="#B45309", code="#92400E"),
    Role.GENERATOR: Palette(heading="#A855F7", accent="#7C3AED", code="#581C87"),
    Role.VERIFIER: Palette(heading="#2E5FA3", accent="#1D4ED8", code="#1E3A5F"),
}


def drawn(page: SkillPage, *, roles: bool, width: int, colours: bool = True) -> str:
    """Render the page for a terminal of `width` columns. `roles` uses the palette of the skill's role."""
    file = io.StringIO()
    Console(
        file=file,
        width=max(width, 20),
        force_terminal=True,
        color_system="truecolor" if colours else None,
        theme=_theme(PALETTES[page.role]) if roles else None,
        highlight=False,
        emoji=False,
        markup=False,
    ).print(layout(page, roles=roles))
    return file.getvalue()


def layout(page: SkillPage, *, roles: bool) -> Group:
    """Return the renderable: a table of facts and costs, and the body."""
    head = Text(printable_line(page.skill.name), style="bold")
    if roles:
        head.append("  ● ", style=page.role.color)
        head.append(f"{page.role.title} ({page.role.balanced}) {page.role.color}")
    table = Table(box=SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for label, text in (*page.facts, *page.budget):
        table.add_row(Text(printable_line(label)), Text(printable_line(text)))
    return Group(head, table, Markdown(printable(page.skill.body), hyperlinks=False, code_theme="bw"))


def _theme(palette: Palette) -> Theme:
    heading, accent = f"bold {palette.heading}", f"bold {palette.accent}"
    return Theme(
        {
            "markdown.h1": heading,
            "markdown.h2": accent,
            "markdown.h3": heading,
            "markdown.h4": accent,
            "markdown.code": f"#FFFFFF on {palette.code}",
            "markdown.link": palette.accent,
            "markdown.link_url": palette.accent,
            "markdown.item.bullet": palette.heading,
            "markdown.item.number": palette.heading,
        }
    )
