"""A server of an organisation as machines see it: `GET /api/v1/bundle` with a token, over HTTP on this machine."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from msgspec.json import decode, encode

from prowess.audit.record import AuditRecord
from prowess.governance.machine.bundle import Bundle, sign_bundle
from prowess.governance.machine.collected_log import CollectedLog, continued
from prowess.governance.machine.reports import Collected, MachineReport, SentRecords
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.signing.keys import PrivateKey

TOKEN = "machine-token"


class Organisation:
    """An organisation with a key, and the bundle that its server sends."""

    def __init__(self, origin: str = "acme.example") -> None:
        self.origin = origin
        self.private: PrivateKey = new_private_key("ed25519")
        self.key = str(note_key(origin, self.private.public))
        self.sent = b""
        self.version = 0
        self.deployment: Path | None = None
        self.log, self.records = CollectedLog(), list[AuditRecord]()
        self.report: MachineReport | None = None
        outer = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.headers["authorization"] != f"Bearer {TOKEN}":
                    self.send_error(401)
                elif self.path.startswith(asked := "/api/v1/bundle?file=") and outer.deployment is not None:
                    file = outer.deployment / self.path.removeprefix(asked)
                    if not file.is_file():
                        self.send_error(404)
                        return
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(file.read_bytes())
                elif self.path != "/api/v1/bundle":
                    self.send_error(404)
                elif self.headers["if-none-match"] == f'"{outer.version}"':
                    self.send_response(304)
                    self.end_headers()
                else:
                    self.send_response(200)
                    self.send_header("Prowess-Key", outer.key)
                    self.send_header("Content-Length", str(len(outer.sent)))
                    self.end_headers()
                    self.wfile.write(outer.sent)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers["authorization"] != f"Bearer {TOKEN}":
                    self.send_error(401)
                    return
                answer = encode(outer.collect(decode(body, type=SentRecords)))
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments: object) -> None:
                del arguments

        self._handler = Answer
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    def collect(self, sent: SentRecords) -> Collected:
        """Take records as the real server does, in memory."""
        self.report = sent.machine
        step = continued(self.log, sent.records, sent.end, lambda record: record in self.records)
        self.log = step.after
        self.records += [record for record in step.records if record not in self.records]
        return Collected(acknowledged=step.after.place, version=self.version)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def bundle(self, version: int, *, seconds: float = 3600, tenant: str = "default", **files: str) -> Bundle:
        """Return a bundle with these files (`policy` is `policy.toml`)."""
        named = {"policy": "policy.toml", "blocks": "blocks.json", "approvals": "approvals.json", "root": "root.json"}
        return Bundle(
            origin=self.origin,
            tenant=tenant,
            version=version,
            expires=int(time.time() + seconds),
            files={named[name]: text for name, text in files.items()},
        )

    def send(self, bundle: Bundle, key: PrivateKey | None = None) -> None:
        """Send this bundle from now on."""
        self.sent = sign_bundle(bundle, key or self.private)
        self.version = bundle.version

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *details: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
