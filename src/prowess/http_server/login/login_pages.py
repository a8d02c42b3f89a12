"""Pages of logins: the form, the page that continues after another site, and the page about a refusal."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from starlette.responses import Response


@lru_cache(maxsize=1)
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("prowess.http_server"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def login_page(name: str, *, status: int = 200, **values: object) -> Response:
    """Return the page `login/NAME.html`. Nobody is logged in on it, so it has no navigation."""
    known: dict[str, object] = {"actor": None, "done": None, "problem": None, **values}
    return HTMLResponse(_templates().get_template(f"login/{name}.html").render(known), status)
