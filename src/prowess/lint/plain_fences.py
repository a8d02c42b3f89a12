"""Whether the fences of a text are plainly closed, told without a parser: as in nearly every text that has any."""

from __future__ import annotations


def plainly_closed(text: str) -> bool:
    """Whether all fences are of three backticks, and each second one of nothing else; False says nothing."""
    if "~~~" in text or "````" in text:
        return False
    at, inside = text.find("```"), False
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line = text[start : end if end >= 0 else len(text)].strip()
        if line.startswith("```"):
            if inside and line != "```":
                return False
            inside = not inside
        at = text.find("```", end) if end >= 0 else -1
    return not inside
