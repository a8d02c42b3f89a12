"""The pages of the rules of the format. Rules of other rooms have theirs in the docstring of their class."""

from __future__ import annotations

from prowess.format.rule_pages.extended_pages import PAGES as _EXTENDED
from prowess.format.rule_pages.field_pages import PAGES as _FIELDS
from prowess.format.rule_pages.file_pages import PAGES as _FILE
from prowess.format.rule_pages.manifest_pages import PAGES as _MANIFEST
from prowess.format.rule_pages.page import Page

__all__ = ["FORMAT_PAGES", "Page"]

FORMAT_PAGES: dict[str, Page] = {**_FILE, **_FIELDS, **_EXTENDED, **_MANIFEST}
