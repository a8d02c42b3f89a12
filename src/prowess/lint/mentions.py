"""Whether a text mentions a file or a directory, by its name as a whole: `api.md` does not stand in `my-api.md`."""

from __future__ import annotations

_TREE = ("\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}", "\N{BOX DRAWINGS LIGHT UP AND RIGHT}", "|--", "+--")


def names_folder(text: str, folder: str) -> bool:
    """Whether a text names a directory as such: `references/`, and nothing behind it. A drawn tree does not count."""
    name = f"{folder}/"
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        behind = text[end : end + 1]
        if (
            not _in_word(behind)
            and behind not in {"<", "{", "$", "["}
            and not _in_word(text[max(start - 1, 0) : start])
        ):
            line = text[text.rfind("\n", 0, start) + 1 : _line_end(text, end)]
            if line.strip() != name and not any(mark in line for mark in _TREE):
                return True
        start = text.find(name, end)
    return False


def names_whole(text: str, name: str) -> bool:
    """Whether a name stands in a text, and is no part of a longer one."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not _in_word(text[max(start - 1, 0) : start]) and not _in_word(text[end : end + 1], point=False):
            return True
        start = text.find(name, end)
    return False


def _in_word(character: str, *, point: bool = True) -> bool:
    return (character.isalnum() and character.isascii()) or (
        character in {"_", "-", "."} and (point or character != ".")
    )


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
