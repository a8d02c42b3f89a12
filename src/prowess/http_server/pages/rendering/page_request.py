"""One request for a page: who asks, what was sent, and the answer.

Pages are functions of a `PageRequest`. They block, and run in worker threads. What a page may raise is turned into an
error page by `served`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from prowess.errors import SkillError
from prowess.governance.service.call_limit import CallLimit
from prowess.http_server.authentication import authenticate
from prowess.http_server.call_services import CallServices
from prowess.http_server.client_watch import MOST_SECONDS, run_for_client
from prowess.http_server.login.cookies import cookie, set_cookie
from prowess.http_server.login.csrf import csrf_field, require_csrf
from prowess.http_server.login.form import form_of
from prowess.http_server.login.next_path import login_path
from prowess.http_server.pages.rendering.error_pages import error_words, told
from prowess.http_server.pages.rendering.navigation import home_of, navigation_of
from prowess.http_server.pages.rendering.templating import templates
from prowess.http_server.pages.rendering.uploaded_form import MULTIPART, UploadedForm, read_upload
from prowess.store.tenants import DEFAULT, EVERY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from prowess.governance.service.service_call import Actor, ServiceCall
    from prowess.http_server.server import OrganisationServer

    Page = Callable[["PageRequest"], Response]


class Fields(dict[str, str]):
    """Fields of a form or parameters of a query; the empty text for those that are missing."""

    def __missing__(self, name: str) -> str:
        return ""


class PageRequest:
    """A request of a person who is logged in. `form` has the fields of a POST, `files` its files."""

    def __init__(self, server: OrganisationServer, request: Request, call: ServiceCall, form: UploadedForm) -> None:
        self.server, self.request, self.call = server, request, call
        self.form, self.files = Fields(form.fields), form.files

    @property
    def path(self) -> str:
        """The path of the request."""
        return self.request.url.path

    def path_part(self, name: str) -> str:
        """Return a part of the path, which the route names."""
        return str(self.request.path_params[name])

    def query(self, name: str) -> str | None:
        """Return a parameter of the query, None if it is missing or blank."""
        return self.request.query_params.get(name, "").strip() or None

    def queries(self, names: tuple[str, ...]) -> Fields:
        """Return those of the parameters that have a value."""
        return Fields((name, value) for name in names if (value := self.query(name)) is not None)

    def field(self, name: str) -> str | None:
        """Return a field of the form, None if it is missing or blank."""
        return self.form.get(name, "").strip() or None

    @property
    def services(self) -> CallServices:
        """Services that need more than the call."""
        return CallServices(self.call, self.server.signer)

    def render(self, template: str, *, status: int = 200, problem: str | None = None, **values: object) -> Response:
        """Return a page. `problem` is a sentence about the refusal."""
        done = DONE.get(self.query("done") or "")
        known = {"done": done, "problem": problem, "here": f"/{self.path.split('/')[1]}", "tenant": self.call.tenant}
        actor = self.call.actor
        text = (
            templates()
            .get_template(template)
            .render(
                actor=actor,
                may=actor.may,
                navigation=navigation_of(actor),
                tenants=(*self.server.tenants(), EVERY) if actor.tenant == EVERY else (),
                address=str(self.request.base_url).rstrip("/"),
                csrf_field=csrf_field(self.request),
                **{**known, **values},
            )
        )
        return HTMLResponse(text, status)


# What a page tells after a form was accepted. The query names the sentence, so a link cannot write one.
DONE = {
    "vote": "Your vote is recorded.",
    "approval-revoked": "The approval is revoked. It is void at the next call.",
    "requested": "The request for approval was made.",
    "blocked": "The block holds at the next call.",
    "unblocked": "The block is removed.",
    "policy": "The policy holds at the next call.",
    "token-removed": "The token is removed. It is refused from now on.",
    "machine-removed": "The machine is forgotten. It comes back if it still has a token and is in contact.",
    "deployment": "The deployment is published.",
}


def redirect(path: str, done: str | None = None) -> Response:
    """Return a redirect after a form was accepted. `done` is a key of `DONE`."""
    return RedirectResponse(path if done is None else f"{path}?done={done}", 303)


def served(server: OrganisationServer, page: Page) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page: it asks for a login, runs the page in a worker thread, and shows its errors."""

    async def endpoint(request: Request) -> Response:
        actor = await authenticate(server, request)
        if actor is None:
            return login_redirect(request)
        form = UploadedForm(fields={}, files={})
        if request.method == "POST":
            form = await _form_of(request)
            require_csrf(request, form.fields)
        limit = CallLimit(MOST_SECONDS)
        work = partial(_answered, server, page, request, form, partial(call_of, server, actor, request, limit))
        return await run_for_client(work, request.receive, limit)

    return endpoint


async def _form_of(request: Request) -> UploadedForm:
    kind = request.headers.get("content-type", "")
    if kind.casefold().startswith(MULTIPART):
        return read_upload(kind, await request.body())
    return UploadedForm(fields=await form_of(request), files={})


def _answered(
    server: OrganisationServer,
    page: Page,
    request: Request,
    form: UploadedForm,
    call: Callable[[], ServiceCall],
) -> Response:
    shown = PageRequest(server, request, call(), form)
    try:
        return page(shown)
    except (HTTPException, SkillError, ValidationError) as fault:
        status, message = told(fault, shown.call.actor)
        return shown.render("error.html", status=status, **error_words(status, message))


def call_of(server: OrganisationServer, actor: Actor, request: Request, limit: CallLimit | None = None) -> ServiceCall:
    """Return the call of a person. One of the organisation sees the tenant that was chosen, by default the first."""
    chosen = cookie(request, TENANT_COOKIE, server.logins.settings.public_url)
    wanted = (chosen or DEFAULT) if actor.tenant == EVERY else actor.tenant
    found = server.call(actor, request, wanted, limit) or server.call(actor, request, DEFAULT, limit)
    if found is None:
        raise HTTPException(404, "There is no such tenant.")
    return found


TENANT_COOKIE = "prowess_tenant"


def login_redirect(request: Request) -> Response:
    """Return the redirect to the login, which leads back to a page that was asked for."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(login_path(f"{request.url.path}{query}") if request.method == "GET" else "/login", 303)


def home_page(page: PageRequest) -> Response:
    """Lead to the first page that a person sees."""
    return redirect(home_of(page.call.actor))


def choose_tenant(page: PageRequest) -> Response:
    """Keep which tenant a person of the organisation looks at. What is no tenant of theirs is ignored later."""
    answer = redirect(home_of(page.call.actor))
    public_url = page.server.logins.settings.public_url
    set_cookie(answer, page.request, TENANT_COOKIE, page.field("tenant") or DEFAULT, public_url)
    return answer
