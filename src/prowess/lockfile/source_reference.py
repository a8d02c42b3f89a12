"""References: how a person, a lock or a dependency names a source of skills.

    SOURCE[@VERSION]

    ./skills, /srv/skills, ~/skills          a directory
    ./pdf.zip, ./pdf.tar.gz, .tgz, .skill    an archive; also with https://
    owner/repo, owner/repo/path              a repository on GitHub, and a directory in it
    git+https://, git+ssh://, git+file:      a repository; #subdirectory=PATH names a directory in it
    git@host:owner/repo                      the same as git+ssh://git@host/owner/repo
    https://host/path                        a site with an index of skills
    oci://registry/repository                a repository in a container registry
    python:DISTRIBUTION, npm:PACKAGE         an installed package

The address of a repository's page on a known host (`https://github.com/owner/repo/tree/main/path`) means the
repository. Everything but https is refused, except plain http to this machine. A URL that contains a password, a token
or another credential is refused, and no message repeats it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from msgspec import Struct

from prowess._internal.files.contained import check_relative
from prowess._internal.text.url_host import host_of_url
from prowess.errors import InvalidArgumentsError, UnsafePathError

if TYPE_CHECKING:
    from typing import NoReturn

Kind = Literal["directory", "archive", "git", "index", "oci", "python", "npm"]

ARCHIVE_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".skill")
_GITHUB = "https://github.com/"
_SHORT = re.compile(r"([A-Za-z0-9](?:-?[A-Za-z0-9]){0,38})/([A-Za-z0-9._-]{1,100})((?:/[^@]*)?)(?:@(.*))?", re.DOTALL)
_SCP = re.compile(r"([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!//)([^:]+)")
_VERSION = re.compile(r"[^\s\x00-\x1f\x7f-][^\x00-\x1f\x7f]{0,249}")
_PYTHON = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_NPM = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*")
_OCI_REPOSITORY = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*")
_SECRET = re.compile(r"token|key|pass|pwd|secret|sig|auth|credential|jwt|session", re.IGNORECASE)
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
CODE_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"})
_PAGES = frozenset({"tree", "blob", "src"})  # how code hosts show a directory or a file of a repository
_GROUPED = "//gitlab.com"
_DOCUMENT = "SKILL.md"
_PORTS = {"http": 80, "https": 443, "ssh": 22, "oci": 443}
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_SHOWN = 100


class SourceReference(Struct, frozen=True, kw_only=True):
    """Where skills come from. Create it with `parse_reference`.

    `location` is an absolute path, a URL without `git+`, `registry/repository` or a package's name. `path` is the
    directory in a repository. `version` is a version, a range, a tag, a branch, a commit or a digest; None if none was
    asked for.
    """

    kind: Kind
    location: str
    path: str = ""
    version: str | None = None

    @property
    def source(self) -> str:
        """The reference without its version, in the spelling that a lock has. Equal sources have equal texts."""
        if self.kind == "git":
            short = self.location.removeprefix(_GITHUB)
            if short != self.location and _SHORT.fullmatch(whole := f"{short}/{self.path}".rstrip("/")):
                return whole
            path = f"#subdirectory={self.path}" if self.path else ""
            return f"git+{'file:' if self.is_local else ''}{self.location}{path}"
        prefix = {"oci": "oci://", "python": "python:", "npm": "npm:"}.get(self.kind, "")
        return f"{prefix}{self.location}"

    @property
    def is_local(self) -> bool:
        """Whether `location` is a path on this machine."""
        return self.kind in {"directory", "archive", "git"} and "://" not in self.location

    def __str__(self) -> str:
        """The reference as it can be parsed again."""
        if self.version is None:
            return self.source
        is_whole_site = self.kind == "index" and "/" not in self.location.partition("://")[2]
        return f"{self.source}{'/' if is_whole_site else ''}@{self.version}"

    def relative_to(self, directory: str) -> str:
        """Return `source`, with a local path relative to `directory`: `./skills`, `git+file:../repo`."""
        if not self.is_local:
            return self.source
        try:
            relative = os.path.relpath(self.location, directory).replace(os.sep, "/")
        except ValueError:  # on another drive
            return self.source
        relative = relative if relative.startswith("../") or relative in {".", ".."} else f"./{relative}"
        return self.source.replace(self.location, relative, 1)


def parse_reference(text: str, *, base: str | None = None, has_version: bool = True) -> SourceReference:
    """Parse `SOURCE[@VERSION]`. Local paths are relative to `base`, by default the working directory.

    With `has_version=False` the text is a source without a version, as in a lock.

    Raises:
        InvalidArgumentsError: the text names no source, holds a credential, or would use an unprotected connection.
    """
    if not text or not text.isprintable() or text != text.strip() or len(text) > 2000:  # noqa: PLR2004 -- as long as URLs can be
        _refuse(text, "it is empty, too long, or has spaces around it or invisible characters")
    kind, colon, rest = text.partition(":")
    if colon and kind in {"python", "npm"}:
        return _package(text, kind, rest, has_version=has_version)
    if text.startswith("git+"):
        return _git(text, text[4:], base or os.getcwd(), has_version=has_version)
    if "://" in text:
        return _url(text, has_version=has_version)
    if _is_path(text):
        return _local(text, base or os.getcwd(), has_version=has_version)
    if (scp := _SCP.fullmatch(text)) is not None:
        return _git(text, f"ssh://{scp[1]}@{scp[2]}/{scp[3].lstrip('/')}", "", has_version=has_version)
    if (short := _SHORT.fullmatch(text)) is not None:
        owner, name, path, version = short.groups()
        if version is not None and not has_version:
            _refuse(text, "a version is not expected here")
        if name in {".", ".."}:
            _refuse(text, "it names no repository")
        return _reference(text, "git", f"{_GITHUB}{owner}/{name}", path.strip("/"), version)
    return _refuse(text, "it is no source; write ./PATH, owner/repo, git+https://…, https://…, oci://…, python:NAME")


def _refuse(text: str, problem: str) -> NoReturn:
    raise InvalidArgumentsError((f"source {_shown(text)!r}: {problem}",))


def _shown(text: str) -> str:
    """Return the text without what could be a credential."""
    text = re.sub(r"(?<=://)[^/?#]*@", "***@", text)
    text = re.sub(r"\?[^#]*", "?***", text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _reference(text: str, kind: Kind, location: str, path: str, version: str | None) -> SourceReference:
    if version is not None and _VERSION.fullmatch(version) is None:
        _refuse(text, "the version after @ is empty, begins with - or has characters that no version has")
    try:
        path = "/".join(check_relative(path, "the repository")) if path else ""
    except UnsafePathError as fault:
        _refuse(text, fault.reason)
    path = "" if path == _DOCUMENT else path.removesuffix(f"/{_DOCUMENT}")  # the file means its skill
    if kind == "git" and "://" in location:
        if "%2F" in location:
            _refuse(text, "a '/' in the path of a repository is written as it is, not as %2F")
        location = location.removesuffix("/").removesuffix(".git")
    return SourceReference(kind=kind, location=location, path=path, version=version)


def _package(text: str, kind: str, rest: str, *, has_version: bool) -> SourceReference:
    name, version = _parted(rest, has_version=has_version, first=1)
    if kind == "npm":
        if _NPM.fullmatch(name) is None:
            _refuse(text, "no npm package can have this name")
        return _reference(text, "npm", name, "", version)
    if _PYTHON.fullmatch(name) is None:
        _refuse(text, "no Python distribution can have this name")
    return _reference(text, "python", re.sub(r"[-_.]+", "-", name).lower(), "", version)  # PEP 503


def _parted(text: str, *, has_version: bool, first: int = 0) -> tuple[str, str | None]:
    """Return the text before and after the first `@` that is not among the first characters."""
    at = text.find("@", first) if has_version else -1
    return (text, None) if at < 0 else (text[:at], text[at + 1 :])


def _is_path(text: str) -> bool:
    return text.startswith(("/", ".", "~")) or os.path.isabs(text) or _split_local(text)[0].endswith(ARCHIVE_SUFFIXES)


def _split_local(text: str) -> tuple[str, str | None]:
    """Split at the last `@` of the last component."""
    before, at, version = text.rpartition("@")
    if not at or "/" in version or not before or before.endswith("/"):
        return text, None
    return before, version


def _local(text: str, base: str, *, has_version: bool) -> SourceReference:
    path = os.path.abspath(os.path.join(base, os.path.expanduser(text)))
    version = None
    if has_version and not os.path.lexists(path):  # a directory's name may contain @
        written, version = _split_local(text)
        path = os.path.abspath(os.path.join(base, os.path.expanduser(written)))
    if os.path.basename(path) == _DOCUMENT:
        path = os.path.dirname(path)
    is_archive = path.endswith(ARCHIVE_SUFFIXES) and not os.path.isdir(path)
    return _reference(text, "archive" if is_archive else "directory", path, "", version)


def _checked(text: str, url: str, *, user: bool = False) -> SplitResult:
    """Split a URL, and refuse credentials and unprotected connections. With `user`, a user name is allowed (ssh).

    The path is in its shortest form: characters that need no escape have none. A path with `.` or `..` is refused,
    because a server and a rule could take it for different places.
    """
    try:
        parts = urlsplit(url)
        has_secret = parts.password is not None or (parts.username is not None and not user)
        host = host_of_url(f"https://{parts.netloc.rpartition('@')[2]}/")
        port = parts.port
    except ValueError:
        return _refuse(text, "it is not a URL")
    if has_secret or any(_SECRET.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        _refuse(
            text,
            "a URL with a password or token is refused, because it would be kept in the lock; leave it out, and let "
            "git's or docker's credential helper, ~/.netrc or the environment provide it (a version is written after a "
            "path: https://host/@1.0.0)",
        )
    if parts.scheme not in {"http", "https", "ssh", "oci"}:
        _refuse(text, f"{parts.scheme or 'this kind of URL'}: is not supported; use https")
    if host is None or port == 0 or "\\" in url or parts.netloc.rpartition("@")[2].startswith("-"):
        _refuse(text, "it has no host that all programs agree on")
    if parts.username is not None and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", parts.username) is None:
        _refuse(text, "the user name has characters that are not allowed")
    if parts.scheme == "http" and host not in _LOCAL_HOSTS:
        _refuse(text, "plain http is allowed to this machine alone; use https")
    path = _ESCAPE.sub(_unescaped, parts.path)
    if {".", ".."} & set(re.split("/|%2F|%5C", path)):
        _refuse(text, "a '.' or '..' in a URL could lead to another place; write the address without it")
    return parts._replace(path=path)


def _unescaped(escape: re.Match[str]) -> str:
    sign = chr(int(escape[1], 16))
    return sign if _UNRESERVED.fullmatch(sign) else escape[0].upper()


def _git(text: str, url: str, base: str, *, has_version: bool) -> SourceReference:
    url, _, fragment = url.partition("#")
    version: str | None = None
    path = ""
    if fragment:
        key, _, value = fragment.partition("=")
        if key != "subdirectory":
            _refuse(text, "after # only subdirectory=PATH is known")
        path, version = _parted(unquote(value), has_version=has_version)
    if url.startswith("file:"):
        location, found = (url[5:], None) if version or not has_version else _split_local(url[5:])
        location = unquote(location[2:]) if location.startswith("///") else location
        if location.startswith("//"):
            _refuse(text, "git+file: names a path on this machine: git+file:///srv/repo or git+file:../repo")
        location = os.path.abspath(os.path.join(base, os.path.expanduser(location)))
        return _reference(text, "git", location, path, version or found)
    parts = _checked(text, url, user=url.startswith("ssh:"))
    if parts.query or parts.scheme == "oci":
        _refuse(text, "git needs https, ssh or file, and no query")
    rest, found = _parted(re.sub("//+", "/", parts.path), has_version=has_version and version is None)
    if not rest.strip("/"):
        _refuse(text, "it names no repository")
    user, at, _ = parts.netloc.rpartition("@")
    return _reference(text, "git", f"{parts.scheme}://{user}{at}{_server(parts)}{rest}", path, version or found)


def _server(parts: SplitResult) -> str:
    """Return the host in its comparable form, and the port unless the scheme implies it."""
    host = host_of_url(f"https://{parts.netloc.rpartition('@')[2]}/") or ""  # `_checked` refuses others
    return host if parts.port in {None, _PORTS[parts.scheme]} else f"{host}:{parts.port}"


def _url(text: str, *, has_version: bool) -> SourceReference:
    parts = _checked(text, text, user=text.startswith("ssh:"))
    if parts.scheme == "ssh":
        return _git(text, text, "", has_version=has_version)
    netloc = _server(parts)
    if parts.scheme == "oci":
        return _oci(text, netloc, parts, has_version=has_version)
    site = f"{parts.scheme}://{netloc}"
    rest, version = _split_local(parts.path) if has_version else (parts.path, None)
    if has_version and re.fullmatch("/@[^/]+", parts.path):  # a version of the site itself
        rest, version = "", parts.path[2:]
    is_archive = rest.endswith(ARCHIVE_SUFFIXES)
    is_page = netloc in CODE_HOSTS and "/" in rest.strip("/") and not is_archive
    if rest.rstrip("/").endswith(".git") or is_page:
        return _page(text, site, *_parted(parts.path, has_version=has_version))
    query = f"?{parts.query}" if parts.query else ""
    kind: Kind = "archive" if is_archive else "index"
    if parts.fragment:
        _refuse(text, "a # has no meaning here")
    return _reference(text, kind, f"{site}{rest if kind == 'archive' else rest.rstrip('/')}{query}", "", version)


def _page(text: str, site: str, path: str, version: str | None) -> SourceReference:
    """Return the repository of a page: `/owner/repo`, `/owner/repo/tree/REF/path`, `/group/repo/-/tree/REF/path`."""
    parts = path.strip("/").split("/")
    has_groups = _GROUPED in site or path.endswith(".git")  # then the repository is all that precedes a `-`
    at = parts.index("-") if "-" in parts else len(parts) if has_groups else 2
    page = [part for part in parts[at:] if part != "-"]
    if page and page[0] in _PAGES and len(page) > 1:
        version = version or unquote(page[1])
        below = [unquote(part) for part in page[2:]]
    elif page:
        return _refuse(text, "this page of a code host is no repository and no directory of one")
    else:
        below = []
    return _reference(text, "git", f"{site}/{'/'.join(parts[:at])}", "/".join(below), version)


def _oci(text: str, registry: str, parts: SplitResult, *, has_version: bool) -> SourceReference:
    repository, version = _parted(parts.path.strip("/"), has_version=has_version)
    if version is None and has_version and ":" in repository:
        repository, _, version = repository.partition(":")
    if _OCI_REPOSITORY.fullmatch(repository) is None or parts.query or parts.fragment:
        _refuse(text, "write oci://registry/repository, with @VERSION, :TAG or @sha256:… after it")
    return _reference(text, "oci", f"{registry}/{repository}", "", version)
