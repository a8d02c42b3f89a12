"""Jinja templates of the pages: autoescape, no undefined names, and texts of other people shown as they are.

Every text that a template prints is escaped for HTML, and its control and bidirectional characters are shown as
escapes, so a name can neither add markup nor hide or reorder the text beside it. `field` is for the values of form
controls, which have to come back unchanged.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prowess._internal.text.terminal_text import counted, printable
from prowess.http_server.pages.rendering.static_files import static_link

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORT = 12  # hexadecimal digits of a shortened digest
_THOUSAND = 1000


class ControlValue(str):
    """The value of a form control: escaped for HTML, and otherwise unchanged."""

    __slots__ = ()


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the environment of all templates."""
    environment = Environment(
        loader=PackageLoader("prowess.http_server"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        field=_field, time=_time, clock=_clock, short=_short, counted=counted, number=_number, words=_words, age=_age
    )
    environment.globals.update(link=page_link, asset=static_link)
    return environment


def page_link(path: str, query: Mapping[str, object] | None = None, **further: object) -> str:
    """Return `path` with a query, without the parameters that are None or empty. A tuple repeats its parameter."""
    named = {**(query or {}), **further}
    pairs = [
        (name, str(one).encode("utf-8", "surrogatepass"))
        for name, value in named.items()
        for one in (value if isinstance(value, tuple) else (value,))
        if one is not None and one != ""
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _shown(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup | ControlValue):
        return printable(value)
    return "" if value is None else value


def _field(value: object) -> ControlValue:
    text = "" if value is None else str(value)
    return ControlValue(text.replace("\0", "\ufffd").encode("utf-8", "replace").decode())  # HTML has no NUL


def _moment(value: object) -> datetime | None:
    """Return a time that is in seconds since 1970 or in the form of audit records, None if it is neither."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _time(value: object) -> object:
    """Show a date and a time, in UTC."""
    return _timed(value, "%Y-%m-%d %H:%M:%S")


def _clock(value: object) -> object:
    """Show the time of the day, in UTC."""
    return _timed(value, "%H:%M:%S")


def _timed(value: object, form: str) -> object:
    if value is None:
        return "never"
    moment = _moment(value)
    if moment is None:
        return str(value)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        moment.isoformat(timespec="milliseconds"), moment.strftime("%Y-%m-%d %H:%M:%S"), moment.strftime(form)
    )


_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def _age(value: object) -> object:
    """Show how long ago a time was, in its largest unit."""
    moment = _moment(value)
    if value is None or moment is None:
        return "never"
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    unit, size = next((one for one in _UNITS if seconds >= one[1]), _UNITS[-1])
    told = f"{counted(seconds // size, unit)} ago"
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        moment.isoformat(timespec="seconds"), moment.strftime("%Y-%m-%d %H:%M:%S"), told
    )


def _short(digest: object) -> object:
    """Show the beginning of a digest; the title has all of it."""
    text = printable(str(digest or ""))
    shown = text.rpartition(":")[2][:_SHORT]
    return Markup('<code title="{}">{}</code>').format(text, shown) if text else ""


def _number(value: object) -> str:
    """Show a whole number with a thin space between thousands."""
    if not isinstance(value, int) or abs(value) < _THOUSAND:
        return str(value)
    return f"{value:,}".replace(",", "\u202f")


def _words(value: object) -> str:
    """Show a text, or the items of a list, or nothing."""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(one) for one in value)
    return "" if value is None else str(value)
