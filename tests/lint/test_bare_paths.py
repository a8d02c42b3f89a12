from __future__ import annotations

import pytest

from prowess.lint.skill_files import bare_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Run `python scripts/run.py --x`, see references/api.md.", ["scripts/run.py", "references/api.md"]),
        ("./scripts/a.py and assets/a.tar.gz", ["scripts/a.py", "assets/a.tar.gz"]),
        ("scripts/run.py:12 references/x.md#top", ["scripts/run.py", "references/x.md"]),
        ("\u89c1 references/x.md\u7684\u8bf4\u660e", ["references/x.md"]),
        ("[a](references/a.md) [`references/b.md`](x) [c]: references/c.md", []),
        ("scripts/<name>.py references/*.md scripts/run-{x}.py assets/a.$b references/a.md...", []),
        ("${X}/scripts/a.py my/scripts/a.py ../scripts/b.py myscripts/a.py", []),
        ("scripts/ references/topic scripts/.hidden", []),
    ],
)
def test_paths_are_told_from_links_patterns_and_parts_of_longer_paths(text: str, paths: list[str]) -> None:
    found = list(bare_paths(text))
    assert [path for path, _ in found] == paths
    assert all(text.startswith(path, start) for path, start in found)
