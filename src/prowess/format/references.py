"""What the body of a skill links to: paths of files, seen from the skill's directory.

Links to the web, mail addresses, anchors and slash commands are no files. A target is percent-decoded once, as Markdown
demands, and its query and fragment do not belong to the path. Nothing here touches the disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.markdown import links, possible_targets

if TYPE_CHECKING:
    from prowess.format.document import SkillDocument

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+:"
_DRIVE = r"[A-Za-z]:"
_HOME = r"@?~[^/\\]*(?:[/\\]|$)"  # some hosts mark a file by an @ before its path
_COMMAND = r"/[\w-]+:[\w-]+"  # `/plugin:skill` of some hosts


class Reference(Struct, frozen=True, kw_only=True):
    """One link to a file. `path` is what it means, decoded; offsets are those of the target in `document.text`.

    `leads` says where: `inside` the skill, out of it (`outside`), or from some root (`absolute`).
    `exact` is true where the offsets hold the target itself, so that it can be replaced.
    """

    target: str
    path: str
    leads: Literal["inside", "outside", "absolute"]
    start: int
    end: int
    exact: bool


def references(document: SkillDocument) -> list[Reference]:
    """Return the links and images of the body that mean files, in order."""
    if not _may_link(document.body):
        return []
    found = []
    for link in links(document.body):
        path = _file_path(link.target)
        if path is None:
            continue
        start, end = link.start + document.body_offset, link.end + document.body_offset
        at = document.text.find(f"]({link.target}", start, end)
        exact = at >= 0
        if exact:
            start, end = at + 2, at + 2 + len(link.target)
        found.append(Reference(target=link.target, path=path, leads=leads(path), start=start, end=end, exact=exact))
    return found


def leads(path: str) -> Literal["inside", "outside", "absolute"]:
    """Return where a decoded path leads, seen from the skill's directory; see `Reference`. The disk is not asked."""
    if path[0] in "/\\" or re.match(_DRIVE, path) or re.match(_HOME, path) or path.lower().startswith("file:"):
        return "absolute"
    # A backslash separates on Windows, so it must not hide a way out.
    return "outside" if inner_components(path.replace("\\", "/")) is None else "inside"


def inner_components(path: str) -> list[str] | None:
    """Return the components of a relative path with `.` and `..` resolved; None where it leaves the root."""
    components: list[str] = []
    for component in path.split("/"):
        if component == "..":
            if not components:
                return None
            components.pop()
        elif component not in {"", "."}:
            components.append(component)
    return components


def _may_link(body: str) -> bool:
    """Whether a link may mean a file; most lead to the web, or to a heading."""
    return any(
        target[:1] != "#" and (not re.match(_SCHEME, target) or target[:5].lower() == "file:")
        for target in possible_targets(body)
    )


def _file_path(target: str) -> str | None:
    """Return the decoded path of a target, or None where it is no file."""
    target = target.strip()
    if target.lower().startswith("file:"):
        return target
    if not target or target[0] in "#?{" or "${" in target or "{{" in target:  # placeholders are filled in later
        return None
    if re.match(_SCHEME, target) or re.fullmatch(_COMMAND, target):
        return None
    return percent_decoded(target.partition("#")[0].partition("?")[0]) or None


_ENCODED = "(?:%[0-9A-Fa-f]{2})+"
_RESERVED = r"[^A-Za-z0-9_.~/-]+"


def percent_decoded(text: str) -> str:
    """Decode once; bytes that are not UTF-8 become replacement characters."""
    return re.sub(_ENCODED, lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), text)


def percent_encoded(path: str) -> str:
    """Encode everything but unreserved characters and `/`."""
    return re.sub(
        _RESERVED, lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape")), path
    )
