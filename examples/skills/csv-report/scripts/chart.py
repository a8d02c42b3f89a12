"""Two SVG charts without dependencies: horizontal bars for groups, columns for periods.

The ground is transparent and every colour has enough contrast on white and on near-black, so that a chart can be
placed on either. Text is escaped; sizes are in user units of the view box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

BAR = "#3b82c4"
INK = "#6b7684"  # text: about 4.6 to 1 on white and 4.1 to 1 on #0d1117; viewers that know the scheme do better
GRID = "#8b97a5"
STYLE = (
    "<style>@media (prefers-color-scheme: light) { text { fill: #4a5563 } } "
    "@media (prefers-color-scheme: dark) { text { fill: #b4c0cc } }</style>"
)
WIDTH = 760
MAX_STEPS = 6
THOUSAND, MILLION = 1_000, 1_000_000
FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its amount, and how many rows it stands for."""

    label: str
    amount: float
    rows: int


def horizontal_bars(bars: list[Bar], *, title: str, subtitle: str, value_label: str, group_label: str) -> str:
    """Draw one bar a group, in the order given, with its amount at the end."""
    ticks = _ticks([bar.amount for bar in bars])
    left = 24 + min(220, max(70, int(7.2 * max(len(_short(bar.label, 28)) for bar in bars)) + 14))
    right, top, step = WIDTH - 84, 96, 34
    bottom = top + step * len(bars)
    scale = _Scale(ticks, left, right)
    parts = _frame(title, subtitle, f"{value_label} by {group_label}")
    for tick in ticks:
        x = scale.at(tick)
        parts.append(_line(x, top - 6, x, bottom, faint=tick != 0))
        parts.append(_text(x, bottom + 18, _number(tick), anchor="middle"))
    for index, bar in enumerate(bars):
        y = top + index * step
        start, end = sorted((scale.at(0), scale.at(bar.amount)))
        parts.append(
            f'<rect x="{start:.1f}" y="{y + 4}" width="{max(end - start, 1):.1f}" '
            f'height="{step - 12}" rx="3" fill="{BAR}"/>'
        )
        parts.append(_text(left - 10, y + 20, _short(bar.label, 28), anchor="end"))
        parts.append(_text(end + 8, y + 20, _number(bar.amount)))
    parts.append(_text((left + right) / 2, bottom + 42, value_label, anchor="middle", size=13))
    parts.append(_text(left - 10, top - 14, group_label, anchor="end", size=13))
    return _document(parts, bottom + 58, title)


def columns(bars: list[Bar], *, title: str, subtitle: str, value_label: str, group_label: str) -> str:
    """Draw one column a step, left to right; labels are thinned out so that they never overlap."""
    ticks = _ticks([bar.amount for bar in bars])
    left, right, top, bottom = 86, WIDTH - 24, 100, 340
    scale = _Scale(ticks, bottom, top)
    step = (right - left) / len(bars)
    parts = _frame(title, subtitle, f"{value_label} by {group_label}")
    for tick in ticks:
        y = scale.at(tick)
        parts.append(_line(left, y, right, y, faint=tick != 0))
        parts.append(_text(left - 10, y + 4, _number(tick), anchor="end"))
    longest = 7.0 * max(len(bar.label) for bar in bars) + 16
    every = max(1, math.ceil(longest / step))
    for index, bar in enumerate(bars):
        x, zero, end = left + index * step, scale.at(0), scale.at(bar.amount)
        parts.append(
            f'<rect x="{x + step * 0.12:.1f}" y="{min(zero, end):.1f}" width="{step * 0.76:.1f}" '
            f'height="{abs(zero - end):.1f}" rx="2" fill="{BAR}">'
            f"<title>{escape(bar.label)}: {_number(bar.amount)}</title></rect>"
        )
        if index % every == 0:
            parts.append(_text(x + step / 2, bottom + 20, bar.label, anchor="middle"))
    parts.append(_text((left + right) / 2, bottom + 46, group_label, anchor="middle", size=13))
    parts.append(_text(left - 10, top - 16, value_label, anchor="end", size=13))
    return _document(parts, bottom + 62, title)


@dataclass(frozen=True)
class _Scale:
    """Maps amounts between the first and the last tick to positions."""

    ticks: list[float]
    start: float
    end: float

    def at(self, amount: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (amount - low) / (high - low) * (self.end - self.start)


def _ticks(amounts: list[float]) -> list[float]:
    """Round steps of 1, 2 or 5 times a power of ten that hold zero and every amount."""
    low, high = min(0.0, *amounts), max(0.0, *amounts)
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= MAX_STEPS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _frame(title: str, subtitle: str, description: str) -> list[str]:
    return [
        f"<desc>{escape(description)}</desc>",
        _text(24, 32, title, size=19, bold=True),
        _text(24, 53, subtitle, size=13),
    ]


def _line(x1: float, y1: float, x2: float, y2: float, *, faint: bool) -> str:
    stroke = f'stroke="{GRID}" stroke-opacity="{0.3 if faint else 0.9}"'
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {stroke}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, bold: bool = False) -> str:
    look = f'font-size="{size}" fill="{INK}"' + (' font-weight="600"' if bold else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {look}>{escape(text)}</text>'


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _number(amount: float) -> str:
    if abs(amount) >= MILLION:
        return f"{amount / MILLION:,.2f}".rstrip("0").rstrip(".") + " M"
    return (
        f"{amount:,.0f}"
        if abs(amount) >= THOUSAND or float(amount).is_integer()
        else f"{amount:,.2f}".rstrip("0").rstrip(".")
    )


def _document(parts: list[str], height: float, title: str) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img" {FONT}>\n'
        f"<title>{escape(title)}</title>\n{STYLE}\n{body}\n</svg>\n"
    )
