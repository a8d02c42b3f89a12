"""Pages of logins: the form, the page that continues after another site, and the page about a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from prowess.http_server.pages.rendering.templating import templates

if TYPE_CHECKING:
    from starlette.responses import Response


def login_page(name: str, *, status: int = 200, **values: object) -> Response:
    """Return the page `login/NAME.html`. It has no navigation, because it is for people without a login."""
    known: dict[str, object] = {"actor": None, "done": None, "problem": None, **values}
    return HTMLResponse(templates().get_template(f"login/{name}.html").render(known), status)
