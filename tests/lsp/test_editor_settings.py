"""The set-ups of docs/author/editor.md say to each editor what its manifest asks for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "author" / "editor.md").read_text()


def file(name: str) -> str:
    """Return the text of a file of the page."""
    found = re.search(rf"`{re.escape(name)}`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None, name
    return found[1]


def test_the_manifest_for_vs_code_has_what_an_extension_must_have() -> None:
    manifest = json.loads(file("package.json"))
    assert {"name", "version", "publisher", "engines", "main"} <= manifest.keys()
    assert manifest["main"] == "./extension.js"
    assert all(event.startswith(("onLanguage:", "workspaceContains:")) for event in manifest["activationEvents"])
    assert list(manifest["dependencies"]) == ["vscode-languageclient"]


def test_the_manifest_for_zed_has_only_fields_that_zed_documents() -> None:
    manifest = tomllib.loads(file("extension.toml"))
    assert {"id", "name", "version", "schema_version", "authors"} <= manifest.keys()
    assert manifest["schema_version"] == 1
    (server,) = manifest["language_servers"].values()
    assert server.keys() <= {"name", "languages", "language_ids", "code_action_kinds"}
    assert server["languages"] == ["Markdown", "YAML"]
    cargo = tomllib.loads(file("Cargo.toml"))
    assert cargo["lib"]["crate-type"] == ["cdylib"]
    assert "zed_extension_api" in cargo["dependencies"]


def test_every_editor_starts_the_same_command_for_the_same_files() -> None:
    assert 'cmd = { "prowess", "lsp" }' in PAGE
    assert '{ command: "prowess", args: ["lsp"] }' in file("extension.js")
    assert 'vec!["lsp".into()]' in file("src/lib.rs")
    assert "**/{SKILL.md,skill.md,skill.manifest.yaml}" in file("extension.js")
