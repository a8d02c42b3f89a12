"""An editor for tests: a real client over stdio, buffers, and edits applied as the protocol defines them.

What it knows of positions and edits is written here a second time, on purpose.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

WAIT = 30.0  # seconds; far more than anything here takes
COMMAND = (sys.executable, "-m", "prowess", "lsp")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def capabilities(
    *, encodings: Sequence[str] = (), moves: bool = True, watches: bool = False
) -> types.ClientCapabilities:
    edit = types.WorkspaceEditClientCapabilities(
        document_changes=moves, resource_operations=[types.ResourceOperationKind.Rename] if moves else []
    )
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings)) if encodings else None,
        text_document=types.TextDocumentClientCapabilities(rename=types.RenameClientCapabilities(prepare_support=True)),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=edit,
            file_operations=types.FileOperationClientCapabilities(will_rename=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=watches),
        ),
    )


class Editor:
    """One client, its server process and what the server sent."""

    def __init__(self) -> None:
        self.client = LanguageClient("editor", "1")
        self.published: list[types.PublishDiagnosticsParams] = []
        self.shown: list[str] = []
        self.logged: list[str] = []
        self.registered: list[types.Registration] = []
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.encoding = "utf-16"
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._take))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(partial(self._show))
        self.client.feature(types.WINDOW_LOG_MESSAGE)(partial(self._log))
        self.client.feature(types.CLIENT_REGISTER_CAPABILITY)(partial(self._register))

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self.client._server is not None
        return self.client._server

    async def open(self, path: Path, text: str | None = None) -> list[types.Diagnostic]:
        """Open a file, with another text than that on disk if one is given; return the findings."""
        uri = path.as_uri()
        self.texts[uri] = _written(path.as_uri()) if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri=uri, language_id="markdown", version=1, text=self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return await self.findings(path)

    def type(self, path: Path, text: str) -> None:
        """Change the buffer and wait for nothing."""
        uri = path.as_uri()
        self.texts[uri] = text
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        change = types.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    async def change(self, path: Path, text: str) -> list[types.Diagnostic]:
        self.type(path, text)
        return await self.findings(path)

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=document(path)))

    async def findings(self, path: Path, after: int = 0) -> list[types.Diagnostic]:
        """Wait for the findings of the newest version of a buffer, among what came `after` so many messages."""
        uri = path.as_uri()

        async def newest() -> list[types.Diagnostic]:
            while True:
                for sent in self.published[after:][::-1]:
                    if sent.uri == uri and sent.version == self.versions[uri]:
                        return list(sent.diagnostics)
                self._news.clear()
                await self._news.wait()

        return await asyncio.wait_for(newest(), WAIT)

    async def until(self, what: Any) -> None:  # noqa: ANN401 -- any condition without arguments
        async def wait() -> None:
            while not what():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), WAIT)

    async def actions(self, path: Path, only: Sequence[str] = ()) -> list[types.CodeAction]:
        end = types.Position(line=10_000, character=0)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=document(path),
                range=types.Range(start=types.Position(line=0, character=0), end=end),
                context=types.CodeActionContext(diagnostics=[], only=list(only) or None),
            )
        )
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    async def complete(self, path: Path, line: int, character: int) -> list[types.CompletionItem]:
        found = await self.client.text_document_completion_async(
            types.CompletionParams(
                text_document=document(path), position=types.Position(line=line, character=character)
            )
        )
        assert isinstance(found, list | tuple)
        return list(found)

    async def hover(self, path: Path, line: int, character: int) -> str:
        found = await self.client.text_document_hover_async(
            types.HoverParams(text_document=document(path), position=types.Position(line=line, character=character))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Do what an editor does: edits into buffers, written to disk, and files moved."""
        assert edit is not None
        for uri, edits in (edit.changes or {}).items():
            self._edit(uri, edits)
        for change in edit.document_changes or ():
            if isinstance(change, types.TextDocumentEdit):
                uri = change.text_document.uri
                assert change.text_document.version == self.versions.get(uri)
                self._edit(uri, [one for one in change.edits if isinstance(one, types.TextEdit)])
            else:
                assert isinstance(change, types.RenameFile)
                _path(change.old_uri).rename(_path(change.new_uri))

    def _edit(self, uri: str, edits: Sequence[types.TextEdit]) -> None:
        text = self.texts.get(uri) or _written(uri)
        spans = sorted((self._offset(text, one.range.start), self._offset(text, one.range.end), one) for one in edits)
        for start, end, one in reversed(spans):
            text = text[:start] + one.new_text + text[end:]
        self.texts[uri] = text
        _path(uri).write_bytes(text.encode())

    def _offset(self, text: str, position: types.Position) -> int:
        starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
        line = text[starts[position.line] :]
        line = re.split(r"[\r\n]", line, maxsplit=1)[0]
        codec, width = _UNITS[self.encoding]
        units = line.encode(codec)
        assert position.character * width <= len(units), "the position lies behind the end of its line"
        return starts[position.line] + len(units[: position.character * width].decode(codec))

    def covered(self, path: Path, found: types.Diagnostic) -> str:
        """Return the text that a finding underlines."""
        text = self.texts[path.as_uri()]
        return text[self._offset(text, found.range.start) : self._offset(text, found.range.end)]

    def _take(self, params: types.PublishDiagnosticsParams) -> None:
        self.published.append(params)
        self._news.set()

    def _show(self, params: types.ShowMessageParams) -> None:
        self.shown.append(params.message)
        self._news.set()

    def _log(self, params: types.LogMessageParams) -> None:
        self.logged.append(params.message)
        self._news.set()

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered += params.registrations
        self._news.set()


@asynccontextmanager
async def editing(
    *folders: Path,
    command: Sequence[str] = (),
    options: Sequence[str] = (),
    client: types.ClientCapabilities | None = None,
    quiet: bool = True,
) -> AsyncIterator[Editor]:
    """Start a server for these folders; at the end shut it down, and see that it ended with 0 and said nothing else."""
    editor = Editor()
    await editor.client.start_io(*(command or (prowess(), "lsp")), *options, env=dict(os.environ), limit=2**26)
    answer = await asyncio.wait_for(
        editor.client.initialize_async(
            types.InitializeParams(
                capabilities=client or capabilities(),
                workspace_folders=[types.WorkspaceFolder(uri=one.as_uri(), name=one.name) for one in folders],
            )
        ),
        WAIT,
    )
    editor.encoding = str(
        getattr(answer.capabilities.position_encoding, "value", answer.capabilities.position_encoding)
    )
    editor.client.initialized(types.InitializedParams())
    try:
        yield editor
        await asyncio.wait_for(editor.client.shutdown_async(None), WAIT)
        editor.client.exit(None)
        assert await asyncio.wait_for(editor.process.wait(), WAIT) == 0
        assert editor.process.stderr is not None
        told = await asyncio.wait_for(editor.process.stderr.read(), WAIT)
        assert told == b"" or not quiet
    finally:
        if editor.process.returncode is None:
            editor.process.kill()
        await asyncio.wait_for(editor.client.stop(), WAIT)  # type: ignore[no-untyped-call]  # pygls leaves it untyped


def document(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri=path.as_uri())


def _path(uri: str) -> Path:

    return Path(unquote(urlparse(uri).path))


def _written(uri: str) -> str:
    return _path(uri).read_bytes().decode()
