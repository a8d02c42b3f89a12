"""Lazy imports: a module is imported when one of its names is first used, so importing the package loads none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping  # noqa: TC003 -- importing `typing` takes a third of the time of `prowess --version`


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Return the `__getattr__` of `package` (PEP 562). `homes` maps each module to the names that it defines.

    The modules are attributes too, as if they were imported, and `dir` lists the names.
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def resolve(name: str) -> object:
        if name not in home_of and name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import import_module  # Imported here, not at the top: `prowess --version` uses no lazy name.

        if name not in home_of:
            return import_module(f"{package}.{name}")
        value: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    here = vars(sys.modules[package])
    here["__dir__"] = lambda: sorted({*here, *home_of})
    return resolve
