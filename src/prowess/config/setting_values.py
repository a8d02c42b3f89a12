"""From what was written to the value of a setting, or a sentence about what is wrong with it.

A file gives plain data, a variable or flag a text; the text `a,b` means the list, `a=error,b=off` the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.globs import PathGlob, path_components
from prowess.config.settings import LEVELS, Setting
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_ENTRIES = 1000  # of one list or table; more is no list that a person keeps
_SHOWN = 60

Fault = tuple[str | None, str]
"""The key of a table that is wrong, if it is one, and the sentence."""


def value_of(setting: Setting, written: object) -> tuple[object, list[Fault]]:
    """Return the value, and what is wrong with it; where something is, the value holds what is left."""
    match setting.kind:
        case "choice":
            fault = _choice_fault(written, setting.choices)
            return (written, []) if fault is None else (setting.default, [(None, fault)])
        case "selectors" | "patterns":
            return _texts(setting, written)
        case "severities":
            return _severities(written)


def from_text(setting: Setting, texts: Iterable[str]) -> object:
    """Return as plain data what a variable, or a flag that may be repeated, says."""
    if setting.kind == "choice":
        return [*texts][-1].strip()
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if setting.kind != "severities":
        return parts
    return {name.strip(): level.strip() for name, _, level in (part.partition("=") for part in parts)}


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the spelling that may have been meant."""
    # Imported here, not at the top: only a fault needs it.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:_SHOWN], list(known), n=1, cutoff=cutoff)), None)


def shown(value: object) -> str:
    """Spell a value for a sentence, on one line and not too long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _choice_fault(written: object, choices: Sequence[str]) -> str | None:
    if written in choices:
        return None
    near = nearest(written, choices) if isinstance(written, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{shown(written)} is not one of {', '.join(choices)}{hint}"


def _texts(setting: Setting, written: object) -> tuple[tuple[str, ...], list[Fault]]:
    if not isinstance(written, list) or not all(isinstance(text, str) for text in written):
        return (), [(None, f"must be a list of texts, not {shown(written)}")]
    if len(written) > MAX_ENTRIES:
        return (), [(None, f"has {len(written)} entries, at most {MAX_ENTRIES} are allowed")]
    wrong = {text: fault for text in written if (fault := _text_fault(setting, text)) is not None}
    return tuple(text for text in written if text not in wrong), [(None, fault) for fault in wrong.values()]


def _text_fault(setting: Setting, text: str) -> str | None:
    if setting.kind == "patterns":
        try:
            path_setting(text)
        except ValueError as fault:
            return str(fault)
        return None
    return _selector_fault(text)


def _selector_fault(text: str) -> str | None:
    # Imported here, not at the top: without a selector, the usual case, nothing has to be checked.
    from prowess.lint import RULES
    from prowess.rule_engine.selection import selector_fault

    return selector_fault(text, RULES)


def _severities(written: object) -> tuple[tuple[tuple[str, Severity | None], ...], list[Fault]]:
    if not isinstance(written, dict):
        return (), [(None, f"must be a table of rules and levels, not {shown(written)}")]
    entries = [*_flattened(written)]
    if len(entries) > MAX_ENTRIES:
        return (), [(None, f"has {len(entries)} entries, at most {MAX_ENTRIES} are allowed")]
    found: list[tuple[str, Severity | None]] = []
    faults: list[Fault] = []
    for selector, level in entries:
        if (fault := _selector_fault(selector)) is not None:
            faults.append((selector, fault))
        elif (fault := _choice_fault(level, LEVELS)) is not None:
            faults.append((selector, f"{selector}: {fault}"))
        else:
            found.append((selector, None if level == "off" else Severity(str(level))))
    return tuple(found), faults


def _flattened(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """TOML reads `name.ascii = "error"` without quotes as a table in a table; it is meant all the same."""
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, dict) and value and name.count(".") < 2:  # noqa: PLR2004 -- no id is deeper
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


_MAX_COMPONENTS = 64


def path_setting(source: str) -> PathGlob:
    """Return a path pattern of a settings file, by the rules of .gitignore.

    A path is meant if `matches_or_lies_below` holds for it:

        vendor        a file or directory of that name at any depth, and everything below it
        docs/*        what is directly in docs
        docs/**       everything below docs
        .             everything

    Raises:
        ValueError: it is empty, climbs with `..`, or is longer than any path; the text names the fault.
    """
    text = source.strip()
    if not text:
        raise ValueError("a pattern is empty; write . for everything")
    parts = path_components(text)
    if ".." in parts:
        raise ValueError(f"{source!r} climbs out of the directory of the file; patterns go down from there")
    if len(parts) > _MAX_COMPONENTS:
        raise ValueError(f"a pattern has {len(parts)} parts, at most {_MAX_COMPONENTS} are allowed")
    return PathGlob.parse(text, floating=True)
