"""Qualified names of skills: `name@label` and its alias `label/name` mean the copy in the plugin or package `label`."""

from __future__ import annotations


def qualified_forms(text: str) -> tuple[tuple[str, str], ...]:
    """Return what `text` may mean as a qualified name: pairs of name and label; none for a plain name.

    A label may have a slash (`acme/tools/deploy` is `deploy` in `acme/tools`). A name has neither `@` nor a slash.
    """
    forms = []
    name, at, label = text.rpartition("@")
    if at and name and label:
        forms.append((name, label))
    label, slash, name = text.rpartition("/")
    if slash and name and label:
        forms.append((name, label.removeprefix("@")))
    return tuple(forms)


def one_form(text: str) -> str:
    """Return `name@label` for `label/name`, and any other text unchanged. Also for patterns of names."""
    label, slash, name = text.rpartition("/")
    return f"{name}@{label.removeprefix('@')}" if slash and name and label else text
