"""The language server as an editor meets it: a process, a pipe, and the protocol."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from prowess.lint.rule_page import rule_page
from tests.fork_server import prowess
from tests.lsp.editor import Editor, capabilities, document, editing

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.anyio
BROKEN = Path(__file__).parents[2] / "examples" / "broken"
GOOD = "---\nname: {name}\ndescription: Reads tables. Use when the user has a table.\n---\n# Read\n\nRead the file.\n"


def skill(root: Path, name: str, text: str | None = None) -> Path:
    """Write a skill; return its SKILL.md."""
    path = root / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((GOOD.format(name=name) if text is None else text).encode())
    return path


def rules(found: Sequence[types.Diagnostic]) -> list[object]:
    """The rules of what is more than a hint; those of taste come and go."""
    return [one.code for one in found if one.severity != types.DiagnosticSeverity.Information]


@pytest.mark.proves("governance.beyond.ide")
async def test_an_editor_gets_findings_explanations_and_fixes(tmp_path: Path) -> None:
    path = skill(tmp_path, "table", GOOD.replace("Reads tables.", "Reads: tables.").format(name="table"))
    async with editing(tmp_path) as editor:
        found = next(one for one in await editor.open(path) if one.code == "frontmatter.syntax")
        assert (found.code, found.severity, found.source) == (
            "frontmatter.syntax", types.DiagnosticSeverity.Error, "prowess",
        )  # fmt: skip
        assert editor.covered(path, found) == "Reads: tables. Use when the user has a table."
        shown = await editor.hover(path, 2, 15)
        assert shown.startswith("**frontmatter.syntax** (error): ")
        page = rule_page("frontmatter.syntax")
        assert all(part in shown for part in (page.summary, page.page.what, page.page.why, page.page.instead))
        (fix,) = (one for one in await editor.actions(path) if one.kind == types.CodeActionKind.QuickFix)
        (fix_all,) = await editor.actions(path, ["source"])
        assert fix.kind == types.CodeActionKind.QuickFix
        assert fix.is_preferred
        assert fix.diagnostics is not None
        assert rules(fix.diagnostics) == ["frontmatter.syntax"]
        assert fix_all.kind == "source.fixAll.prowess"
        editor.apply(fix.edit)
        assert 'description: "Reads: tables. Use' in path.read_text()
        assert rules(await editor.change(path, path.read_text())) == []


async def test_an_open_buffer_gets_the_findings_that_check_reports_of_the_same_file(tmp_path: Path) -> None:
    paths = [path for path in sorted(BROKEN.glob("*/SKILL.md")) if path.parent.name != "not-utf-8"]
    ran = subprocess.run(  # noqa: ASYNC221 -- nothing else waits here
        [prowess(), "check", str(BROKEN), "--json", "--exit-zero"],
        capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    wanted = [one for one in json.loads(ran.stdout)["diagnostics"] if one["skill"] != "not-utf-8"]
    assert len(wanted) >= 10
    got = []
    async with editing(tmp_path) as editor:
        for path in paths:
            for found in await editor.open(path):
                start, end = found.range.start, found.range.end
                got.append((str(path), found.code, found.message, start.line, start.character, end.line, end.character))
    assert got == [
        (
            one["path"], one["rule"], one["message"], one["line"] - 1, one["column"] - 1,
            (one.get("end_line") or one["line"]) - 1, (one.get("end_column") or one["column"]) - 1,
        )
        for one in wanted
    ]  # fmt: skip


async def test_the_buffer_counts_and_not_the_file_and_fast_typing_is_checked_once(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    text = path.read_text()
    async with editing(tmp_path) as editor:
        assert rules(await editor.open(path)) == []
        before = len(editor.published)
        for at in range(30):
            editor.type(path, text.replace("name: table", f"name: table{at}"))
        found = await editor.change(path, text.replace("name: table", "name: chair"))
        assert rules(found) == ["name.matchesDirectory"]
        assert any("'chair'" in one.message for one in found)
        assert len(editor.published) - before < 5
        assert path.read_text() == text
        # What lies around the buffer is looked at on disk, again when the file is saved.
        found = await editor.change(path, f"{text}\nSee [rates](references/rates.md).\n")
        assert rules(found) == ["reference.missing"]
        (path.parent / "references").mkdir()
        (path.parent / "references" / "rates.md").write_text("# Rates\n")
        sent = len(editor.published)
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=document(path)))
        assert rules(await editor.findings(path, sent)) == []
        # A buffer that is closed, and a file that is no skill, show nothing.
        sent = len(editor.published)
        editor.close(path)
        await editor.until(lambda: len(editor.published) > sent)
        assert [list(one.diagnostics) for one in editor.published[sent:]] == [[]]
        sent += 1
        other = tmp_path / "README.md"
        item = types.TextDocumentItem(uri=other.as_uri(), language_id="markdown", version=1, text="---\n")
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        assert await editor.hover(other, 0, 0) == ""
        assert editor.published[sent:] == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_are_right_in_every_encoding_with_astral_characters_crlf_and_a_mark(
    tmp_path: Path, encoding: str
) -> None:
    text = (
        "\ufeff---\r\nname: 𝓽able\r\ndescription: 😀😀 é Reads tables. Use when 😀 it has: one\r\nowner: 😀\r\n---\r\n"
        "😀\u2028\x0c Read 😀 [the 😀 rates](no-😀.md) first.\r\n"
    )
    path = skill(tmp_path, "table", text)
    async with editing(tmp_path, client=capabilities(encodings=[encoding])) as editor:
        assert editor.encoding == encoding
        found = {str(one.code): editor.covered(path, one) for one in await editor.open(path)}
        assert found["encoding.bom"] == "\ufeff"
        assert found["frontmatter.syntax"] == "😀😀 é Reads tables. Use when 😀 it has: one"
        assert found["frontmatter.unknownField"] == "owner"
        assert found["reference.missing"] == "no-😀.md"
        (fix_all,) = await editor.actions(path, [types.CodeActionKind.SourceFixAll.value])
        editor.apply(fix_all.edit)
        assert (
            path.read_bytes()
            .decode()
            .startswith(
                "---\r\nname: 𝓽able\r\n"
                'description: "😀😀 é Reads tables. Use when 😀 it has: one"\r\nmetadata:\r\n  owner: 😀\r\n---\r\n'
            )
        )
        left = await editor.change(path, path.read_bytes().decode())
        assert {"encoding.bom", "frontmatter.syntax", "frontmatter.unknownField"}.isdisjoint(rules(left))


async def test_each_fix_by_itself_leaves_a_text_without_its_finding(tmp_path: Path) -> None:
    text = "---\nname: chair\ndescription: Reads: tables\nowner: me\nallowed-tools: Read, Grep\n---\nBody.\n"
    path = skill(tmp_path, "table", text)
    async with editing(tmp_path) as editor:
        await editor.open(path)
        fixes = await editor.actions(path, [types.CodeActionKind.QuickFix.value])
        assert len(fixes) >= 3
        for fix in fixes:
            assert fix.diagnostics is not None
            (cured,) = rules(fix.diagnostics)
            await editor.change(path, text)
            editor.versions[path.as_uri()] = 1  # the edit was made for the text as it was first
            editor.apply(fix.edit)
            editor.versions[path.as_uri()] = 100 + len(editor.published)
            assert cured not in rules(await editor.change(path, editor.texts[path.as_uri()]))
        # Nothing that changes the meaning is in "fix all".
        await editor.change(path, text)
        (fix_all,) = await editor.actions(path, ["source.fixAll"])
        editor.apply(fix_all.edit)
        assert "name: chair\n" in path.read_text()


async def test_the_settings_of_the_folder_hold_and_a_wrong_file_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text('profile = "claude-code"\nignore = ["name.matchesDirectory"]\n')
    text = GOOD.format(name="chair").replace("---\n#", "context: fork\n---\n#")
    path = skill(tmp_path / "deep" / "down", "table", text)
    async with editing(tmp_path, client=capabilities(watches=True)) as editor:
        assert rules(await editor.open(path)) == []
        await editor.until(lambda: editor.registered)
        assert editor.registered[0].method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        (tmp_path / "prowess.toml").write_text("ignore = 1\n")
        for _ in range(2):
            sent = len(editor.published)
            changed = types.FileEvent(uri=(tmp_path / "prowess.toml").as_uri(), type=types.FileChangeType.Changed)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[changed]))
            found = await editor.findings(path, sent)
            assert rules(found) == ["name.matchesDirectory", "frontmatter.unknownField"]
        (sentence,) = editor.shown
        assert "prowess.toml:1: ignore" in sentence
        assert "default settings" in sentence
    asked = ["--isolated", "--profile", "lenient", "--suppressions", "on", "--stdio"]
    async with editing(tmp_path, options=asked) as editor:
        found = await editor.open(path)
        assert types.DiagnosticSeverity.Error not in {one.severity for one in found}
        assert "name.matchesDirectory" in rules(found)
        quiet = text.replace("name: chair", "name: chair # prowess: ignore name.matchesDirectory")
        assert "name.matchesDirectory" not in rules(await editor.change(path, quiet))


async def test_fields_tools_and_values_are_completed_while_the_yaml_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text('profile = "claude-code"\n')
    lines = [
        "---",
        "name: ",
        "des",
        "allowed-tools: Bash(git:*) Re",
        "context: ",
        "disallowed-tools:",
        "  - W",
        "---",
        "B",
    ]
    path = skill(tmp_path, "table", "\n".join(lines))

    async def labels(editor: Editor, line: int) -> list[str]:
        return [item.label for item in await editor.complete(path, line, len(lines[line]))]

    async with editing(tmp_path) as editor:
        await editor.open(path)
        fields = await labels(editor, 2)
        assert fields[:4] == ["description", "license", "compatibility", "metadata"]
        assert "hooks" in fields
        assert {"name", "context", "allowed-tools"}.isdisjoint(fields)
        (first, *_) = await editor.complete(path, 2, 3)
        assert first.filter_text == first.label
        assert isinstance(first.text_edit, types.TextEdit)
        assert (first.text_edit.new_text, first.text_edit.range.start.character) == ("description: ", 0)
        tools = await labels(editor, 3)
        assert "Read" in tools
        assert "Bash" not in tools
        assert await labels(editor, 1) == ["table"]
        assert await labels(editor, 4) == ["inherit", "fork"]
        assert "WebFetch" in await labels(editor, 6)
        assert await labels(editor, 8) == []
        assert await editor.complete(path, 3, len("allowed-tools: Bash(gi")) == []
        assert await editor.complete(path, 10_000, 10_000) == []
        (tmp_path / "prowess.toml").unlink()
        sent = len(editor.published)
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=document(path)))
        await editor.findings(path, sent)
        assert await labels(editor, 2) == ["description", "license", "compatibility", "metadata"]


async def test_renaming_a_skill_moves_its_directory_and_its_name_together(tmp_path: Path) -> None:
    path = skill(tmp_path, "table", GOOD.format(name="'table'"))
    skill(tmp_path, "taken")
    at = types.Position(line=1, character=9)
    async with editing(tmp_path) as editor:
        await editor.open(path)
        prepared = await editor.client.text_document_prepare_rename_async(
            types.PrepareRenameParams(text_document=document(path), position=at)
        )
        assert isinstance(prepared, types.PrepareRenamePlaceholder)
        assert prepared.placeholder == "table"
        elsewhere = types.PrepareRenameParams(
            text_document=document(path), position=types.Position(line=2, character=3)
        )
        assert await editor.client.text_document_prepare_rename_async(elsewhere) is None
        for wrong in ("../out", "Upper", "", "a--b", "x" * 65, "taken"):
            with pytest.raises(JsonRpcException):
                await editor.client.text_document_rename_async(
                    types.RenameParams(text_document=document(path), position=at, new_name=wrong)
                )
        edit = await editor.client.text_document_rename_async(
            types.RenameParams(text_document=document(path), position=at, new_name="chair")
        )
        [move] = [one for one in (edit and edit.document_changes) or () if isinstance(one, types.RenameFile)]
        # The client moves later than the server looked: what is there by then must not be written over or passed by.
        assert move.options == types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
        editor.apply(edit)
        moved = tmp_path / "chair" / "SKILL.md"
        assert not path.parent.exists()
        assert "name: 'chair'\n" in moved.read_text()
        editor.close(path)
        assert rules(await editor.open(moved)) == []
        # The directory is moved in the editor's tree, and the name follows.
        target = tmp_path / "true"
        edit = await editor.client.workspace_will_rename_files_async(
            types.RenameFilesParams(files=[types.FileRename(old_uri=moved.parent.as_uri(), new_uri=target.as_uri())])
        )
        editor.apply(edit)
        assert "name: 'true'\n" in moved.read_text()


async def test_a_client_that_cannot_move_files_gets_the_name_alone_and_is_told(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    at = types.Position(line=1, character=7)
    async with editing(tmp_path, client=capabilities(moves=False)) as editor:
        await editor.open(path)
        edit = await editor.client.text_document_rename_async(
            types.RenameParams(text_document=document(path), position=at, new_name="123")
        )
        assert edit is not None
        assert edit.document_changes is None
        editor.apply(edit)
        assert 'name: "123"\n' in path.read_text()
        await editor.until(lambda: editor.shown)
        assert "directory" in editor.shown[0]


async def test_a_directory_that_is_itself_the_open_folder_is_not_moved(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    at = types.Position(line=1, character=7)
    async with editing(tmp_path) as editor:
        folder = types.WorkspaceFolder(uri=path.parent.as_uri(), name="table")
        event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=event))
        await editor.open(path)
        edit = await editor.client.text_document_rename_async(
            types.RenameParams(text_document=document(path), position=at, new_name="chair")
        )
        assert edit is not None
        assert [type(one) for one in edit.document_changes or ()] == [types.TextDocumentEdit]


async def test_fields_are_explained_and_the_outline_lists_them_with_the_headings(tmp_path: Path) -> None:
    path = skill(tmp_path, "table", GOOD.format(name="[x](command:y)") + "\n```\n# no heading\n```\n\n## Then\n")
    async with editing(tmp_path) as editor:
        await editor.open(path)
        assert "when to use it" in await editor.hover(path, 2, 4)
        assert "](command" not in await editor.hover(path, 1, 10)  # text of a document is no Markdown of ours
        assert await editor.hover(path, 4, 0) == ""
        found = await editor.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(text_document=document(path))
        )
        assert [one.name for one in found or ()] == ["name", "description", "Read", "Then"]


async def test_a_manifest_is_judged_in_its_own_buffer_as_check_judges_it(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    manifest = path.with_name("skill.manifest.yaml")
    manifest.write_text("# what it needs\n\nsecrets: none\ncomposition: 5\n")
    ran = subprocess.run(  # noqa: ASYNC221 -- nothing else waits here
        [prowess(), "check", str(path.parent), "--json", "--exit-zero"],
        capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    wanted = [one for one in json.loads(ran.stdout)["diagnostics"] if one["path"] == str(manifest)]
    async with editing(tmp_path) as editor:
        found = await editor.open(manifest)
        assert [(one.code, one.message, one.range.start.line + 1) for one in found] == [
            (one["rule"], one["message"], one["line"]) for one in wanted
        ]
        assert editor.covered(manifest, found[0]) == "secrets"
        shown = await editor.hover(manifest, 2, 3)
        assert shown.startswith("**manifest.unknownField** (warning): ")
        assert rule_page("manifest.unknownField").page.why in shown
        assert await editor.hover(manifest, 1, 0) == ""
        assert await editor.complete(manifest, 1, 0) == []
        assert await editor.actions(manifest) == []
        assert await editor.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(text_document=document(manifest))
        ) == []  # fmt: skip
        assert rules(await editor.change(manifest, "# nothing\n")) == []
        large = "# " + "x" * 256 * 1024 + "\nsecrets: none\n"
        assert rules(await editor.change(manifest, large)) == ["manifest.file"]


async def test_a_manifest_is_not_judged_where_the_profile_knows_none(tmp_path: Path) -> None:
    manifest = skill(tmp_path, "table").with_name("skill.manifest.yaml")
    manifest.write_text("secrets: none\n")
    async with editing(tmp_path, options=["--profile", "skills-ref"]) as editor:
        assert await editor.open(manifest) == []


async def test_the_first_line_of_a_skill_explains_what_is_found_in_its_other_files(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    path.with_name("skill.manifest.yaml").write_text("\nsecrets: none\n")
    async with editing(tmp_path) as editor:
        found = next(one for one in await editor.open(path) if one.code == "manifest.unknownField")
        assert found.message.startswith("skill.manifest.yaml:2: ")
        assert editor.covered(path, found) == "---"
        shown = await editor.hover(path, 0, 1)
        assert shown.startswith(r"**manifest.unknownField** (warning): skill\.manifest\.yaml:2: ")
        assert rule_page("manifest.unknownField").page.why in shown


async def test_a_change_of_a_buffer_that_is_not_open_is_passed_over(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    async with editing(tmp_path) as editor:
        editor.versions[path.as_uri()] = 0
        editor.type(path, "not opened yet")  # as Neovim does where it moves the file of a buffer
        await editor.open(path)
        assert editor.logged == []


async def test_a_client_that_can_move_files_need_not_say_that_it_takes_versions(tmp_path: Path) -> None:
    path = skill(tmp_path, "table")
    client = capabilities()
    assert client.workspace is not None
    assert client.workspace.workspace_edit is not None
    client.workspace.workspace_edit.document_changes = None
    async with editing(tmp_path, client=client) as editor:
        await editor.open(path)
        name = types.Position(line=1, character=8)
        editor.apply(
            await editor.client.text_document_rename_async(
                types.RenameParams(text_document=document(path), position=name, new_name="ledger")
            )
        )
    assert "name: ledger" in (tmp_path / "ledger" / "SKILL.md").read_text()
