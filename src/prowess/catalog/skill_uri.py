"""`skill://` URIs: the name of a skill and a path inside it, percent-encoded.

    skill://<name>                 the skill's directory
    skill://<name>/SKILL.md        its instructions
    skill://<name>/<path>          another file or directory of the skill

All characters except letters, digits, `-._~` and the separating slashes are encoded as UTF-8 bytes, so every valid name
and every path of a file survives encoding and decoding. A part that does not decode to a plain file name (`..`, for
example) is refused before the skill is looked up.

Source: MCP Skills extension `io.modelcontextprotocol/skills`, resource mapping.
"""

from __future__ import annotations

import re

SCHEME = "skill://"
DOCUMENT = "SKILL.md"
INDEX = SCHEME + "index.json"  # an older way to list skills; no skill can have this name, as names have no dots

_FORM = r"(?i)skill://([^/?#]+)(?:/([^?#]*))?"
_ESCAPE = r"%(?![0-9A-Fa-f]{2})"


def skill_uri(name: str, path: str = "") -> str:
    """Return the URI of a file or directory of a skill. Without `path`, return the URI of its directory."""
    from urllib.parse import quote  # Imported here: most catalogs are not served.

    root = SCHEME + quote(name, safe="")
    return f"{root}/{quote(path, safe='/')}" if path else root


def parse_skill_uri(uri: str) -> tuple[str, str]:
    """Return the name and path (empty: the skill's directory) in a skill URI. Raises ValueError if it is invalid."""
    form = re.fullmatch(_FORM, uri)
    if form is None:
        message = f"{uri[:200]!r} is not a skill URI; write skill://<name>/<path>, and percent-encode other characters"
        raise ValueError(message)
    name, path = form.group(1), form.group(2)
    segments = [] if path is None else path.split("/")
    decoded = [_decoded(part, uri) for part in (name, *segments)]
    return decoded[0], "/".join(decoded[1:])


def _decoded(part: str, uri: str) -> str:
    from urllib.parse import unquote_to_bytes  # Imported here: most catalogs are not served.

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
