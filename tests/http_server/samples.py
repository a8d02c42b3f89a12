"""A valid request for each operation of the interface, in an organisation that `fill` has filled."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from prowess.distribution.publishing.packing import PackedFile, pack


class Sample(Struct, frozen=True, kw_only=True):
    """What a request is made of. `content` is a body that is no JSON."""

    path: dict[str, str] = {}
    query: dict[str, str] = {}
    body: Any = None
    content: bytes | None = None


def skill_archive(name: str) -> bytes:
    """Return the archive of a skill."""
    text = f"---\nname: {name}\ndescription: Does it. Use when needed.\n---\nDo.\n"
    return pack([PackedFile(path="SKILL.md", executable=False, data=text.encode())])


SAMPLES: dict[str, Sample] = {
    "add_token": Sample(body={"role": "viewer", "user": "bob"}),
    "remove_token": Sample(path={"id": "none"}),
    "session": Sample(path={"id": "one"}),
    "list_session_events": Sample(path={"id": "one"}),
    "ask_for_approval": Sample(body={"skill": "new", "digest": f"sha256:{1:064}"}),
    "approval": Sample(path={"id": "none"}),
    "revoke_approval": Sample(path={"id": "none"}),
    "vote": Sample(path={"id": "none"}, body={"vote": "approve"}),
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
    "deployment": Sample(path={"number": "1"}),
    "access": Sample(query={"skill": "kept"}),
    "skill": Sample(path={"name": "kept"}),
    "deploy": Sample(content=skill_archive("new")),
    "revoke_skills": Sample(body={"skills": ["gone"]}),
    "deprecate_skill": Sample(body={"skill": "kept"}),
    "roll_back_deployment": Sample(body={"release": 2}),
}
