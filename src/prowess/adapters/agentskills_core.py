"""A catalog as a provider of `agentskills_core`, for hosts that are built on that package.

    registry = SkillRegistry()
    await registry.register_all(CatalogProvider(Catalog("skills")))

The interface hands out contents and knows neither sessions nor calls, so no restriction, approval or sandbox is behind
it, and scripts are given as text. What it promises is what is here: the bytes of this skill and of no other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from anyio import to_thread

from prowess import errors
from prowess.adapters import MissingExtraError
from prowess.adapters.skill_contents import SkillContents
from prowess.runtime.files.skill_files import MAX_FILE_BYTES

try:
    import agentskills_core as theirs
except ImportError as fault:
    raise MissingExtraError(__name__, "agentskills", f"{fault}; it is for Python 3.12 or newer") from fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from prowess.catalog import Catalog

_P = ParamSpec("_P")
_T = TypeVar("_T")


class CatalogProvider(theirs.SkillProvider):  # type: ignore[misc]  # the package is not there where types are checked
    """Serves the skills of a catalog; one that is hidden from models is served by name and not discovered.

    No file of more than `max_bytes` is given out. Errors are those of `agentskills_core`, with our sentence.
    """

    supports_resource_listing = True
    supports_discovery = True
    supports_file_access = True

    def __init__(self, catalog: Catalog | str | PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self._contents = SkillContents(catalog, max_bytes=max_bytes)

    async def get_metadata(self, skill_id: str) -> dict[str, object]:
        """Return the front matter, without characters that nobody sees and a model reads."""
        return await _read(self._contents.frontmatter, skill_id)

    async def get_body(self, skill_id: str) -> str:
        """Return the instructions."""
        return await _read(self._contents.body, skill_id)

    async def get_script(self, skill_id: str, name: str) -> bytes:
        """Return a file below `scripts`."""
        return await _read(self._contents.file, skill_id, name, below="scripts")

    async def get_asset(self, skill_id: str, name: str) -> bytes:
        """Return a file below `assets`."""
        return await _read(self._contents.file, skill_id, name, below="assets")

    async def get_reference(self, skill_id: str, name: str) -> bytes:
        """Return a file below `references`."""
        return await _read(self._contents.file, skill_id, name, below="references")

    async def list_resources(self, skill_id: str) -> dict[str, list[str]]:
        """Return the files of each kind, those in directories below too."""
        return {kind: await _read(self._contents.below, skill_id, kind) for kind in theirs.RESOURCE_KINDS}

    async def list_files(self, skill_id: str) -> list[str]:
        """Return every file, SKILL.md among them."""
        return await _read(self._contents.paths, skill_id)

    async def read_file(self, skill_id: str, path: str) -> bytes:
        """Return the bytes of any file."""
        return await _read(self._contents.file, skill_id, path)

    async def discover(self) -> list[str]:
        """Scan again, and return the names that are open to models."""
        return await _read(self._contents.names)

    async def get_digest(self, skill_id: str) -> str | None:
        """Return the digest over all files, which `agentskills_core` has no name for."""
        return await _read(self._contents.digest, skill_id)


async def _read(function: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
    try:
        return await to_thread.run_sync(partial(function, *args, **options))
    except errors.SkillError as error:
        raise _translated(error) from error


def _translated(error: errors.SkillError) -> Exception:
    """Return their exception for ours: absent, unavailable and everything else are different things."""
    translated: Exception
    match error:
        case errors.SkillNotFoundError():
            translated = theirs.SkillNotFoundError(str(error))
        case errors.ResourceNotFoundError() | errors.NotAFileError() | errors.UnsafePathError():
            translated = theirs.ResourceNotFoundError(str(error))
        case errors.UnavailableError(retry_after=seconds):
            translated = theirs.SkillUnavailableError(str(error), retry_after=seconds)
        case errors.DigestChangedError():
            translated = theirs.SkillUnavailableError(str(error), retry_after=1)
        case _:
            translated = theirs.AgentSkillsError(str(error))
    return translated
