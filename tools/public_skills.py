"""Public skills as evidence: a pinned list of where they are, and the way from the list back to their files.

    python -m tools.public_skills build FOLDER [--checkouts DIR] [--packages DIR] [--from URL]
    python -m tools.public_skills verify FOLDER
    python -m tools.public_skills pin [--checkouts DIR] [--packages DIR] [--most 30]

`tests/compat/public-skills.json` names each skill by repository and commit, or by wheel and version, by its path, and
by the digest of all its files. Nothing of their content is in this project: `build` takes the files out of checkouts
DIR/OWNER/NAME, bare or not, and wheels in DIR, or fetches what is not there, and refuses a skill whose digest differs.
FOLDER then holds OWNER/NAME/PATH for each skill of a repository and packages/NAME/PATH for each skill of a wheel.

The digest is SHA-256 over one line a file, sorted by path: git's mode, a blank, the path, NUL, the SHA-256 of the
content (for a link, of its target) in hexadecimal, and a newline.

`pin` leaves what is pinned as it is and adds, from each further repository or wheel, up to `--most` skills: those whose
digests sort first, so that nobody chooses. Left out are skills above 2 MiB or 300 files, and a SKILL.md seen before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

LIST = Path(__file__).resolve().parent.parent / "tests" / "compat" / "public-skills.json"

_ABOUT = (
    "Public skills: repository and commit, or wheel, then each skill's directory and the digest of its files. "
    "Nothing of their content is kept here. See tools/public_skills.py."
)
_MOST_BYTES = 2 * 2**20
_MOST_FILES = 300
_LINK, _PROGRAM, _PLAIN = "120000", "100755", "100644"
_MAX_NAME_BYTES = 255


class RefusedError(Exception):
    """What is there is not what the list names, or would not stay below FOLDER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One file; `mode` as git writes it. The data of a link is its target."""

    mode: str
    data: bytes


Files = Mapping[str, Content]  # by path, relative to the skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A repository at a commit, or a wheel, and the digests of its pinned skills by directory (`.`: all of it)."""

    name: str  # OWNER/NAME, or a package
    version: str  # commit, or version
    wheel: str = ""  # its file name; empty for a repository
    skills: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where its skills are below FOLDER."""
        return f"packages/{self.name}" if self.wheel else self.name


class Store(Protocol):
    """The files of one source."""

    def paths(self) -> Mapping[str, int]:
        """Every file's path with its size in bytes."""

    def read(self, paths: list[str]) -> Iterator[tuple[str, Content]]:
        """The files at these paths."""


def pinned(path: Path = LIST) -> list[Source]:
    """The sources of the list, in its order."""
    sources = []
    for entry in json.loads(path.read_text(encoding="utf-8"))["sources"]:
        if "repository" in entry:
            sources.append(Source(name=entry["repository"], version=entry["commit"], skills=entry["skills"]))
        else:
            sources.append(
                Source(name=entry["package"], version=entry["version"], wheel=entry["wheel"], skills=entry["skills"])
            )
    return sources


def write_list(sources: list[Source], path: Path = LIST) -> None:
    """Write the list, one skill a line so that changes are readable."""
    entries = []
    for source in sorted(sources, key=lambda one: (bool(one.wheel), one.name.lower())):
        head: dict[str, Any] = (
            {"package": source.name, "version": source.version, "wheel": source.wheel}
            if source.wheel
            else {"repository": source.name, "commit": source.version}
        )
        skills = ",\n   ".join(f"{_json(path)}: {_json(digest)}" for path, digest in sorted(source.skills.items()))
        fields = ", ".join(f"{_json(key)}: {_json(value)}" for key, value in head.items())
        entries.append(f'  {{{fields}, "skills": {{\n   {skills}}}}}')
    joined = ",\n".join(entries)
    path.write_text(f'{{\n "about": {_json(_ABOUT)},\n "sources": [\n{joined}\n ]\n}}\n', encoding="utf-8")


def skill_directories(folder: Path, sources: list[Source]) -> list[Path]:
    """The directory of every pinned skill below FOLDER."""
    return [folder / source.folder / path for source in sources for path in source.skills]


def digest_of(files: Files) -> str:
    """The digest of a skill's files; see the top of this file."""
    lines = hashlib.sha256()
    for path in sorted(files):
        content = files[path]
        lines.update(f"{content.mode} {path}\0{hashlib.sha256(content.data).hexdigest()}\n".encode())
    return lines.hexdigest()


def files_on_disk(directory: Path) -> dict[str, Content]:
    """The files of a directory that `build` wrote."""
    found = {}
    for root, names, files in os.walk(directory):
        for name in [*files, *(name for name in names if os.path.islink(os.path.join(root, name)))]:
            path = os.path.join(root, name)
            if os.path.islink(path):
                content = Content(mode=_LINK, data=os.fsencode(os.readlink(path)))
            else:
                mode = _PROGRAM if os.stat(path).st_mode & 0o100 else _PLAIN
                content = Content(mode=mode, data=Path(path).read_bytes())
            found[os.path.relpath(path, directory)] = content
    return found


# ── where files come from ───────────────────────────────────────────────────────────────────────────────────────────


class Commit:
    """The files of one commit of a git directory or work tree."""

    def __init__(self, place: Path, commit: str) -> None:
        self._place = place
        self._files: dict[str, tuple[str, str, int]] = {}
        for line in self._git("ls-tree", "-r", "-l", "-z", commit).split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, kind, name, size = head.decode().split()
            if kind == "blob":
                known = size.isdigit()  # git has no size where a partial checkout lacks the content
                self._files[os.fsdecode(path)] = (mode, name, int(size) if known else _MOST_BYTES + 1)

    def paths(self) -> Mapping[str, int]:
        """Every file's path with its size."""
        return {path: size for path, (_, _, size) in self._files.items()}

    def read(self, paths: list[str]) -> Iterator[tuple[str, Content]]:
        """The files at these paths; one that the checkout lacks stops everything."""
        asked = "".join(f"{self._files[path][1]}\n" for path in paths).encode()
        answer = self._git("cat-file", "--batch", given=asked)
        at = 0
        for path in paths:
            end = answer.index(b"\n", at)
            head = answer[at:end].split()
            if head[1:2] != [b"blob"]:
                raise RefusedError(f"{self._place} lacks the content of {path}: fetch the whole commit")
            size = int(head[2])
            yield path, Content(mode=self._files[path][0], data=answer[end + 1 : end + 1 + size])
            at = end + 1 + size + 1

    def _git(self, *command: str, given: bytes = b"") -> bytes:
        done = subprocess.run(["git", "-C", self._place, *command], input=given, capture_output=True, check=False)
        if done.returncode:
            raise RefusedError(f"git {command[0]} in {self._place}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout


class Wheel:
    """The files of a wheel."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)

    def paths(self) -> Mapping[str, int]:
        """Every file's path with its size."""
        return {info.filename: info.file_size for info in self._archive.infolist() if not info.is_dir()}

    def read(self, paths: list[str]) -> Iterator[tuple[str, Content]]:
        """The files at these paths."""
        for path in paths:
            info = self._archive.getinfo(path)
            mode = _PROGRAM if info.external_attr >> 16 & 0o100 else _PLAIN
            yield path, Content(mode=mode, data=self._archive.read(info))


def _fetched(source: Source, place: Path, url: str) -> Store:
    """Bring one commit of a repository, or one wheel from the package index, to `place`."""
    if source.wheel:
        wanted = f"{source.name}=={source.version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", place, wanted], check=True)
        return Wheel(place / source.wheel)
    subprocess.run(["git", "init", "--quiet", "--bare", place], check=True)
    address = url.format(repository=source.name)
    subprocess.run(["git", "-C", place, "fetch", "--quiet", "--depth", "1", address, source.version], check=True)
    return Commit(place, source.version)


def _files_of(store: Store, directory: str) -> dict[str, Content]:
    prefix = "" if directory == "." else f"{directory}/"
    paths = [path for path in store.paths() if path.startswith(prefix)]
    return {path[len(prefix) :]: content for path, content in store.read(paths)}


# ── the three commands ──────────────────────────────────────────────────────────────────────────────────────────────


def build(folder: Path, *, checkouts: Path | None, packages: Path | None, url: str, sources: list[Source]) -> int:
    """Write every pinned skill below `folder` and return how many there are.

    Raises:
        RefusedError: the files of a skill are not those of the list, or a path would leave `folder`.
    """
    for source in sources:
        with tempfile.TemporaryDirectory() as scratch:
            local = (packages / source.wheel if source.wheel else None) if packages else None
            if not source.wheel:
                local = checkouts / source.name if checkouts else None
            if local is None or not local.exists():
                store = _fetched(source, Path(scratch), url)
            else:
                store = Wheel(local) if source.wheel else Commit(local, source.version)
            for directory, digest in source.skills.items():
                files = _files_of(store, directory)
                found = digest_of(files)
                if found != digest:
                    raise RefusedError(f"{source.name} {directory} has the digest {found}, the list says {digest}")
                _write(folder / source.folder / directory, files)
    return sum(len(source.skills) for source in sources)


def _write(directory: Path, files: Files) -> None:
    for path, content in files.items():
        if any(part in ("", ".", "..", ".git") for part in path.split("/")) or "\0" in path:
            raise RefusedError(f"{directory}: {path!r} is no path below a skill")
        place = directory / path
        for parent in place.parents:
            if parent == directory.parent:
                break
            if parent.is_symlink():
                raise RefusedError(f"{place} lies behind a link")
        place.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(place):
            place.unlink()
        if content.mode == _LINK:
            place.symlink_to(os.fsdecode(content.data))
        else:
            place.write_bytes(content.data)
            place.chmod(0o755 if content.mode == _PROGRAM else 0o644)


def verify(folder: Path, sources: list[Source]) -> list[str]:
    """The directories below `folder` whose files are not those of the list."""
    return [
        f"{source.folder}/{directory}"
        for source in sources
        for directory, digest in source.skills.items()
        if digest_of(files_on_disk(folder / source.folder / directory)) != digest
    ]


def pin(*, checkouts: Path | None, packages: Path | None, most: int, sources: list[Source]) -> list[Source]:
    """The pinned sources and those found in `checkouts` and `packages`, with up to `most` skills of each."""
    result = list(sources)
    known = {source.name for source in sources}
    seen: set[str] = set()
    for source in sources:
        if checkouts and not source.wheel and (checkouts / source.name).exists():
            checkout = Commit(checkouts / source.name, source.version)
            seen.update(_own_digest(checkout, directory) for directory in source.skills)
    for source, store in _found(checkouts, packages):
        if source.name not in known:
            source.skills.update(_chosen(store, most, seen))
            if source.skills:
                result.append(source)
    return result


def _found(checkouts: Path | None, packages: Path | None) -> Iterator[tuple[Source, Store]]:
    for place in sorted(checkouts.glob("*/*")) if checkouts else ():
        head = subprocess.run(["git", "-C", place, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        commit = head.stdout.strip()
        yield Source(name=f"{place.parent.name}/{place.name}", version=commit), Commit(place, commit)
    for path in sorted(packages.glob("*.whl")) if packages else ():
        name, version = path.name.split("-")[:2]
        yield Source(name=name.replace("_", "-").lower(), version=version, wheel=path.name), Wheel(path)


def _chosen(store: Store, most: int, seen: set[str]) -> dict[str, str]:
    digests = []
    sizes = store.paths()
    for path in sizes:
        directory, _, name = path.rpartition("/")
        if name.lower() != "skill.md" or not _fits(directory, sizes):
            continue
        directory = directory or "."
        files = _files_of(store, directory)
        if files[name].mode != _LINK:
            digests.append((digest_of(files), directory))
    chosen: dict[str, str] = {}
    for digest, directory in sorted(digests):
        own = _own_digest(store, directory)
        if len(chosen) < most and own not in seen and directory not in chosen:
            seen.add(own)
            chosen[directory] = digest
    return chosen


def _fits(directory: str, sizes: Mapping[str, int]) -> bool:
    below = {path: size for path, size in sizes.items() if not directory or path.startswith(f"{directory}/")}
    writable = all(len(os.fsencode(part)) <= _MAX_NAME_BYTES for path in below for part in path.split("/"))
    return writable and len(below) <= _MOST_FILES and sum(below.values()) <= _MOST_BYTES


def _own_digest(store: Store, directory: str) -> str:
    prefix = "" if directory == "." else f"{directory}/"
    path = next(path for path in store.paths() if path.startswith(prefix) and path[len(prefix) :].lower() == "skill.md")
    return hashlib.sha256(dict(store.read([path]))[path].data).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """Run one of the three commands; 1 where a digest differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.public_skills", description="Public skills as evidence.")
    parser.add_argument("command", choices=("build", "verify", "pin"))
    parser.add_argument("folder", type=Path, nargs="?", help="where the skills are, or will be")
    parser.add_argument("--checkouts", type=Path, help="holds OWNER/NAME, a git directory or work tree, for each")
    parser.add_argument("--packages", type=Path, help="holds the wheels")
    parser.add_argument(
        "--from", dest="url", default="https://github.com/{repository}", help="where commits are fetched"
    )
    parser.add_argument("--most", type=int, default=30, help="skills pinned of one further source (30)")
    parser.add_argument("--list", type=Path, default=LIST, help="another list than the project's")
    options = parser.parse_args(arguments)
    sources = pinned(options.list)
    if options.command != "pin" and options.folder is None:
        parser.error("FOLDER is missing")
    try:
        if options.command == "pin":
            found = pin(checkouts=options.checkouts, packages=options.packages, most=options.most, sources=sources)
            write_list(found, options.list)
            print(f"{sum(len(one.skills) for one in found)} skills of {len(found)} sources")
        elif options.command == "build":
            shutil.rmtree(options.folder, ignore_errors=True)
            count = build(
                options.folder,
                checkouts=options.checkouts,
                packages=options.packages,
                url=options.url,
                sources=sources,
            )
            print(f"{count} skills in {options.folder}")
        else:
            different = verify(options.folder, sources)
            print("\n".join(different) or "every skill is the one of the list")
            return int(bool(different))
    except RefusedError as fault:
        print(f"refused: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
