"""Labels of plugins and packages: `name@label` means the copy of the skill there. Two sources never have one label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.layers import RESERVED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from prowess.catalog.sources import CatalogSource


def labels_of(sources: Iterable[CatalogSource]) -> set[str]:
    """Return the labels of the skills of these sources. Those of a lock are known after its scan."""
    labels: set[str] = set()
    for source in sources:
        own: Iterable[str] | None = getattr(source, "labels", None)
        labels.update((source.label,) if own is None else own)
    return labels


def package_label(name: str, kind: str) -> str:
    """Return the label of a package. If its name is reserved, `kind` comes first."""
    label = name.removeprefix("@")  # `name@label` has one `@`
    return f"{kind}:{label}" if label.lower() in RESERVED else label


def free_label(label: str, taken: Collection[str]) -> str:
    """Return the label, with a number if it is one of `taken`, the labels of a higher precedence."""
    free, number = label, 1
    while free in taken:
        number += 1
        free = f"{label}-{number}"
    return free
