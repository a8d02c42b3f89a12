"""Snapshots of skills. A campaign installs them, so that editing a skill while it runs does not matter.

A snapshot has all files of a skill but its evals, which the agent must not read. A later iteration compares with the
snapshot of an earlier one (`--baseline old`).
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.files.verified_copy import copy_recorded
from prowess.distribution.sources.git.environment import git_environment
from prowess.distribution.sources.git.objects import GitObjects
from prowess.distribution.sources.git.process import run_git
from prowess.errors import (
    DistributionError,
    InvalidArgumentsError,
    LimitExceededError,
    UnavailableError,
    UnsafePathError,
)
from prowess.evals.iterations.folders import skill_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess._internal.files.tree_digest import TreeManifest

EVALS = "evals"
_REVISION = re.compile(r"(?P<base>[A-Za-z0-9_][A-Za-z0-9_./-]*|HEAD)(?P<rest>(?:[~^][0-9]*)*)")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LINK, _SUBMODULE = "120000", "160000"


def installed_files(root: str) -> TreeManifest:
    """Return the files of a skill that a host gets.

    Raises:
        InvalidArgumentsError: the directory cannot be read.
    """
    try:
        manifest = read_tree(root)
    except (OSError, LimitExceededError) as fault:
        raise InvalidArgumentsError((f"{root} cannot be read: {fault}",)) from None
    return replace(manifest, files=tuple(file for file in manifest.files if not file.path.startswith(f"{EVALS}/")))


def take_snapshot(root: str, target: str) -> str:
    """Copy a skill into the new directory `target`, and return the digest of the copy.

    Raises:
        InvalidArgumentsError: it cannot be copied, or was edited while it was copied.
    """
    manifest = installed_files(root)
    copy_files(root, manifest, target)
    return manifest.content_digest


def take_snapshots(iteration: str, kind: str, roots: Mapping[str, str]) -> dict[str, str]:
    """Copy skills by name into an iteration, and return the digests of the copies.

    Raises:
        InvalidArgumentsError: one cannot be copied, or was edited while it was copied.
    """
    return {name: take_snapshot(root, skill_directory(iteration, kind, name)) for name, root in roots.items()}


def take_variant(root: str, target: str, path: str, data: bytes) -> None:
    """Copy a skill into the directory `target` with other bytes in the file `path`. A copy that is there is kept.

    Raises:
        InvalidArgumentsError: it cannot be copied.
    """
    if os.path.isdir(target):
        return
    made = f"{target}.new"
    shutil.rmtree(made, ignore_errors=True)  # of a process that was killed
    take_snapshot(root, made)
    place = os.path.join(made, *path.split("/"))
    os.unlink(place)  # it may share its bytes with the file that it was copied from
    with open(place, "xb") as file:
        file.write(data)
    os.rename(made, target)


def content_digests(roots: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of skills by name, as they are on disk; equal to those of their snapshots without edits.

    Raises:
        InvalidArgumentsError: a directory cannot be read.
    """
    return {name: installed_files(root).content_digest for name, root in roots.items()}


def installed_digests(directories: Iterable[str], *, below: str = "") -> dict[str, str]:
    """Return the SHA-256 of each file of snapshots, by the name of the skill and the path in it, as journals have it.

    Raises:
        InvalidArgumentsError: a directory cannot be read.
    """
    return {
        f"{below}{os.path.basename(directory)}/{record.path}": record.sha256
        for directory in directories
        for record in installed_files(directory).files
    }


def copy_files(root: str, manifest: TreeManifest, target: str) -> None:
    """Copy the files of a manifest into the new directory `target`. Links are not followed, and not copied.

    Raises:
        InvalidArgumentsError: a file cannot be copied, or was edited meanwhile.
    """
    try:
        with ContainedRoot(root) as opened:
            os.makedirs(target)
            for record in manifest.files:
                place = os.path.join(target, *record.path.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                if not copy_recorded(opened, record, place, allow_hard_links=True):
                    raise InvalidArgumentsError((f"{root}/{record.path} was changed while it was copied; try again",))
                if record.executable:
                    os.chmod(place, 0o700)
    except OSError as fault:
        raise InvalidArgumentsError((f"{root} cannot be copied to {target}: {fault.strerror}",)) from None


def take_revision(root: str, revision: str, target: str) -> str:
    """Write the skill as it was committed at a revision of its repository into `target`; return its digest.

    The objects of the repository are read; nothing is checked out, and no setting of the repository is used.

    Raises:
        InvalidArgumentsError: there is no repository, no such revision, or no skill in it.
    """
    repository, prefix = _repository_of(root, revision)
    found = _REVISION.fullmatch(revision)
    if found is None:
        raise InvalidArgumentsError((f"{revision!r} is no revision; name a branch, a tag or a commit, such as HEAD~1",))
    try:
        with TemporaryDirectory(prefix="prowess-revision-") as place:
            objects = GitObjects(place, f"file://{repository}", repository, repository)
            with objects:
                commit = _commit(objects, place, found["base"], found["rest"], repository)
                _write(objects, commit, prefix, target)
    except (DistributionError, UnsafePathError, OSError) as fault:
        raise InvalidArgumentsError((f"revision {revision!r} of {repository} cannot be used: {fault}",)) from None
    if not os.path.isfile(os.path.join(target, "SKILL.md")):
        raise InvalidArgumentsError((f"at {revision!r} there is no skill at {prefix or '.'} of {repository}",))
    return installed_files(target).content_digest


def _repository_of(root: str, revision: str) -> tuple[str, str]:
    here = os.path.realpath(root)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            problem = f"{root} is in no git repository, so it has no revision {revision!r}"
            raise InvalidArgumentsError((problem,))
        here = above
    inside = os.path.relpath(os.path.realpath(root), here)
    return here, "" if inside == os.curdir else inside.replace(os.sep, "/")


def _commit(objects: GitObjects, place: str, base: str, rest: str, repository: str) -> str:
    refs = objects.refs()
    named = (base, f"refs/tags/{base}^{{}}", f"refs/tags/{base}", f"refs/heads/{base}")
    start = next((refs[name] for name in named if name in refs), base)
    objects.fetch([start if _ID.fullmatch(start) else refs.get("HEAD", start)])  # makes the private repository
    environ = git_environment(os.path.join(place, "repository.git"), "file")
    asked = ("rev-parse", "--verify", "--end-of-options", f"{start}{rest}^{{commit}}")
    try:
        return run_git(asked, environ, repository, cwd=place).decode("ascii", "replace").strip()
    except UnavailableError:  # git gives no reason that tells this from other failures
        raise DistributionError("there is no such commit") from None


def _write(objects: GitObjects, commit: str, prefix: str, target: str) -> None:
    lead = f"{prefix}/" if prefix else ""
    files = [
        file
        for file in objects.tree(commit, prefix)
        if file.mode not in (_LINK, _SUBMODULE)
        and file.path.startswith(lead)
        and not file.path.removeprefix(lead).startswith(f"{EVALS}/")
    ]
    os.makedirs(target)
    with closing(objects.read([file.oid for file in files])) as contents:
        for file, data in zip(files, contents, strict=True):
            parts = file.path.removeprefix(lead).split("/")
            if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
                raise UnsafePathError(file.path, "it is no plain path below the skill")
            place = os.path.join(target, *parts)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as copy:
                copy.write(data)
            if file.mode == "100755":
                os.chmod(place, 0o700)
