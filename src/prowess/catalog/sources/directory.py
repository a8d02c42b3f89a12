"""A directory of skills, searched by real path in an order that depends only on names.

A directory that directly contains SKILL.md is a skill, and its subdirectories are not searched. Every directory without
SKILL.md is searched, even a hidden one, except `.git` and `node_modules`. Symbolic links to directories are followed;
each real directory is visited once. The depth and the number of directories without SKILL.md are limited, so that a
link to a large tree does not block a host. A link into the store of installed skills is left to the lock, unless a
person named the root. Problems on the disk raise no error: each one becomes a finding, and the search continues.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import stamp_of
from prowess._internal.files.open_flags import READ
from prowess._internal.places import is_stored
from prowess.catalog.scan import HEAD_BYTES, SKIPPED_NAMES, has_manifest
from prowess.catalog.sources.hidden import report_hidden
from prowess.format.limits import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from prowess.catalog.layers import Layer
    from prowess.catalog.scan import Scan

# Limits: levels below the root, and directories that are not skills.
DEFAULT_BOUNDS = (6, 2000)  # client guide, discovery: a host searches these directories unasked
NAMED_BOUNDS = (64, 200_000)  # a person named this root

_FILE = "SKILL.md"
# If the file system ignores case, a successful open of SKILL.md does not show how the entry is spelled.
_IGNORES_CASE = os.name == "nt" or os.uname().sysname == "Darwin"


class DirectorySource:
    """Skills below one directory.

    Args:
        root: the directory. It may be a symbolic link, and may be missing unless `named`.
        layer: the layer of all its skills.
        label: the name of the source that is shown to people. Defaults to the path.
        live: whether edits of loaded skills take effect at once.
        named: whether a person named this directory. If so, the limits are wider, a missing root is a finding, and the
            root may itself be a skill.
        project: real path of the project that must be trusted first.
    """

    def __init__(
        self,
        root: str,
        *,
        layer: Layer,
        label: str | None = None,
        live: bool = False,
        named: bool = False,
        project: str | None = None,
    ) -> None:
        self.named = os.path.abspath(root)
        self.root = os.path.realpath(self.named)
        self.layer = layer
        self.label = label or self.named
        self.live = live
        self.project = project
        self.pointed_at = named

    def scan(self, scan: Scan) -> None:
        """Add every skill below the root to `scan`."""
        self.root = os.path.realpath(self.named)  # a link may have a new target since the last scan
        if not os.path.isdir(self.root):
            self._report_absence(scan)
            return
        if not self.pointed_at and is_stored(self.root):
            return  # a link that an installation made for another agent
        walk = self._walk(scan)
        if not self.pointed_at:
            walk.search_root()
        elif walk.is_skill(self.root, self.root, ""):
            report_hidden(scan, self.root)
        else:
            walk.search(self.root, self.root, "", 0)

    def _walk(self, scan: Scan) -> Walk:
        return Walk(self, scan, NAMED_BOUNDS if self.pointed_at else DEFAULT_BOUNDS)

    def _report_absence(self, scan: Scan) -> None:
        if self.pointed_at:
            what = "is not a directory" if os.path.lexists(self.named) else "does not exist"
            scan.report("catalog.root", self.named, f"{self.named} {what}; no skills are read from it")


class Walk:
    """One search through the directories of a source."""

    def __init__(self, source: DirectorySource, scan: Scan, bounds: tuple[int, int]) -> None:
        self._source = source
        self._scan = scan
        self._depth, self._left = bounds
        self._most = bounds[1]
        self._searched: set[str] = set()
        self._too_deep = False

    def search_root(self) -> None:
        """Search the root. A SKILL.md directly in it is reported and is not a skill."""
        root, named = self._source.root, self._source.named
        if os.path.lexists(f"{root}/{_FILE}"):
            hint = f"move it into a directory of its own below {named}"
            self._scan.report("catalog.loose", f"{root}/{_FILE}", f"a file here is not a skill; {hint}")
        self.search(root, root, "", 0)

    def is_skill(self, directory: str, path: str, relative: str) -> bool:
        """Whether the real `directory`, reached by `path`, has SKILL.md. If so, the skill was added or reported."""
        scan = self._scan
        if directory in scan.entries:
            return scan.reached(directory, path)
        if self._take_kept(directory, path, relative, _FILE):
            return True
        if scan.is_unchanged(directory):
            return False
        try:
            fd = os.open(f"{directory}/{_FILE}", READ)
        except FileNotFoundError:
            return False
        except OSError as fault:
            if fault.errno in (errno.EACCES, errno.EPERM) and not os.access(directory, os.X_OK):
                message = "this directory cannot be entered; check its permissions"
                scan.skip(directory, "", "catalog.unreadable", message)
            elif self._admits(directory):
                scan.read_in_full(directory, path, self._source, relative, None)
            return True
        try:
            if not self._admits(directory):
                return True
            found = os.fstat(fd)
            regular = stat.S_ISREG(found.st_mode)
            head = os.read(fd, HEAD_BYTES) if regular and found.st_nlink == 1 else b""
        finally:
            os.close(fd)
        if regular and found.st_nlink > 1:
            message = "it has a second hard link, so its content may belong to another place; put a copy here"
            scan.skip(directory, _FILE, "catalog.hardLink", message)
        elif not regular or found.st_size > MAX_DOCUMENT_BYTES or _is_other_spelling(directory):
            scan.read_in_full(directory, path, self._source, relative, found if regular else None)
        else:
            scan.found(directory, path, self._source, relative, found, head)
        return True

    def _take_kept(self, directory: str, path: str, relative: str, file: str) -> bool:
        """Whether the skill was read before and is unchanged. If so, it was added or reported without reading it."""
        scan = self._scan
        reading = scan.memo.reading(directory)
        if reading is None or reading.file != file or not reading.settled:
            return False
        try:
            found = os.lstat(f"{directory}/{file}")
        except OSError:
            return False
        if stamp_of(found) != reading.stamp or found.st_nlink > 1 or (_IGNORES_CASE and _is_other_spelling(directory)):
            return False
        if reading.facts.__class__ is not bytes and has_manifest(directory):
            return False
        if self._admits(directory):
            scan.take(directory, path, self._source, relative, reading)
        return True

    def _admits(self, directory: str) -> bool:
        """Whether the skill in `directory` may be read. A refusal is reported before False is returned."""
        del directory
        return True

    def search(self, directory: str, path: str, relative: str, depth: int) -> None:
        """Search a directory that is not a skill."""
        if directory in self._searched:
            return
        self._searched.add(directory)
        try:
            listing = self._scan.listing(directory)
        except FileNotFoundError:
            return  # deleted meanwhile
        except OSError as fault:
            reason = f"this directory cannot be read ({os.strerror(fault.errno or 0)}); check its permissions"
            if directory == self._source.root:
                self._scan.report("catalog.unreadable", path, reason)
            else:
                self._scan.skip(path, "", "catalog.unreadable", reason)
            return
        loose = listing.loose
        if loose and (depth or self._source.pointed_at) and self._is_misspelled(directory, path, relative, loose):
            return
        below = f"{relative}/" if relative else ""
        for name in listing.directories:
            if not (name.isascii() or self._is_text(name, path)):
                continue
            child = f"{directory}/{name}"
            self.visit(child, f"{path}/{name}" if path != directory else child, below + name, depth + 1)
        for name in listing.links:
            if not (name.isascii() or self._is_text(name, path)):
                continue
            self._follow(directory, f"{path}/{name}", name, depth + 1)

    def _is_text(self, name: str, parent: str) -> bool:
        """Whether a name can be encoded as UTF-8. Other names do not fit into records or JSON, and are reported."""
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(name).decode("utf-8", "backslashreplace")
            message = "left out: this name is not UTF-8; rename it"
            self._scan.report("catalog.encoding", f"{parent}/{shown}", message)
            return False
        return True

    def visit(self, directory: str, path: str, relative: str, depth: int) -> None:
        """Handle one directory below the root: add its skill, or search it."""
        if self.is_skill(directory, path, relative):
            return
        if depth >= self._depth:
            self._report_depth(path, depth)
        elif self._left <= 0:
            self._report_count()
        else:
            self._left -= 1
            self.search(directory, path, relative, depth)

    def _is_misspelled(self, directory: str, path: str, relative: str, loose: list[str]) -> bool:
        """Whether the directory has SKILL.md in another spelling. If so, the skill has been added or reported.

        `skill.md` is accepted with a warning, others are refused.
        """
        if _FILE in loose:  # created since the first look
            return self.is_skill(directory, path, relative)
        if not self._admits(directory):
            return True
        if "skill.md" in loose:
            if self._take_kept(directory, path, relative, "skill.md"):
                return True
            file = f"{directory}/skill.md"
            try:
                found = os.lstat(file)
            except OSError:
                return False  # deleted meanwhile
            if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
                message = "it has a second hard link, so its content may belong to another place; put a copy here"
                self._scan.skip(directory, "skill.md", "catalog.hardLink", message)
            else:
                regular = stat.S_ISREG(found.st_mode)
                self._scan.read_in_full(directory, path, self._source, relative, found if regular else None)
            return True
        message = "a skill's file is called SKILL.md; this spelling is not read, rename it"
        self._scan.skip(directory, loose[0], "catalog.spelling", message)
        return True

    def _follow(self, parent: str, path: str, name: str, depth: int) -> None:
        target = f"{parent}/{name}"
        self._scan.learnt.targets[target] = None
        try:
            is_directory = stat.S_ISDIR(os.stat(target).st_mode)
        except OSError as fault:
            loops = fault.errno == errno.ELOOP
            rule = "catalog.cycle" if loops else "catalog.link"
            what = "it leads back to itself" if loops else "its target cannot be reached"
            self._scan.skip(path, "", rule, f"this link is left out: {what}; remove it or point it to a skill")
            return
        if not is_directory:
            self._scan.report("catalog.link", path, "this link is left out: it leads to a file, not to a directory")
            return
        real = self._scan.learnt.targets[target] = os.path.realpath(target)
        if parent == real or parent.startswith(f"{real}/"):
            self._scan.report("catalog.cycle", path, f"this link is left out: it leads back to {real}")
            return
        if real.rpartition("/")[2] in SKIPPED_NAMES or (not self._source.pointed_at and is_stored(real)):
            return
        # The real path of a target outside the root stays absolute, so joining it with the root does not change it.
        self.visit(real, path, real.removeprefix(f"{self._source.root}/"), depth)

    def _report_depth(self, path: str, depth: int) -> None:
        if not self._too_deep:  # one finding per search; the first path is enough
            self._too_deep = True
            message = (
                f"not searched below this directory: it is {depth} levels deep, at most {self._depth} are searched"
            )
            self._scan.report("catalog.depth", path, message)

    def _report_count(self) -> None:
        if self._left == 0:
            self._left = -1
            message = f"the search stopped after {self._most} directories that are not skills; name a narrower root"
            self._scan.report("catalog.count", self._source.named, message)


def _is_other_spelling(directory: str) -> bool:
    """Whether the entry that opens as SKILL.md has another spelling."""
    return _IGNORES_CASE and _FILE not in os.listdir(directory)
