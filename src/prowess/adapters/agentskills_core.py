"""A catalog as a provider of `agentskills_core`, for hosts that are built on that package.

    registry = SkillRegistry()
    await registry.register_all(CatalogProvider(Catalog("skills")))

The interface of `agentskills_core` returns contents and has neither sessions nor calls. So no restriction, approval or
sandbox applies, and scripts are returned as text. The provider guarantees only that the bytes belong to the named
skill.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from anyio import to_thread

from prowess import errors
from prowess.adapters.skill_contents import SkillContents
from prowess.errors import MissingExtraError
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
    """Serves the skills of a catalog. A skill that is hidden from models is served by name but not discovered.

    Files larger than `max_bytes` are refused. Errors are exceptions of `agentskills_core` with the messages of Prowess.
    """

    supports_resource_listing = True
    supports_discovery = True
    supports_file_access = True

    def __init__(self, catalog: Catalog | str | PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self._contents = SkillContents(catalog, max_bytes=max_bytes)

    async def get_metadata(self, skill_id: str) -> dict[str, object]:
        """Return the front matter without invisible characters, which a model would read but a person would not see."""
        return await _read(self._contents.frontmatter, skill_id)

    async def get_body(self, skill_id: str) -> str:
        """Return the instructions."""
        return await _read(self._contents.body, skill_id)

    async def get_script(self, skill_id: str, name: str) -> bytes:
        """Return the bytes of a file in `scripts`."""
        return await _read(self._contents.file, skill_id, name, below="scripts")

    async def get_asset(self, skill_id: str, name: str) -> bytes:
        """Return the bytes of a file in `assets`."""
        return await _read(self._contents.file, skill_id, name, below="assets")

    async def get_reference(self, skill_id: str, name: str) -> bytes:
        """Return the bytes of a file in `references`."""
        return await _read(self._contents.file, skill_id, name, below="references")

    async def list_resources(self, skill_id: str) -> dict[str, list[str]]:
        """Return the files of each kind, including those in subdirectories."""
        return {kind: await _read(self._contents.below, skill_id, kind) for kind in theirs.RESOURCE_KINDS}

    async def list_files(self, skill_id: str) -> list[str]:
        """Return the paths of all files, including SKILL.md."""
        return await _read(self._contents.paths, skill_id)

    async def read_file(self, skill_id: str, path: str) -> bytes:
        """Return the bytes of any file of the skill."""
        return await _read(self._contents.file, skill_id, path)

    async def discover(self) -> list[str]:
        """Scan the catalog again and return the names of the skills that models may use."""
        return await _read(self._contents.names)

    async def get_digest(self, skill_id: str) -> str | None:
        """Return the digest of all files. `agentskills_core` does not define this method."""
        return await _read(self._contents.digest, skill_id)


async def _read(function: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
    try:
        return await to_thread.run_sync(partial(function, *args, **options))
    except errors.SkillError as error:
        raise _translated(error) from error


def _translated(error: errors.SkillError) -> Exception:
    """Return the matching exception of `agentskills_core`: not found, unavailable, or any other error."""
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
