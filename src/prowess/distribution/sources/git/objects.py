"""A private bare repository: fetches commits into it, and reads trees and files from its objects.

The repository is made here and has no configuration of the other side. Git checks fetched objects: each one has the
content that its id names. The objects of a repository on this machine are read where they are, as `git clone` does.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.open_flags import Closing
from prowess._internal.files.tree_digest import MAX_BYTES
from prowess.distribution.sources.git.environment import git_environment
from prowess.distribution.sources.git.process import end_git, run_git, start_git
from prowess.errors import DistributionError, LimitExceededError, UnavailableError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator, Iterable, Mapping, Sequence

_REF = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)")
_BATCH = 400  # ids that are asked for at once; they must fit into a pipe
_MAX_LINE = 4096  # characters
_SHA256 = 64  # hex digits of an id
_CONFIG = "[core]\n\trepositoryformatversion = {}\n\tbare = true\n"


class TreeFile(Struct, frozen=True, kw_only=True):
    """One entry of a tree. `path` is relative to the repository. `mode` is git's, `120000` for a link."""

    path: str
    mode: str
    oid: str


class GitObjects(Closing):
    """The private repository in the directory `place`, for the repository at `url`.

    `local` is the path of the repository if it is on this machine. `url` can be changed as long as nothing was fetched.
    """

    def __init__(self, place: str, url: str, what: str, local: str | None = None) -> None:
        self._place, self.url, self._what, self._local = place, url, what, local
        self._protocol = url.partition(":")[0]
        self._git_dir = os.path.join(place, "repository.git")
        self._env: dict[str, str] | None = None
        self._batch: subprocess.Popen[bytes] | None = None
        self._made = False

    def close(self) -> None:
        """End the process that reads objects."""
        if self._batch is not None:
            end_git(self._batch)
            self._batch = None

    def refs(self) -> dict[str, str]:
        """Return the id of each tag and branch and of HEAD. `refs/tags/v1^{}` is the commit of an annotated tag.

        Raises:
            UnavailableError, DistributionError, LimitExceededError: see `run_git`.
        """
        self._make("0" * 40)
        out = self._run("ls-remote", "--", self.url, "HEAD", "refs/tags/*", "refs/heads/*")
        return {ref.decode(errors="replace"): oid.decode() for oid, ref in _REF.findall(out)}

    def fetch(self, oids: Iterable[str]) -> None:
        """Fetch commits or tags with their files, and nothing of their history. Raises as `refs` does."""
        wanted = sorted(set(oids))
        if not wanted:
            return
        self._make(wanted[0])
        if self._local is not None:
            return
        for start in range(0, len(wanted), _BATCH):
            options = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet")
            self._run("fetch", *options, "--", self.url, *wanted[start : start + _BATCH])

    def tree(self, commit: str, path: str) -> list[TreeFile]:
        """Return all entries at or below `path` that are no directories.

        Raises:
            DistributionError: a path is not UTF-8.
            LimitExceededError: the list has more than 64 MiB.
        """
        options = ("-r", "-z", "--full-tree", "--end-of-options", commit)
        out = self._run("ls-tree", *options, *((path,) if path else ()))
        try:
            return [_tree_file(line) for line in out.decode().split("\0") if line]
        except UnicodeDecodeError:
            raise DistributionError(f"{self._what} has a path that is not UTF-8; its author must rename it") from None

    def read(self, oids: Sequence[str], *, most: int = MAX_BYTES) -> Generator[bytes]:
        """Yield the content of objects, in this order. `most` limits their bytes together.

        Read it to its end or close it before the next call.

        Raises:
            LimitExceededError: they have more bytes.
            DistributionError: an object is missing.
        """
        child = self._batch = self._batch or start_git(("cat-file", "--batch"), self._environment, cwd=self._place)
        asked, answers = child.stdin, child.stdout
        assert asked is not None, "it was started with pipes"  # noqa: S101 -- proves it to mypy
        assert answers is not None, "it was started with pipes"  # noqa: S101 -- proves it to mypy
        left = most
        is_complete = False
        try:
            for start in range(0, len(oids), _BATCH):
                batch = oids[start : start + _BATCH]
                asked.write("".join(f"{oid}\n" for oid in batch).encode())
                asked.flush()
                for oid in batch:
                    head = answers.readline().split()
                    if len(head) != 3 or head[0] != oid.encode():  # noqa: PLR2004 -- id, type, size
                        raise DistributionError(f"{self._what} has no object {oid}")
                    size = int(head[2])
                    left -= size
                    if left < 0:
                        raise LimitExceededError(f"bytes read from {self._what}", most, None)
                    data = answers.read(size + 1)
                    if len(data) != size + 1:
                        raise DistributionError(f"{self._what}: git ended before object {oid} was complete")
                    yield data[:-1]
            is_complete = True
        except OSError as fault:
            raise UnavailableError(self._what, None, f"git ended: {fault.strerror}") from fault
        finally:
            if not is_complete:
                self.close()  # answers that were not read would be taken for those of the next question

    @property
    def _environment(self) -> Mapping[str, str]:
        if self._env is None:
            self._env = git_environment(self._git_dir, self._protocol)
        return self._env

    def _run(self, *arguments: str) -> bytes:
        return run_git(arguments, self._environment, self._what, cwd=self._place)

    def _make(self, oid: str) -> None:
        """Create the repository, for ids of the length of `oid`."""
        is_sha256 = len(oid) == _SHA256
        if self._made and not is_sha256:
            return
        os.makedirs(os.path.join(self._git_dir, "objects"), mode=0o700, exist_ok=True)
        os.makedirs(os.path.join(self._git_dir, "refs"), mode=0o700, exist_ok=True)
        extension = "[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else ""
        for name, text in (
            ("HEAD", "ref: refs/heads/none\n"),
            ("config", _CONFIG.format(1 if is_sha256 else 0) + extension),
        ):
            with open(os.path.join(self._git_dir, name), "w", encoding="ascii") as file:
                file.write(text)
        if self._local is not None:
            os.makedirs(os.path.join(self._git_dir, "objects", "info"), mode=0o700, exist_ok=True)
            with open(os.path.join(self._git_dir, "objects", "info", "alternates"), "wb") as file:
                file.write(os.fsencode(_objects_of(self._local, self._what)) + b"\n")
        self._made = True


def _objects_of(repository: str, what: str) -> str:
    """Return the directory of a repository's objects. The repository may be bare, or the work tree of another one."""
    git_dir = os.path.join(repository, ".git")
    try:
        if not os.path.exists(git_dir):
            git_dir = repository
        elif not os.path.isdir(git_dir):
            git_dir = os.path.join(repository, _line(git_dir).removeprefix("gitdir:").strip())
            if os.path.exists(common := os.path.join(git_dir, "commondir")):
                git_dir = os.path.join(git_dir, _line(common))
    except (OSError, UnicodeDecodeError) as fault:
        raise DistributionError(f"{what} cannot be read ({fault})") from fault
    objects = os.path.realpath(os.path.join(git_dir, "objects"))
    if not os.path.isdir(objects) or "\n" in objects or objects.startswith(('"', "#")):
        raise DistributionError(f"{what} is no git repository whose objects can be read")
    return objects


def _line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read(_MAX_LINE).strip()


def _tree_file(line: str) -> TreeFile:
    facts, _, path = line.partition("\t")
    mode, _, oid = facts.split(" ")
    return TreeFile(path=path, mode=mode, oid=oid)
