"""Neovim's own client works with the server, set up by the very lines of docs/author/editor.md."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.lsp.neovim import missing, neovim

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
FAULTY = (
    "---\nname: tables\ndescription: Reads: tables. Use when the user has a table.\n---\n# Read\n\nRead the file.\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one faulty skill, `tables`."""
    (tmp_path / "work" / "tables").mkdir(parents=True)
    (tmp_path / "work" / "tables" / "SKILL.md").write_text(FAULTY)
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    return tmp_path / "work"


def test_findings_hover_quick_fix_and_completion_work_in_neovim(tmp_path: Path, folder: Path) -> None:
    with neovim(tmp_path, folder) as editor:
        editor.open(folder / "tables" / "SKILL.md")
        assert editor.ask("return vim.lsp.get_clients({bufnr = 0})[1].root_dir") == str(folder)
        assert editor.rules() == ["frontmatter.syntax"]
        shown = editor.hover(3, 15)
        assert shown.startswith("**frontmatter.syntax** (error): ")
        assert "**Why it matters**" in shown
        editor.command("vim.lsp.buf.code_action({context = {only = {'quickfix'}}, apply = true})")
        editor.until("return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]:find('\"Reads')")
        editor.until("return #vim.diagnostic.get(0) == 0")
        editor.keys("ggjoallow<C-x><C-o>")
        offered = editor.until(
            "local words = {} for _, one in ipairs(vim.fn.complete_info({'items'}).items) do "
            "table.insert(words, one.word) end return words"
        )
        assert offered == ["allowed-tools:"]
        editor.keys("<C-y><Esc>")
        assert editor.line(3).rstrip() == "allowed-tools:"  # it takes the blank away


def test_a_rename_moves_the_directory_in_neovim_and_the_buffer_follows(tmp_path: Path, folder: Path) -> None:
    path = folder / "tables" / "SKILL.md"
    path.write_text(FAULTY.replace("Reads: ", "Reads "))
    with neovim(tmp_path, folder) as editor:
        editor.open(path)
        editor.command("vim.api.nvim_win_set_cursor(0, {2, 7})")
        editor.command("vim.lsp.buf.rename('ledgers')")
        moved = folder / "ledgers" / "SKILL.md"
        editor.until(f"return vim.api.nvim_buf_get_name(0) == '{moved}'")
        assert editor.line(2) == "name: ledgers"
        editor.keys("<Cmd>write<CR>")
        editor.keys("Gonew<Esc>")  # the server goes on with the buffer under its new name
        editor.keys("<Cmd>2d<CR>")
        editor.until("local one = vim.diagnostic.get(0)[1] return one and one.code == 'name.required'")
    assert not path.exists()
    assert "name: ledgers" in moved.read_text()


def test_all_that_is_safe_is_fixed_when_neovim_saves_and_the_file_has_it(tmp_path: Path, folder: Path) -> None:
    path = folder / "tables" / "SKILL.md"
    with neovim(tmp_path, folder) as editor:
        editor.open(path)
        assert editor.rules() == ["frontmatter.syntax"]
        editor.keys("<Cmd>write<CR>")
        editor.until("return #vim.diagnostic.get(0) == 0")
        assert not editor.ask("return vim.bo.modified")
    assert 'description: "Reads: tables.' in path.read_text()


def test_a_manifest_has_findings_and_hover_in_neovim(tmp_path: Path, folder: Path) -> None:
    manifest = folder / "tables" / "skill.manifest.yaml"
    manifest.write_text("# what it needs\n\nsecrets: none\n")
    with neovim(tmp_path, folder) as editor:
        editor.open(manifest)
        assert editor.rules() == ["manifest.unknownField"]
        assert editor.hover(3, 4).startswith("**manifest.unknownField** (warning): ")
