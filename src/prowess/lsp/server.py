"""The language server: handlers for each request and notification, and the loop that reads messages.

Each change of a buffer sends its whole text. A handler that fails answers with an error, which is logged in the editor;
the server continues. Features that the client does not support are not offered to it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol.language_server import LanguageServerProtocol, lsp_method
from pygls.uris import from_fs_path, to_fs_path

from prowess import __version__
from prowess._internal.text.terminal_text import printable, printable_line
from prowess.format.limits import FILE_NAMES
from prowess.format.reading import locate
from prowess.lsp.actions import FIX_ALL, actions, follow, may_move, rename, renamed_range
from prowess.lsp.analysis import OpenSkills, diagnostics
from prowess.lsp.explanations import TRIGGERS, completions, hover, symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.lsp.analysis import Analysis, Load

_WATCHED = (  # Files whose change can change a finding: settings, skills, and files that skills link to.
    "**/{prowess.toml,pyproject.toml,SKILL.md,skill.md,skill.manifest.yaml}",
    "**/{references,scripts,assets}/**",
)
_LONGEST_LOG = 500
MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # thirty times the longest SKILL.md that is read
_MAX_HEADER_BYTES = 4096
_PIECE = 1024 * 1024
_LENGTH = re.compile(rb"content-length:[ \t]*([0-9]{1,15})[ \t]*\r?\n", re.IGNORECASE)


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, extended for clients that report changes of a buffer they have not opened.

    Neovim reports such changes when it moves the file of a buffer. Then it opens the buffer with its whole text.
    """

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[object]:
        """Ignore changes of a buffer that is not open."""
        if unquote(params.text_document.uri) in self.workspace.text_documents:
            yield from super().lsp_text_document__did_change(params)

    def _send_response(
        self, msg_id: str | int, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        """Send an error without `data`, in which pygls puts a traceback of this program."""
        if error is not None and error.data is not None:
            error = types.ResponseError(code=error.code, message=_sentence(error.message))
        super()._send_response(msg_id, result, error)


class SkillServer(LanguageServer):
    """The pygls server with its set of open skills. `ended` is true once the client has requested shutdown."""

    def __init__(self, load: Load) -> None:
        super().__init__(
            "prowess", __version__, protocol_cls=_Protocol, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.skills = OpenSkills(load, publish=self.publish, notice=self.notice)
        self.ended = False

    def publish(self, analysis: Analysis) -> None:
        """Send the findings for one version of a buffer."""
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=analysis.uri, version=analysis.version, diagnostics=diagnostics(analysis)
            )
        )

    def notice(self, sentence: str) -> None:
        """Show a warning to the user."""
        self.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=printable(sentence)))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log an internal error in the editor, without a traceback. `JsonRpcInvalidParams` is answered instead."""
        del source
        if not isinstance(error, JsonRpcInvalidParams):
            name = "" if isinstance(error, JsonRpcException) else f"{type(error).__name__}: "
            told = _sentence(f"{name}{error}")
            self.window_log_message(types.LogMessageParams(type=types.MessageType.Error, message=told))

    def take_folders(self) -> None:
        """Read the workspace folders and the position encoding from the client's current state."""
        self.skills.encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        uris = [folder.uri for folder in self.workspace.folders.values()]
        paths = [to_fs_path(uri) for uri in uris] or [self.workspace.root_path]
        self.skills.folders = tuple(path.rstrip(os.sep) or os.sep for path in paths if path)

    @property
    def versioned(self) -> bool:
        """Whether the client accepts `documentChanges`. Clients that can rename, create or delete files accept them."""
        edit = self._workspace_edit
        return bool(edit and (edit.document_changes or edit.resource_operations))

    @property
    def moves(self) -> bool:
        """Whether the client can move files as part of an edit."""
        edit = self._workspace_edit
        return types.ResourceOperationKind.Rename in ((edit and edit.resource_operations) or ())

    @property
    def _workspace_edit(self) -> types.WorkspaceEditClientCapabilities | None:
        workspace = self.client_capabilities.workspace
        return workspace.workspace_edit if workspace else None


def _sentence(text: str) -> str:
    return printable_line(text.strip().partition("\n")[0])[:_LONGEST_LOG]


def build_server(load: Load) -> SkillServer:
    """Return a server with all handlers registered. `load` returns the settings for a folder."""
    server = SkillServer(load)
    _register_synchronization(server)
    _register_requests(server)
    _register_renaming(server)
    return server


def _register_synchronization(server: SkillServer) -> None:
    skills = server.skills

    @server.feature(types.INITIALIZE)
    def initialize(_params: types.InitializeParams) -> None:
        server.take_folders()

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            server.client_register_capability(
                types.RegistrationParams(
                    registrations=[
                        types.Registration(
                            id="prowess-files",
                            method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                            register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
                        )
                    ]
                )
            )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        skills.open(document.uri, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        skills.change(uri, server.workspace.get_text_document(uri).source, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if skills.close(uri):
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(_params: types.DidSaveTextDocumentParams) -> None:
        skills.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        skills.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(_params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.take_folders()
        skills.check_all()

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: None) -> None:  # not async: a client may send `exit` without waiting for the answer
        server.ended = True
        skills.end()


def _register_requests(server: SkillServer) -> None:
    skills = server.skills

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def at_hover(params: types.HoverParams) -> types.Hover | None:
        analysis = await skills.analysis(params.text_document.uri)
        return None if analysis is None else hover(analysis, params.position)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        analysis = await skills.analysis(params.text_document.uri)
        if analysis is None:
            return []
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        return await skills.work(lambda: actions(analysis, params.range, only, versioned=server.versioned))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list(TRIGGERS)))
    async def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        analysis = await skills.analysis(params.text_document.uri)
        return [] if analysis is None else completions(analysis, params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        analysis = await skills.analysis(params.text_document.uri)
        return [] if analysis is None else symbols(analysis)


def _register_renaming(server: SkillServer) -> None:
    skills = server.skills

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        analysis = await skills.analysis(params.text_document.uri)
        return None if analysis is None else renamed_range(analysis, params.position)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renaming(params: types.RenameParams) -> types.WorkspaceEdit | None:
        analysis = await skills.analysis(params.text_document.uri)
        if analysis is None or renamed_range(analysis, params.position) is None:
            return None
        moves = server.moves and may_move(os.path.dirname(analysis.path), skills.folders)
        edit = rename(analysis, params.new_name, moves=moves, versioned=server.versioned)
        if not moves:
            server.notice("Only the name was changed; rename the directory too.")
        return edit

    folders = types.FileOperationFilter(
        scheme="file",
        pattern=types.FileOperationPattern(glob="**/*", matches=types.FileOperationPatternKind.Folder),
    )

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, types.FileOperationRegistrationOptions(filters=[folders]))
    async def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        changes = {}
        for file in params.files:
            analysis = await _skill_in(server, file.old_uri)
            target = to_fs_path(file.new_uri)
            edit = None if analysis is None or target is None else follow(analysis, target)
            if analysis is not None and edit is not None:
                changes[analysis.uri] = [edit]
        return types.WorkspaceEdit(changes=changes) if changes else None


async def _skill_in(server: SkillServer, uri: str) -> Analysis | None:
    """Return the analysis of the skill in a directory, from its open buffer or else from disk; None without a skill."""
    directory = to_fs_path(uri)
    if directory is None or "\0" in directory or not os.path.isabs(directory):
        return None
    for name in FILE_NAMES:
        found = await server.skills.analysis(f"{uri.rstrip('/')}/{name}")
        if found is not None:
            return found
    located = locate(directory)
    try:
        text = located.data.decode()
    except UnicodeDecodeError:
        return None
    if not text:
        return None
    path = os.path.join(directory, os.path.basename(located.path))
    return await server.skills.analysed(from_fs_path(path) or "", path, text)


def serve_stdio(load: Load) -> int:
    """Serve one client on standard input and output until it sends `exit` or closes the pipe.

    Return 0 if the client requested shutdown before that, else 1, as the protocol requires. Standard output carries
    only the protocol: the descriptor of standard output is duplicated, and descriptor 1 is redirected to standard
    error. So a stray print of a library cannot break a message.
    """
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False  # errors go to the editor's log
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # end at once: no state to save, and a thread blocks on input
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = build_server(load)
    server.protocol.set_writer(StdoutWriter(output))
    return asyncio.run(_serve(server, sys.stdin.buffer))


async def _serve(server: SkillServer, source: BinaryIO) -> int:
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="input") as reader:
        too_long = partial(loop.call_soon_threadsafe, partial(_refuse_length, server))
        while (body := await loop.run_in_executor(reader, _next_message, source, too_long)) is not None:
            try:
                message = json.loads(body, object_hook=server.protocol.structure_message)
                if not isinstance(getattr(message, "id", 0), int | str):
                    raise JsonRpcException("the id of a message is neither a number nor a string")  # noqa: TRY301 -- handled below like any other error
            except Exception as fault:  # noqa: BLE001 -- an unreadable message must not end the server
                _refuse(server, body, fault)
                continue
            try:
                server.protocol.handle_message(message)
            except SystemExit as ended:  # the client sent `exit`
                return int(bool(ended.code))
            except BrokenPipeError:
                break
            except Exception as fault:  # noqa: BLE001 -- as above
                server._report_server_error(fault, JsonRpcException)  # noqa: SLF001 -- keeps the server alive if the report fails too
    if not server.ended:
        server.skills.end()
    return 0 if server.ended else 1


def _refuse(server: SkillServer, body: bytes, fault: Exception) -> None:
    """Answer a request whose parameters cannot be read, so the client does not wait for it. Log other messages."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict) and "method" in message and isinstance(message.get("id"), int | str):
        refusal = JsonRpcInvalidParams(message=f"{type(fault).__name__}: the parameters cannot be read")
        server.protocol._send_response(message["id"], None, refusal.to_response_error())  # noqa: SLF001 -- pygls has no public method for this
    else:
        server._report_server_error(fault, JsonRpcException)  # noqa: SLF001 -- as above


def _refuse_length(server: SkillServer, length: int) -> None:
    message = f"a message of {length} bytes was dropped; the limit is {MAX_MESSAGE_BYTES} bytes"
    server._report_server_error(JsonRpcException(message), JsonRpcException)  # noqa: SLF001 -- as above


def _next_message(source: BinaryIO, too_long: Callable[[int], object]) -> bytes | None:
    """Return the body of the next message, or None at the end of input.

    A message that is too long is read and dropped: `too_long` is called with its length, and the result is `null`.
    """
    length = None
    while header := source.readline(_MAX_HEADER_BYTES):
        if found := _LENGTH.fullmatch(header):
            length = int(found[1])
        elif not header.strip() and length is not None:
            if length <= MAX_MESSAGE_BYTES:
                body = source.read(length)
                return body if len(body) == length else None
            too_long(length)
            while length > 0 and (piece := source.read(min(length, _PIECE))):
                length -= len(piece)
            return b"null"
    return None
