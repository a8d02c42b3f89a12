"""Errors as pages: what happened, and what to do."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from prowess.errors import SkillError
from prowess.http_server.faults import sentence_of, status_of
from prowess.http_server.pages.rendering.templating import templates

if TYPE_CHECKING:
    from msgspec import ValidationError
    from starlette.responses import Response

    from prowess.governance.service.service_call import Actor

_WORDS = {
    400: ("This request is not valid", "Go back, change what is named here, and send it again."),
    403: ("You may not do this", "Ask an administrator of your organisation for the role that this needs."),
    404: ("There is no such page", "Choose a page in the navigation. What was here may have been removed."),
    405: ("This is not possible here", "Choose a page in the navigation."),
    409: ("This was decided meanwhile", "Load the page again to see its present state."),
    413: ("This is too large", "Send less at once."),
    421: ("This server does not have that name", "Use the address that the server printed when it started."),
    429: ("Too many requests", "Wait a minute, then try again."),
    500: (
        "The server failed",
        "Try again. If it stays so, tell an administrator; the log of the server has the reason.",
    ),
    503: (
        "Not available at the moment",
        "Try again in a minute. If it stays so, tell an administrator; /readyz of this server tells more.",
    ),
}


def error_page(status: int, message: str) -> Response:
    """Return an error page for somebody who is not known: it has no navigation."""
    values = {"actor": None, "done": None, "problem": None, **error_words(status, message)}
    return HTMLResponse(templates().get_template("error.html").render(values), status)


def error_words(status: int, message: str) -> dict[str, str]:
    """Return the heading, the message and the advice of an error page."""
    if message == HTTPStatus.NOT_FOUND.phrase:  # of the router
        message = "Nothing is at this address."
    heading, advice = _WORDS.get(status, ("This did not work", "Go back and try again."))
    return {"heading": heading, "message": message, "advice": advice}


def told(fault: HTTPException | SkillError | ValidationError, actor: Actor | None) -> tuple[int, str]:
    """Return the status of an error and one sentence about it, for `actor`."""
    if isinstance(fault, HTTPException):
        return fault.status_code, fault.detail
    status, sentence = (
        (status_of(fault), sentence_of(fault, actor)) if isinstance(fault, SkillError) else (400, str(fault))
    )
    return status, f"{sentence[:1].upper()}{sentence[1:]}."
