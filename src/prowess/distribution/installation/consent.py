"""Changes of an installed skill that a person has to accept by their names, with the diff that is shown.

A skill that changes its major version, allowed tools, scripts, needed permissions, signer or source can do something
that nobody accepted at its first installation. The comparison is between the files in the store and the fetched files;
nothing that a skill states about itself hides a change. If the former files are not in the store, each of the changes
has to be accepted that cannot be excluded.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.text.canonical_json import canonical_json
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.installation.plan import ACCEPTANCES, Acceptance
from prowess.errors import ConsentRequiredError
from prowess.execution.interpreters import LONGEST_SHEBANG, has_interpreter
from prowess.format.commands import commands
from prowess.format.limits import may_hold_commands
from prowess.format.manifest.manifest_reader import read_sidecar
from prowess.format.reading import read_document, read_frontmatter
from prowess.lockfile.version_ranges import major

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.distribution.installation.plan import InstallPlan
    from prowess.distribution.installation.scope import InstallScope
    from prowess.lockfile import LockedSkill

_MOST_LINES = 200  # of the diff of one skill
_MOST_BYTES = 256 * 1024  # of a file whose lines are compared
_ABSENT = "none"


class SkillDifference(Struct, frozen=True, kw_only=True):
    """One change of a skill that has to be accepted. `lines` are a diff: each begins with `-`, `+`, `@` or a blank."""

    skill: str
    accept: Acceptance
    lines: tuple[str, ...]


def require_consent(
    plan: InstallPlan,
    staged: Mapping[tuple[str, str], str],
    scope: InstallScope,
    accepted: Sequence[str],
    *,
    allow_unsigned: bool = False,
) -> None:
    """Raise ConsentRequiredError with every difference whose word is not in `accepted`.

    `allow_unsigned` accepts that a skill is not signed any more, but no other signer.
    """
    found = [
        one for one in differences(plan, staged, scope, allow_unsigned=allow_unsigned) if one.accept not in accepted
    ]
    if not found:
        return
    lines: list[str] = []
    for one in found:
        lines.append(f"{one.skill}: {one.accept}")
        lines += [f"  {line}" for line in one.lines[:_MOST_LINES]]
        if len(one.lines) > _MOST_LINES:
            lines.append(f"  and {len(one.lines) - _MOST_LINES} more lines")
    words = {one.accept for one in found} | set(accepted)
    raise ConsentRequiredError(
        tuple(word for word in ACCEPTANCES if word in words),
        tuple(dict.fromkeys(one.skill for one in found)),
        tuple(lines),
    )


def differences(
    plan: InstallPlan, staged: Mapping[tuple[str, str], str], scope: InstallScope, *, allow_unsigned: bool = False
) -> Iterator[SkillDifference]:
    """Yield the changes of all skills that are installed before and after, in the order of the lock.

    With `allow_unsigned`, no signature instead of one is left out.
    """
    store = SkillStore(scope.home)
    for change in plan.changes:
        before, after = change.before, change.after
        if before is None or after is None:
            continue
        yield from _of_lock(before, after, allow_unsigned=allow_unsigned)
        if before.tree != after.tree:
            new = staged.get((after.tree, after.name), store.path(after.tree, after.name))
            old = store.path(before.tree, before.name) if store.has(before.tree, before.name) else None
            yield from _of_files(after.name, old, new)


def _of_lock(before: LockedSkill, after: LockedSkill, *, allow_unsigned: bool) -> Iterator[SkillDifference]:
    is_step = before.version != after.version
    if is_step and (major(after.version) is None or major(before.version) != major(after.version)):
        yield _difference(after, "major", before.version, after.version)
    if before.signer not in {None, after.signer} and not (allow_unsigned and after.unsigned):
        yield _difference(after, "signer", before.signer, after.signer)
    if before.source != after.source:
        yield _difference(after, "source", before.source, after.source)


def _difference(skill: LockedSkill, accept: Acceptance, old: str | None, new: str | None) -> SkillDifference:
    return SkillDifference(skill=skill.name, accept=accept, lines=(f"- {old or _ABSENT}", f"+ {new or _ABSENT}"))


def _of_files(name: str, old: str | None, new: str) -> Iterator[SkillDifference]:
    unknown = ("- unknown: the former files are not in the store",)
    after = _facts(new)
    before = None if old is None else _facts(old)
    for accept in ("tools", "permissions"):
        if before is None or before[accept] != after[accept]:
            lines = _diff(before[accept] if before else [], after[accept])
            yield SkillDifference(skill=name, accept=accept, lines=(*(() if before else unknown), *lines))
    if old is None:
        files = tuple(f"+ {path}" for path in _runnable(new))
        yield SkillDifference(skill=name, accept="scripts", lines=(*unknown, *files))
        return
    had, has = _runnable(old), _runnable(new)
    lines = [*_diff(_commands(old), _commands(new))]
    for path in sorted(had.keys() | has.keys()):
        if had.get(path) != has.get(path):
            lines += _file_diff(path, old if path in had else None, new if path in has else None)
            if path in had and path in has and had[path][1] != has[path][1]:
                lines.append(f"  {path} is {'now' if has[path][1] else 'no longer'} executable")
    if lines:
        yield SkillDifference(skill=name, accept="scripts", lines=tuple(lines))


def _facts(directory: str) -> dict[str, list[str]]:
    """Return the declarations of a skill about tools and permissions, as lines."""
    _, frontmatter, _ = read_frontmatter(directory)
    sidecar = read_sidecar(directory)
    raw = frontmatter.raw
    tools = [f"{key}: {_text(raw[key])}" for key in ("allowed-tools", "disallowed-tools") if key in raw]
    if sidecar.tools is not None:
        tools.append(f"manifest tools: {_text(to_builtins(sidecar.tools))}")
    permissions = [f"{key}: {_text(raw[key])}" for key in ("execution", "context", "agent") if key in raw]
    if sidecar.security is not None:
        stated = to_builtins(sidecar.security)
        permissions += [f"manifest security, {key}: {_text(value)}" for key, value in stated.items()]
    return {"tools": tools, "permissions": permissions}


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value).decode()


def _runnable(directory: str) -> dict[str, tuple[str, bool]]:
    """Return the hash and the executable bit of each file that could be run."""
    return {
        file.path: (file.sha256, file.executable)
        for file in read_tree(directory).files
        if file.path.startswith("scripts/") or file.executable or _is_script(directory, file.path)
    }


def _is_script(directory: str, path: str) -> bool:
    with open(os.path.join(directory, path), "rb") as file:
        return has_interpreter(path, file.read(LONGEST_SHEBANG))


def _commands(directory: str) -> list[str]:
    """Return the hooks of a skill, and the lines of its instructions that contain a command to run, or look like it."""
    _, frontmatter, _ = read_frontmatter(directory)
    hooks = [f"hooks: {_text(frontmatter.raw['hooks'])}"] if "hooks" in frontmatter.raw else []
    body = read_document(directory).body
    lines = body.split("\n")
    numbers = {number for number, line in enumerate(lines) if may_hold_commands(line)}
    for command in commands(body):
        numbers |= {*range(body.count("\n", 0, command.start), body.count("\n", 0, command.end) + 1)}
    return [*hooks, *(lines[number] for number in sorted(numbers) if number < len(lines))]


def _file_diff(path: str, old: str | None, new: str | None) -> list[str]:
    one, other = (None if root is None else _lines(os.path.join(root, path)) for root in (old, new))
    if (old is not None and one is None) or (new is not None and other is None):
        return [f"- {path}" if new is None else f"+ {path}" if old is None else f"  {path} differs"]
    before = "nothing" if old is None else path
    after = "nothing" if new is None else path
    return list(unified_diff(one or [], other or [], before, after, lineterm="", n=1))


def _lines(path: str) -> list[str] | None:
    """Return the lines of a text; None if the file is too large or no text."""
    with open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    try:
        return None if len(data) > _MOST_BYTES else data.decode().splitlines()
    except UnicodeDecodeError:
        return None


def _diff(old: list[str], new: list[str]) -> list[str]:
    """Return the lines that are new or gone; all of them if only their order or number differs."""
    if old == new:
        return []
    changed = [*(f"- {line}" for line in old if line not in new), *(f"+ {line}" for line in new if line not in old)]
    return changed or [*(f"- {line}" for line in old), *(f"+ {line}" for line in new)]
