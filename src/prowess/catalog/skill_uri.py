"""`skill://` URIs: the name of a skill and a path inside it, percent-encoded once and decoded once.

    skill://<name>                 the skill's directory
    skill://<name>/SKILL.md        its instructions
    skill://<name>/<path>          any other file or directory of it

Every character but letters, digits, `-._~` and the separating slashes is written as the bytes of its UTF-8, so every
valid name and every path a file can have comes back as it was. What decodes to something that could mean another place
is refused as text, before anything is looked up.

Source: MCP Skills extension `io.modelcontextprotocol/skills`, resource mapping.
"""

from __future__ import annotations

import re

SCHEME = "skill://"
DOCUMENT = "SKILL.md"
INDEX = SCHEME + "index.json"  # an older form of discovery; no name of a skill holds a dot

_FORM = r"(?i)skill://([^/?#]+)(?:/([^?#]*))?"
_ESCAPE = r"%(?![0-9A-Fa-f]{2})"


def skill_uri(name: str, path: str = "") -> str:
    """Return the URI of a file or directory of a skill; without `path` that of its directory."""
    # Imported here: most catalogs are never served.
    from urllib.parse import quote

    root = SCHEME + quote(name, safe="")
    return f"{root}/{quote(path, safe='/')}" if path else root


def parse_skill_uri(uri: str) -> tuple[str, str]:
    """Return the name and the path; the path is empty for the skill's directory.

    Raises:
        ValueError: no URI of this form, or a part that decodes to something else than a name.
    """
    form = re.fullmatch(_FORM, uri)
    if form is None:
        message = f"{uri[:200]!r} is no skill URI; write skill://<name>/<path>, and percent-encode other characters"
        raise ValueError(message)
    name, path = form.group(1), form.group(2)
    segments = [] if path is None else path.split("/")
    decoded = [_decoded(part, uri) for part in (name, *segments)]
    return decoded[0], "/".join(decoded[1:])


def _decoded(part: str, uri: str) -> str:
    # Imported here: as in `skill_uri`.
    from urllib.parse import unquote_to_bytes

    message = f"{uri[:200]!r} is not percent-encoded UTF-8"
    if re.search(_ESCAPE, part):
        raise ValueError(message)
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeError:
        raise ValueError(message) from None
    if text in {"", ".", ".."} or "/" in text or "\\" in text or "\0" in text:
        message = f"{uri[:200]!r} has a part that could mean another place"
        raise ValueError(message)
    return text
