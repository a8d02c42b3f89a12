"""With `PROWESS_WARM_INDEX=1`, each catalog of these tests finds an index that an earlier catalog has built.

tools/test.sh runs the tests of this room once without and once with it. The two seconds after which a file counts as
settled are left out, so that the index is used; a test that depends on them sets them itself.
"""

from __future__ import annotations

import os

import pytest

from prowess._internal.files import file_mark
from prowess.catalog.catalog import Catalog
from prowess.catalog.memo import index
from prowess.catalog.memo.index import Index

# Tests that count the files that are opened, set the two seconds themselves, or make the directory of the cache.
_OWN_CONDITIONS = {
    "test_a_refresh_opens_only_what_moved",
    "test_a_skill_at_rest_is_known_again_without_opening_anything",
    "test_a_skill_is_visible_in_its_environments_alone",
    "test_discovery_opens_nothing_but_the_heads_of_skill_files",
    "test_each_dimension_is_taken_from_the_argument_the_variable_and_the_users_file",
    "test_what_changed_within_two_seconds_of_the_scan_is_read_again",
}
IS_WARM = os.environ.get("PROWESS_WARM_INDEX") == "1"


@pytest.fixture(autouse=IS_WARM)
def warm_index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the index of a catalog just before its first scan."""
    if request.node.originalname in _OWN_CONDITIONS:
        return
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    monkeypatch.setattr(index, "LEAST_SKILLS", 0)
    first_look, building = Catalog._first_look, [False]

    def after_another(self: Catalog) -> object:
        if self.index is not None and not building[0] and not os.path.exists(self.index.path):
            building[0] = True
            try:
                first_look(self)  # reads everything, and builds the index
                self.index = Index(self._sources)
            finally:
                building[0] = False
        return first_look(self)

    monkeypatch.setattr(Catalog, "_first_look", after_another)
