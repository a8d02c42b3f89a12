"""Files that scripts left behind, as MCP resources.

A resource's URI is `prowess://artifacts/<run>/<name>`, percent-encoded, so that every name survives the way there and
back; the run sorts by time and keeps two files of one name apart. Where the host hides places, the run is left out.
Reading goes through `skills.read`, through the same executor as every other call.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from msgspec import Struct

from prowess.errors import ResourceNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.runtime import Session

SCHEME = "prowess://artifacts/"
_TEXT_TYPES = ("application/json", "application/jsonl", "application/xml", "application/yaml", "image/svg+xml")
_SLICE = 1 << 20  # bytes asked for at once


class ArtifactResource(Struct, frozen=True, kw_only=True):
    """One artifact: `reference` is `<run>/<name>`, `size` is in bytes."""

    reference: str
    name: str
    media_type: str
    size: int

    @property
    def uri(self) -> str:
        """The URI under which it is read."""
        return SCHEME + quote(self.reference, safe="/")


class ArtifactResources:
    """What this server's session has left, the newest run first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._artifacts: dict[str, ArtifactResource] = {}

    def add(self, result: Mapping[str, object]) -> list[ArtifactResource]:
        """Take note of the artifacts in a result of `skills.run_script` and return them."""
        added = [_resource(entry) for entry in cast("Iterable[Mapping[str, object]]", result.get("artifacts", ()))]
        self._artifacts.update((artifact.uri, artifact) for artifact in added)
        return added

    def listed(self) -> list[ArtifactResource]:
        """Return every artifact, the newest run first, by name within a run."""
        runs = sorted({artifact.reference.split("/")[0] for artifact in self._artifacts.values()}, reverse=True)
        return sorted(self._artifacts.values(), key=lambda one: (runs.index(one.reference.split("/")[0]), one.name))

    async def read(self, uri: str) -> tuple[ArtifactResource, bytes]:
        """Return an artifact and its bytes.

        Raises:
            ResourceNotFoundError: no such artifact of this session.
            SkillError: what `skills.read` says.
        """
        artifact = self._artifacts.get(uri) or self._artifacts.get(_canonical(uri))
        if artifact is None:
            raise ResourceNotFoundError(None, uri)
        data = b""
        offset: int | None = 0
        while offset is not None:
            part = await self._session.read(artifact=artifact.reference, encoding="binary", offset=offset, limit=_SLICE)
            data += base64.b64decode(cast("str", part["data_base64"]))
            offset = cast("int | None", part["next_offset"])
        return artifact, data


def as_text(media_type: str, data: bytes) -> str | None:
    """Return the text of what has a text type, None where it is binary."""
    if not media_type.startswith("text/") and media_type not in _TEXT_TYPES:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _resource(entry: Mapping[str, object]) -> ArtifactResource:
    name, path = cast("str", entry["name"]), cast("str | None", entry["path"])
    reference = name  # where places are hidden: the newest of this name
    if path is not None:
        parts = path.split("/")
        run = parts[len(parts) - len(name.split("/")) - 1]  # the directory above the artifact's own name
        reference = f"{run}/{name}"
    return ArtifactResource(
        reference=reference,
        name=name,
        media_type=cast("str", entry["media_type"]),
        size=cast("int", entry["size"]),
    )


def _canonical(uri: str) -> str:
    """Return the URI in our own spelling; a host may have encoded more or fewer characters."""
    return SCHEME + quote(unquote(uri.removeprefix(SCHEME)), safe="/")
