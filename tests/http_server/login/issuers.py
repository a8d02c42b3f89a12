"""Issuers for tests: the certified `oidc-provider` of npm in a process of node, and one that forges on demand.

`tools/setup.sh` installs the package into `.cache/npm`. Without node or the package, tests are skipped with the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from httpx2 import Response

_MODULES = Path(os.environ.get("PROWESS_NPM") or Path(__file__).parents[3] / ".cache" / "npm") / "node_modules"
_NODE = 20
_PROGRAM = Path(__file__).with_name("issuer.mjs")
SECRET = "a secret: with / and + and %"


@contextmanager
def certified_issuer(redirect_uri: str) -> Iterator[str]:
    """Run the certified issuer; the value is its address. It ends with this process, also if that is killed."""
    node = shutil.which("node")
    if node is None or not (_MODULES / "oidc-provider").exists():
        pytest.skip("node, or oidc-provider in .cache/npm, is missing; `make setup` installs both")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < _NODE:
        pytest.skip(f"oidc-provider needs node {_NODE}, this is {version.strip()}")
    command = [node, "--no-warnings", str(_PROGRAM), str(_MODULES), redirect_uri]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, "the issuer did not start"
            yield address
        finally:
            process.kill()


class Visitor:
    """A browser at the certified issuer, which follows its redirects until one leads elsewhere."""

    def __init__(self) -> None:
        self._client = httpx2.Client(follow_redirects=False, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._client.close()

    def log_in(self, url: str, account: str) -> str:
        """Log in as an account, and return where the issuer sends the browser: our callback."""
        form = self._followed(self._client.get(url), url)
        assert isinstance(form, httpx2.Response), form
        assert form.is_success, form.text
        back = self._followed(self._client.post(form.url, data={"account": account}), url)
        assert isinstance(back, str), back.text
        return back

    def followed(self, url: str) -> str:
        """Return where a request leads: the address of another server, or the text of the last page."""
        end = self._followed(self._client.get(url), url)
        return end if isinstance(end, str) else end.text

    def _followed(self, answer: Response, url: str) -> Response | str:
        while answer.is_redirect:
            target = str(answer.url.join(answer.headers["location"]))
            if urlsplit(target).netloc != urlsplit(url).netloc:
                return target
            answer = self._client.get(target)
        return answer


class ForgingIssuer:
    """An issuer with keys of its own. `claims`, `header` and `sign` change what it gives for the next code."""

    def __init__(self) -> None:
        self.keys = KeySet([_key(RSAKey, 2048, "rsa"), _key(ECKey, "P-256", "ec"), _key(OKPKey, "Ed25519", "okp")])
        self.other = _key(RSAKey, 2048, "rsa")  # the same name, but not published
        self.metadata: dict[str, Any] = {}
        self.asked: dict[str, str] = {}
        """The parameters of the authorization request."""
        self.redeemed: list[dict[str, str]] = []
        """The parameters of each token request."""
        self.change: Callable[[dict[str, Any]], object] = lambda claims: None
        self.make: Callable[[dict[str, Any]], str] = self.signed
        self.answer: Callable[[str], tuple[int, dict[str, str], bytes]] | None = None
        """What the token endpoint answers instead: status, headers and body, from the ID token."""
        self.document: bytes | None = None
        """The keys that it publishes instead."""
        self.reads = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                if path == "/.well-known/openid-configuration":
                    self._send(200, {}, json.dumps(issuer.published()).encode())
                elif path == "/jwks":
                    issuer.reads += 1
                    self._send(200, {}, issuer.document or json.dumps(issuer.keys.as_dict()).encode())
                else:
                    self._send(404, {}, b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                issuer.redeemed.append(dict(parse_qsl(body)) | {"authorization": self.headers.get("authorization", "")})
                token = issuer.make(issuer.claims())
                if issuer.answer is not None:
                    self._send(*issuer.answer(token))
                else:
                    given = {"access_token": "x", "token_type": "Bearer", "id_token": token}
                    self._send(200, {}, json.dumps(given).encode())

            def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in ({"content-length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def published(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256", "Ed25519"],
            "code_challenge_methods_supported": ["S256"],
            **self.metadata,
        }

    def back(self, url: str, **changes: str) -> str:
        """Note an authorization request, and return the path and query of the way back with a code."""
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        query = {"state": self.asked["state"], "code": "the-code"} | changes
        return f"{urlsplit(self.asked['redirect_uri']).path}?{httpx2.QueryParams(query)}"

    def claims(self) -> dict[str, Any]:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": "ann",
            "aud": self.asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": self.asked["nonce"],
        }
        self.change(claims)
        return {name: value for name, value in claims.items() if value is not ...}

    def signed(self, claims: dict[str, Any], alg: str = "RS256", kid: str = "rsa") -> str:
        key = next(key for key in self.keys if key.kid == kid)
        return jwt.encode({"alg": alg, "kid": kid}, claims, key, algorithms=[alg])

    def of_another_key(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "rsa"}, claims, self.other)

    def with_its_own_key(self, claims: dict[str, Any]) -> str:
        header = {"alg": "RS256", "kid": "rsa", "jwk": self.other.as_dict(private=False)}
        return jwt.encode(header, claims, self.other)

    def with_a_shared_secret(self, claims: dict[str, Any]) -> str:
        """HS256 with what both sides know: the client secret."""
        return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET.encode()), algorithms=["HS256"])


def _key(kind: type[RSAKey | ECKey | OKPKey], size: Any, kid: str) -> RSAKey | ECKey | OKPKey:  # noqa: ANN401 -- of each kind
    return kind.generate_key(size, parameters={"kid": kid, "use": "sig"})
