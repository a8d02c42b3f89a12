"""A person with a browser without a window, who logs in and sends forms of pages."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

from tests.http_server.organisation import BASE

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from tests.http_server.organisation import ServedOrganisation


class Visitor:
    """A person with a browser that keeps cookies and sends the hidden field of forms."""

    def __init__(
        self, organisation: ServedOrganisation, role: str, tenant: str = "default", user: str | None = None
    ) -> None:
        self.client: TestClient = organisation.client()
        self.client.headers["origin"] = BASE
        page = self.client.get("/login").text
        fields = {"token": organisation.token(role, tenant, user), "csrf": _csrf(page), "next": "/"}
        assert self.client.post("/login", data=fields, follow_redirects=False).status_code == 303

    def get(self, path: str) -> tuple[int, str]:
        answer = self.client.get(path)
        return answer.status_code, answer.text

    def send(self, page: str, path: str, **fields: str) -> Any:  # noqa: ANN401 -- a response
        """Send a form of a page."""
        return self.client.post(path, data={"csrf": _csrf(self.get(page)[1]), **fields})

    def upload(self, page: str, path: str, file: tuple[str, bytes, str], **fields: str) -> Any:  # noqa: ANN401 -- as above
        """Send a form of a page with a file in the field `archive`."""
        return self.client.post(path, data={"csrf": _csrf(self.get(page)[1]), **fields}, files={"archive": file})


def _csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return unescape(found[1])
