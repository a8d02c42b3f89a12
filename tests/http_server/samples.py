"""A valid request for each operation of the interface, in an organisation that `fill` has filled."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Sample(Struct, frozen=True, kw_only=True):
    """What a request is made of."""

    path: dict[str, str] = {}
    query: dict[str, str] = {}
    body: Any = None


SAMPLES: dict[str, Sample] = {
    "add_token": Sample(body={"role": "viewer", "user": "bob"}),
    "remove_token": Sample(path={"id": "none"}),
    "session": Sample(path={"id": "one"}),
    "list_session_events": Sample(path={"id": "one"}),
    "block": Sample(path={"id": "none"}),
    "add_block": Sample(body={"match": {"name": "leaky"}, "reason": "it leaks"}),
    "remove_block": Sample(path={"id": "none"}),
    "policy": Sample(path={"name": "base"}),
    "put_policy": Sample(path={"name": "base"}, body={"toml": 'default = "allow"\n'}),
    "remove_policy": Sample(path={"name": "none"}),
    "replay_policy": Sample(body={"toml": 'default = "deny"\n'}),
    "proof": Sample(query={"record": "1"}),
    "send_records": Sample(body={"machine": {"id": "00000000-0000-7000-8000-000000000000", "name": "host"}}),
    "machine": Sample(path={"id": "none"}),
    "remove_machine": Sample(path={"id": "none"}),
    "consistency": Sample(query={"old": "0"}),
}
