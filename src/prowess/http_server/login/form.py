"""Forms as browsers send them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

_MOST_FIELDS = 200
_FORM = "application/x-www-form-urlencoded"


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form. The size of the body is limited before the application is called.

    Raises:
        HTTPException: it is no form (415), or a malformed one (400).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != _FORM:
        raise HTTPException(415, f"forms are sent as {_FORM}")
    try:
        text = (await request.body()).decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise HTTPException(400, f"this is not a form of at most {_MOST_FIELDS} fields in UTF-8") from None
