"""Clients that call a script of a skill without pause, go on to the next server after a fault, and repeat no call.

Each call has an id of its own, which the script appends to the file `runs` of the workspace, and which is the id of the
call in the log. So what ran, what was recorded and what was answered can be compared.
"""

from __future__ import annotations

import json
import threading
import time
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = 'echo "$1" >>runs\n'
_SECONDS = 60.0
_REST = 0.05  # seconds, after an answer that is no success
_AWAY = {"store_unavailable", "unavailable"}  # codes of a store, and of its log, that cannot be used
_VERSION = "2026-07-28"
_META = "io.modelcontextprotocol"


class Outcomes:
    """What clients heard of each call, by its id. Nobody knows of a call in `broken` whether it was made.

    `unexpected` has each answer that no fault explains. `done` is set when `most` calls were successful, or a client
    ended.
    """

    def __init__(self, most: int) -> None:
        self._most, self._numbers = most, count()
        self.acknowledged: set[str] = set()
        self.refused: dict[str, str] = {}
        self.broken: set[str] = set()
        self.unexpected: list[str] = []
        self.done = threading.Event()

    def new_id(self) -> str:
        return f"call-{next(self._numbers)}"

    def take(self, call: str, answer: dict[str, Any]) -> bool:
        """Take the answer to a call. Return whether it was a success."""
        result, text = answer.get("result", {"isError": True}), json.dumps(answer)
        if result["isError"]:
            self.refused[call] = text
            if result.get("_meta", {}).get("prowess/error", {}).get("code") not in _AWAY:
                self.unexpected.append(text)
            return False
        if result["structuredContent"]["exit_code"] != 0:
            self.unexpected.append(text)
        self.acknowledged.add(call)
        if len(self.acknowledged) >= self._most:
            self.done.set()
        return True


class ScriptCaller(threading.Thread):
    """A client of several servers, with one request at a time. Clients with one name have one session."""

    def __init__(self, name: str, urls: Sequence[str], outcomes: Outcomes) -> None:
        super().__init__(daemon=True)
        self._name, self._outcomes, self._urls = name, outcomes, cycle(urls)
        self._url = next(self._urls)
        self.http = httpx2.Client(timeout=_SECONDS)

    def run(self) -> None:
        """Call until all calls are done."""
        try:
            while not self._outcomes.done.is_set():
                if not self._call(self._outcomes.new_id()):
                    self._url = next(self._urls)
                    time.sleep(_REST)
        finally:
            self._outcomes.done.set()  # no test waits for a client that has failed

    def _call(self, call: str) -> bool:
        arguments = {"skill": "deploy", "path": "scripts/mark.sh", "args": [call]}
        try:
            return self._outcomes.take(call, self.ask(call, "skills_run_script", arguments))
        except httpx2.TransportError as fault:
            self._outcomes.broken.add(call)
            if isinstance(fault, httpx2.TimeoutException):
                self._outcomes.unexpected.append(f"{call} at {self._url}: {fault!r}")
            return False

    def ask(self, call: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send one call and return its answer. Raises httpx2.TransportError."""
        program = {"name": self._name, "version": "1"}
        meta = {"protocolVersion": _VERSION, "clientInfo": program, "clientCapabilities": {}}
        params = {"name": tool, "arguments": arguments, "_meta": {f"{_META}/{key}": one for key, one in meta.items()}}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _VERSION,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        message = {"jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params}
        answer = self.http.post(self._url, json=message, headers=headers)
        found = answer.json()
        assert isinstance(found, dict)
        return found

    def active(self, url: str) -> tuple[str, ...]:
        """Return the names of the active skills of the client's session, as one server states them."""
        self._url = url
        listed = self.ask("list", "skills_list", {})["result"]["structuredContent"]["skills"]
        return tuple(skill["name"] for skill in listed if skill["active"])
