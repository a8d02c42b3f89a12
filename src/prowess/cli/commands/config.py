"""`prowess config`: shows the settings in force and the origin of each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.configuration_options import configuration_options, open_configuration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.config import Configuration, Origin, Value

_UNSET = {
    "select": "as in the profile",
    "ignore": "none",
    "severity": "as in the profile",
    "exclude": "none",
    "disabled": "none",
    "registries": "none",
}


@click.group(name="config")
def command() -> None:
    """Show the settings in force here.

    Example: prowess config show
    """


@command.command(name="show")
@click.argument("path", required=False, metavar="[SKILL]")
@configuration_options
@json_option
def show(path: str | None, *, as_json: bool, **options: Any) -> int:  # noqa: ANN401 -- passed on to configuration_options
    """Print every setting, and the file, variable or flag that set it.

    SKILL is the path of a skill: print the settings for it. The options are those of `prowess check`; use them here to
    see their effect.

    Example: prowess config show --preset strict
    """
    configuration = open_configuration(quiet=True, **options)
    if as_json:
        output.document(_document(configuration, path))
        return exit_codes.OK
    rows = list(_rows(configuration.values(path)))
    name_width = max(len(row[0]) for row in rows)
    text_width = max(len(row[1]) for row in rows)
    for name, text, origin in rows:
        output.line(f"{name:<{name_width}}  {text:<{text_width}}  {origin}")
    for line in _remarks(configuration, path):
        output.line(line)
    return exit_codes.OK


def _rows(values: Mapping[str, Value]) -> Iterator[tuple[str, str, str]]:
    for name, value in values.items():
        plain = _plain(value)
        if isinstance(plain, dict) and plain:
            for at, (selector, level) in enumerate(plain.items()):
                origin = value.entries.get(selector, value.origin)
                yield "" if at else name, f"{printable_line(selector)} = {level}", _shown(origin)
            continue
        if isinstance(plain, list) and value.entries:
            for at, text in enumerate(plain):
                yield "" if at else name, printable_line(text), _shown(value.entries[text])
            continue
        text = ", ".join(plain) if isinstance(plain, list) else str(plain)
        yield name, printable_line(text) if plain else _UNSET.get(name, ""), _shown(value.origin)


def _remarks(configuration: Configuration, path: str | None) -> Iterator[str]:
    if path is None:
        for layer in configuration.layers:
            for settings in layer.paths:
                said = "; ".join(f"{name} {text}".strip() for name, text, _ in _rows(settings.values))
                yield f"{_shown(settings.origin)} for {printable_line(settings.pattern)}: {said}"
    elif configuration.excludes(path):
        yield f"{printable_line(path)} is excluded"
    if not configuration.trusted:
        yield "this project is not trusted: its file cannot lower findings of the family security (`prowess trust`)"
    yield from map(printable_line, configuration.notices)


def _shown(origin: Origin) -> str:
    return output.shown_path(str(origin))


def _plain(value: Value) -> object:
    """Return a value as plain data for JSON: a string, a list, or for severities an object of levels."""
    if not isinstance(value.value, tuple):
        return value.value
    if value.value and isinstance(value.value[0], tuple):
        return {selector: "off" if level is None else str(level) for selector, level in value.value}
    return list(value.value)


def _document(configuration: Configuration, path: str | None) -> dict[str, object]:
    return {
        "files": [{"path": layer.path, "kind": layer.kind} for layer in configuration.layers if layer.path],
        "trusted": configuration.trusted,
        "notices": list(configuration.notices),
        "skill": path,
        "excluded": path is not None and configuration.excludes(path),
        "settings": _settings(configuration.values(path)),
        "paths": [
            {"pattern": settings.pattern, "origin": settings.origin, "settings": _settings(settings.values)}
            for layer in configuration.layers
            for settings in layer.paths
        ],
    }


def _settings(values: Mapping[str, Value]) -> dict[str, object]:
    return {
        name: {"value": (_plain(value) or {}) if name == "severity" else _plain(value), "origin": value.origin}
        | ({"entries": dict(value.entries)} if value.entries else {})
        for name, value in values.items()
    }
