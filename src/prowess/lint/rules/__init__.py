"""All lint rules, one per module. Importing this package imports every rule, so a new rule needs no registration."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
