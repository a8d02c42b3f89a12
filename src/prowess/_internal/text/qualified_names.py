"""Qualified names of skills: `name@label` and its alias `label/name` mean the copy in the plugin or package `label`.

`name@VERSION` means the copy with this version, or nothing. A version begins with a digit, so a package whose name does
is meant by `label/name` alone.
"""

from __future__ import annotations

_DIGITS = "0123456789"


def qualified_forms(text: str) -> tuple[tuple[str, str], ...]:
    """Return what `text` may mean as a qualified name: pairs of name and label; none for a plain name.

    A label may have a slash (`acme/tools/deploy` is `deploy` in `acme/tools`). A name has neither `@` nor a slash.
    """
    forms = []
    name, at, label = text.rpartition("@")
    if at and name and label and label[0] not in _DIGITS:
        forms.append((name, label))
    label, slash, name = text.rpartition("/")
    if slash and name and label:
        forms.append((name, label.removeprefix("@")))
    return tuple(forms)


def version_form(text: str) -> tuple[str, str] | None:
    """Return the name and the version of `name@VERSION`, or None if `text` asks for no version."""
    name, _, version = text.rpartition("@")
    return (name, version) if name and version and version[0] in _DIGITS else None


def qualified(name: str, label: str) -> str:
    """Return the qualified name that means the copy in `label`."""
    return f"{label}/{name}" if label[:1] in _DIGITS and label else f"{name}@{label}"


def one_form(text: str) -> str:
    """Return the form of `qualified` for `label/name`, and any other text unchanged. Also for patterns of names."""
    label, slash, name = text.rpartition("/")
    return qualified(name, label.removeprefix("@")) if slash and name and label else text
