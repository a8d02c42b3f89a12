"""The manifest of a plugin: its name and version, and the skills that it declares.

The manifest is untrusted input. It is read only if it is a regular file below the plugin's directory, and only up to a
size limit. Problems raise no error: an unusable value is recorded as a fault, and the plugin is read without it.

Sources: Claude Code, plugin manifest schema; Agent Plugins 1.0, `plugin.json`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess.catalog.layers import RESERVED
from prowess.errors import UnsafePathError
from prowess.format.fields.placeholders import PLUGIN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# In the order of preference. A plain plugin.json counts only if it names the schema of Agent Plugins.
MANIFEST_FILES = (
    ".claude-plugin/plugin.json",
    "plugin.json",
    ".codex-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
)
MAX_MANIFEST_BYTES = 256 * 1024  # our limit; the largest real manifest seen is below 8 KiB
MAX_DECLARED = 1000  # skills; our limit
_SCHEMA = "https://agent-plugins.org/"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?\Z"
_VERSION = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}\Z"
_ROOT_VARIABLE = f"${{{PLUGIN_VARIABLE}}}"
_SHOWN = 60


class PluginManifest(Struct, frozen=True, kw_only=True):
    """The contents of a manifest. `file` is its path relative to the plugin.

    `name` and `version` are None if the manifest has no usable ones. `skills` are relative paths without `.` and `..`;
    an empty path means the plugin itself. `skills` is None if the manifest declares no skills.
    """

    file: str
    name: str | None = None
    version: str | None = None
    skills: tuple[str, ...] | None = None
    faults: tuple[str, ...] = ()


class MarketplaceEntry(Struct, frozen=True, kw_only=True):
    """One plugin of a marketplace. `path` is its directory, relative to the marketplace; empty for the same directory.

    `file` is the absolute path of the marketplace's file.
    """

    file: str
    path: str
    name: str | None
    version: str | None = None
    skills: tuple[str, ...] | None = None
    faults: tuple[str, ...] = ()

    def completed(self, manifest: PluginManifest | None) -> PluginManifest:
        """Return the manifest of the plugin, with what this entry has in addition."""
        if manifest is None:
            return PluginManifest(
                file=self.file, name=self.name, version=self.version, skills=self.skills, faults=self.faults
            )
        return replace(
            manifest,
            name=manifest.name or self.name,
            version=manifest.version or self.version,
            skills=self.skills if manifest.skills is None else manifest.skills,
        )


def read_plugin_manifest(root: str) -> PluginManifest | None:
    """Read the manifest of the plugin in `root`. Return None if the plugin has no manifest. Raises no errors."""
    for file, content, fault in json_objects(root, MANIFEST_FILES, MAX_MANIFEST_BYTES):
        # A plain plugin.json may belong to another program.
        if "/" in file or (fault is None and str(content.get("$schema")).startswith(_SCHEMA)):
            return _parsed(file, content) if fault is None else PluginManifest(file=file, faults=(fault,))
    return None


def json_objects(root: str, files: Iterable[str], most: int) -> Iterator[tuple[str, dict[str, object], str | None]]:
    """Yield each of `files` that exists below the directory `root`: its path, its JSON object, and the fault or None.

    The object is empty if there is a fault, for example if the file has more than `most` bytes. Raises no errors.
    """
    try:
        with ContainedRoot(root) as directory:
            for file in files:
                try:
                    with directory.open(file, allow_hard_links=True) as opened:
                        data = opened.read(most + 1)
                except FileNotFoundError:
                    continue
                except (OSError, UnsafePathError) as fault:
                    yield file, {}, f"it cannot be read: {fault}"
                    continue
                if len(data) > most:
                    yield file, {}, f"it is larger than {most} bytes"
                    continue
                try:
                    content = json.loads(data.decode("utf-8-sig"))
                except (ValueError, RecursionError):
                    yield file, {}, "it is not JSON, or nested too deeply"
                    continue
                is_object = isinstance(content, dict)
                yield file, content if is_object else {}, None if is_object else "it is not an object"
    except OSError:
        return  # not a directory, or not readable; the search for skills reports that


def _parsed(file: str, content: Mapping[str, object]) -> PluginManifest:
    faults: list[str] = []
    name = plugin_name(content.get("name"), faults)
    version = plugin_version(content, faults)
    skills = declared_skills(content["skills"], faults) if "skills" in content else None
    return PluginManifest(file=file, name=name, version=version, skills=skills, faults=tuple(faults))


def plugin_version(content: Mapping[str, object], faults: list[str]) -> str | None:
    """Return the version in a manifest or an entry of a marketplace, or None."""
    value = content.get("version")
    if value is None:
        return None
    if isinstance(value, str) and re.match(_VERSION, value) is not None:
        return value
    shown = _shown(value) if isinstance(value, str) else type(value).__name__
    faults.append(f"the version {shown} is ignored: it is not 1 to 64 letters, digits, '.', '_', '+' and '-'")
    return None


def plugin_name(value: object, faults: list[str]) -> str | None:
    """Return the name of a plugin, or None if it cannot be used; the reason is added to `faults`."""
    if not isinstance(value, str):
        faults.append("it has no name")
    elif value.lower() in RESERVED:
        faults.append(f"the name {value!r} is reserved")
    elif re.match(_NAME, value) is None:
        wanted = "1 to 64 letters, digits, '.', '_' and '-', a letter or digit at both ends"
        faults.append(f"the name {_shown(value)} is not {wanted}")
    else:
        return value
    return None


def declared_skills(value: object, faults: list[str]) -> tuple[str, ...] | None:
    """Return the relative paths of the declared skills, or None if the value cannot be used."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or len(listed) > MAX_DECLARED:
        faults.append(f"skills is ignored: it must be a path or a list of at most {MAX_DECLARED} paths")
        return None
    return tuple(dict.fromkeys(_paths(listed, faults)))


def _paths(listed: list[object], faults: list[str]) -> Iterator[str]:
    for item in listed:
        if not isinstance(item, str):
            faults.append("an entry of skills is not a path")
            continue
        try:
            parts = check_relative(item.removeprefix(_ROOT_VARIABLE).lstrip("/") or "." if _is_rooted(item) else item)
        except UnsafePathError as fault:
            faults.append(f"the skill {_shown(item)} is left out: {fault.reason}")
            continue
        yield "/".join(parts[:-1] if parts[-1:] == ("SKILL.md",) else parts)


def _is_rooted(path: str) -> bool:
    return path == _ROOT_VARIABLE or path.startswith(f"{_ROOT_VARIABLE}/")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
