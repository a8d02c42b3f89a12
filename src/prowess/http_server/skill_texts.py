"""Descriptions and tags of deployed skills, which pages show. Read from the archives once: a tree never changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.fields.extended_fields import extended_fields
from prowess.format.parsing import parse_document

if TYPE_CHECKING:
    from prowess.http_server.call_services import CallServices

_MOST = 2000
_SKILL = "SKILL.md"


class SkillText(Struct, frozen=True, kw_only=True):
    """What the SKILL.md of a deployed skill tells about it."""

    description: str = ""
    tags: tuple[str, ...] = ()


class SkillTexts:
    """The texts of the skills that were asked for last, by the digest of their tree. Safe to call from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, SkillText] = OrderedDict()

    def present(self, services: CallServices) -> dict[str, SkillText]:
        """Return the texts of the skills of the present releases of a call. Raises as `CallServices.contents`."""
        found = {}
        for files, skill in services.present():
            with self._lock:
                text = self._known.get(skill.tree)
            if text is None:
                text = _text_of((services.unpacked(files, skill) or {}).get(_SKILL, b""))
                self._keep(skill.tree, text)
            found[skill.tree] = text
        return found

    def _keep(self, tree: str, text: SkillText) -> None:
        with self._lock:
            self._known[tree] = text
            while len(self._known) > _MOST:
                self._known.popitem(last=False)


def _text_of(skill: bytes) -> SkillText:
    """Return the description and the tags in a SKILL.md, empty if it has none."""
    document = parse_document(skill.decode(errors="replace"))
    fields = document.mapping()
    description = fields.get("description")
    return SkillText(description=description if isinstance(description, str) else "", tags=extended_fields(fields).tags)
