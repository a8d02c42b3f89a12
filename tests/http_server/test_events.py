"""Server-sent events over a real socket: records as they come, filtered, until the token is gone."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

import anyio
import pytest

from prowess.governance.organisation import new_token
from prowess.http_listener.listener import HttpListener, bound
from prowess.store.shared.tokens import SharedTokenStore
from tests.http_server.organisation import ServedOrganisation, in_file

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def listening(organisation: ServedOrganisation) -> Iterator[int]:
    """Serve an organisation on a socket, from a thread, and give the port."""
    with bound("127.0.0.1", 0) as socket:
        listener = HttpListener(organisation.app, socket)
        thread = threading.Thread(target=anyio.run, args=(listener.run,))
        thread.start()
        try:
            yield socket.getsockname()[1]
        finally:
            listener.stop()
            thread.join(20)
    assert not thread.is_alive()


class Stream:
    """The events of one connection."""

    def __init__(self, port: int, token: str, query: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.connection.request("GET", f"/api/v1/events{query}", headers={"authorization": f"Bearer {token}"})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        assert self.answer.headers["content-type"].startswith("text/event-stream")
        assert (self.answer.readline(), self.answer.readline()) == (b"retry: 500\n", b": connected\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.answer.close()
        self.connection.close()

    def next_record(self) -> dict[str, Any] | None:
        """Wait for the next record, and return it; None if the stream has ended."""
        while line := self.answer.readline():
            if line.startswith(b"data: "):
                found: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
                return found
        return None


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("acme")) as organisation:
        yield organisation


def test_a_record_is_sent_once_soon_and_with_the_name_of_its_user(acme: ServedOrganisation) -> None:
    client = acme.client("administrator", user="ada")
    with listening(acme) as port, Stream(port, acme.token("approver"), "?kind=governance") as stream:
        time.sleep(0.3)  # until the stream has looked for the first time
        begun = time.monotonic()
        client.post("/api/v1/tokens", json={"role": "viewer", "user": "bob"})
        first = stream.next_record()
        assert time.monotonic() - begun < 2
        assert first is not None
        assert (first["kind"], first["data"]["user"], first["sequence"]) == ("governance.token", "ada", 0)
        acme.sequence()  # the record moves into the log, and is not sent again
        client.post("/api/v1/blocks", json={"match": {"name": "leaky"}, "reason": "it leaks"})
        acme.sequence()
        second = stream.next_record()
        assert second is not None
        assert second["kind"] == "governance.block"


def test_a_stream_ends_soon_after_its_token_was_removed(acme: ServedOrganisation) -> None:
    store = SharedTokenStore(acme.server.database)
    made = new_token(store, tenant="default", role="approver", user="eve")
    assert made is not None
    with listening(acme) as port, Stream(port, made.text) as stream:
        store.remove_token(made.token.id)
        assert stream.next_record() is None


def test_one_token_has_8_streams_at_most_and_others_have_theirs(acme: ServedOrganisation) -> None:
    first, other = acme.token("approver", user="eight"), acme.token("approver", user="nine")
    with listening(acme) as port:
        with ExitStack() as streams:
            for _ in range(8):
                streams.enter_context(Stream(port, first))
            refused = acme.client("approver").get("/api/v1/events", headers={"authorization": f"Bearer {first}"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_exceeded")
            streams.enter_context(Stream(port, other))
        deadline = time.monotonic() + 10
        while acme.server.streams and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not acme.server.streams
