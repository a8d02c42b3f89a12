"""Two forms of discovery from before the Skills extension, for the clients that know no other.

`skill://index.json` is the discovery index of version 0.2.0 with URIs of this server; Microsoft Agent Framework reads
it. `skill://<name>/_manifest` lists the files of one skill; FastMCP wrote and read it. Both say nothing that an entry
of the extension does not say. A skill that has a file called `_manifest` shows that file instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.printable_json import json_text
from prowess.catalog.skill_uri import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.mcp_server.skill_resources import ServedSkill

MANIFEST = "_manifest"
MEDIA_TYPE = "application/json"
_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


def index(skills: Iterable[ServedSkill]) -> str:
    """Return the text of `skill://index.json`."""
    entries = [
        {
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": skill.uri,
            "digest": next(f"sha256:{file.sha256}" for file in skill.files if file.path == DOCUMENT),
        }
        for skill in skills
    ]
    return json_text({"$schema": _SCHEMA, "skills": entries}, indent=2)


def manifest(skill: ServedSkill) -> str:
    """Return the text of `skill://<name>/_manifest`."""
    files = [{"path": file.path, "size": file.size, "hash": f"sha256:{file.sha256}"} for file in skill.files]
    return json_text({"skill": skill.name, "files": files}, indent=2)
