"""Frozen values that every call makes anew, made in two thirds of the time.

A frozen dataclass stores its fields through `object.__setattr__`, which looks each of them up by its name. Here they
are stored through the slots themselves. The rest of the dataclass stays as it is.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


def quickly_made(cls: type[_T]) -> type[_T]:
    """Give a frozen keyword-only dataclass with slots another `__init__` that does the same.

    Raises:
        TypeError: it is none, something is to be done after `__init__`, or a field has a default factory, is inherited,
            or is none of `__init__`.
    """
    known: dict[str, object] = {}
    parameters, stores = [], []
    said = fields(cls)  # type: ignore[arg-type]  # it is a dataclass, or this raises
    if not _is_plain(cls, {field.name for field in said}):
        raise TypeError(cls.__name__)
    for field in said:
        if field.default_factory is not MISSING or not (field.init and field.kw_only):
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


def _is_plain(cls: type, names: set[str]) -> bool:
    """Whether a dataclass is frozen and has slots for exactly its fields, and `__init__` does nothing else."""
    frozen: bool = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]  # every dataclass has them
    return (
        frozen
        and not hasattr(cls, "__post_init__")
        and {*getattr(cls, "__slots__", ())} == names == {*inspect.get_annotations(cls)}
    )
