from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.execution.workspace import usable_workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_an_ordinary_directory_is_used_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert usable_workspace(str(tmp_path / "link")) == (str((tmp_path / "real").resolve()), None)


def test_a_directory_beside_the_prowess_home_is_fine(own_home: Path) -> None:
    (own_home / "project").mkdir()
    assert usable_workspace(str(own_home / "project"))[1] is None
    (own_home / ".prowess-notes").mkdir()
    assert usable_workspace(str(own_home / ".prowess-notes"))[1] is None


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("/", "root of the file system"),
        ("{home}", "home directory"),
        ("{home}/..", "home directory"),
        ("{home}/link", "home directory"),
        ("{home}/.prowess", "Prowess itself"),
        ("{home}/.prowess/audit", "Prowess itself"),
        ("{home}/absent", "no directory"),
    ],
)
def test_what_would_hand_over_too_much_is_refused_with_the_reason(own_home: Path, where: str, why: str) -> None:
    (own_home / ".prowess" / "audit").mkdir(parents=True)
    (own_home / "link").symlink_to(own_home)
    path, notice = usable_workspace(where.format(home=own_home))
    assert path is None
    assert notice is not None
    assert why in notice.message
    assert notice.code == "workspace_refused"


def test_a_directory_that_holds_a_moved_prowess_home_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "a" / "state"))
    (tmp_path / "a").mkdir()
    assert usable_workspace(str(tmp_path / "a"))[0] is None
