"""The settings of the catalog in a user's `config.toml` and a project's settings file.

    disabled = ["csv-*", "doctor@acme"]

    [layers]
    order = "project-first"

`disabled` is a list of patterns of names, in which `*`, `?` and `[...]` have the meaning of `fnmatch`. `layers.order`
counts only in the user's file: a project must not decide that its skills replace those of the user.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess._internal.layers_order import LAYERS_ORDERS
from prowess._internal.places import USER_FILE, prowess_home
from prowess.errors import ConfigurationError

if TYPE_CHECKING:
    from prowess._internal.layers_order import LayersOrder

DISABLED, LAYERS, ORDER = "disabled", "layers", "order"
DISABLED_VARIABLE, ORDER_VARIABLE = "PROWESS_DISABLED", "PROWESS_LAYERS_ORDER"
MAX_PATTERNS = 1000  # a person does not maintain a longer list
MAX_PATTERN = 200  # characters
_SHOWN = 60
OWN_FILE, SHARED_FILE = "prowess.toml", "pyproject.toml"  # of a project
SHARED_TABLE = ("tool", "prowess")  # the table in `SHARED_FILE`


def order_is_ignored(path: str) -> str:
    """Return the notice that a project's file sets the order of the layers."""
    return (
        f"{LAYERS}.{ORDER} in {path} is ignored, because a project cannot set it; use --layers-order, {ORDER_VARIABLE} "
        f"or the {USER_FILE} in PROWESS_HOME"
    )


class CatalogSettings:
    """The settings of one file. `order` is None if it is not set, or if the file is a project's.

    `sets_order`: the file has a table `layers`.
    """

    __slots__ = ("disabled", "order", "path", "sets_order")

    def __init__(
        self,
        path: str,
        disabled: tuple[str, ...] = (),
        order: LayersOrder | None = None,
        *,
        sets_order: bool = False,
    ) -> None:
        self.path = path
        self.sets_order = sets_order
        self.disabled = disabled
        self.order = order


def user_catalog_settings() -> CatalogSettings:
    """Return the settings of the user's `config.toml`.

    Raises:
        ConfigurationError: one of these settings is faulty, or the file has them and cannot be read as TOML.
    """
    path = os.path.join(prowess_home(), USER_FILE)
    if not os.path.lexists(path):
        return CatalogSettings(path)
    return catalog_settings(path, of_user=True) or CatalogSettings(path)


def layers_order(given: str | None) -> LayersOrder:
    """Return the order of the layers: `given`, else of `PROWESS_LAYERS_ORDER`, else of the user's `config.toml`.

    The default is `personal-first`.

    Raises:
        ConfigurationError: the first of these that is set is not an order, or the user's settings are faulty.
    """
    of_user = user_catalog_settings().order
    for name, text in (("--layers-order", given), (ORDER_VARIABLE, os.environ.get(ORDER_VARIABLE, "").strip())):
        if text:
            for order in LAYERS_ORDERS:
                if text == order:
                    return order
            raise ConfigurationError((f"{name}: {text!r:.{_SHOWN}} is not one of {', '.join(LAYERS_ORDERS)}",))
    return of_user or LAYERS_ORDERS[0]


def catalog_settings(path: str, inside: tuple[str, ...] = (), *, of_user: bool = False) -> CatalogSettings | None:
    """Return the settings of one file, in the table `inside`, or None if there is no such table.

    Raises ConfigurationError as `user_catalog_settings`.
    """
    try:
        data = read_toml_bytes(path)
        if inside and inside[-1].encode() not in data and b"\\" not in data:
            return None
        if not inside and DISABLED.encode() not in data and LAYERS.encode() not in data and b"\\" not in data:
            return CatalogSettings(path)  # usual, so the TOML reader is not loaded
        file = TomlFile(path, data, inside)
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    content: object = file.content
    for name in inside:
        content = content.get(name) if isinstance(content, dict) else None
    if content is None:
        return None
    found = _read(file, content if isinstance(content, dict) else {}, of_user=of_user)
    if file.faults:
        raise ConfigurationError(file.faults)
    return found


def _read(file: TomlFile, content: dict[str, object], *, of_user: bool) -> CatalogSettings:
    """Return the valid settings in `content`, a table of `file`; add the faults to `file`."""
    patterns, faults = name_patterns(content.get(DISABLED, []))
    for fault in faults:
        file.fault(fault, DISABLED)
    if not of_user:
        return CatalogSettings(file.path, patterns, sets_order=LAYERS in content)
    table = content.get(LAYERS, {})
    if not isinstance(table, dict):
        file.fault("must be a table", LAYERS)
        table = {}
    for key in table:
        if key != ORDER:
            file.fault(f"is no setting here; known here: {ORDER}", LAYERS, key)
    order = next((known for known in LAYERS_ORDERS if known == table.get(ORDER)), None)
    if ORDER in table and order is None:
        file.fault(f"{table[ORDER]!r:.{_SHOWN}} is not one of {', '.join(LAYERS_ORDERS)}", LAYERS, ORDER)
    return CatalogSettings(file.path, patterns, order, sets_order=LAYERS in content)


def name_patterns(written: object) -> tuple[tuple[str, ...], list[str]]:
    """Return the usable patterns of names in a list, and a sentence for each fault."""
    if not isinstance(written, list | tuple) or not all(isinstance(text, str) for text in written):
        return (), [f"must be a list of names or patterns of names, not {written!r:.{_SHOWN}}"]
    if len(written) > MAX_PATTERNS:
        return (), [f"has {len(written)} entries, at most {MAX_PATTERNS} are allowed"]
    patterns = [text.strip() for text in written]
    faults = [fault for text in patterns if (fault := _pattern_fault(text)) is not None]
    return tuple(dict.fromkeys(text for text in patterns if _pattern_fault(text) is None)), faults


def _pattern_fault(pattern: str) -> str | None:
    if not pattern:
        return "a pattern is empty; write * for every name"
    if len(pattern) > MAX_PATTERN:
        return f"a pattern has {len(pattern)} characters, at most {MAX_PATTERN} are allowed"
    return None


def patterns_of_text(text: str) -> tuple[str, ...]:
    """Return the patterns in a comma-separated text, such as the value of `PROWESS_DISABLED`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
