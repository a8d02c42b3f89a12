"""A real Neovim without a screen, set up as docs/author/editor.md says, steered by keys, asked by its own socket."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_DOCS = Path(__file__).parents[2] / "docs" / "author" / "editor.md"
_WAIT = 20.0  # seconds; each step takes a few tenths
_OLDEST = (0, 11)


@cache
def missing() -> str | None:
    """Return why there is no Neovim to test with, None where there is one."""
    found = shutil.which("nvim")
    if found is None:
        return "no nvim is on the PATH; `tools/peers.sh neovim` brings one and runs this"
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False, timeout=20).stdout
    version = re.match(r"NVIM v(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < _OLDEST:
        return (
            f"this is {said.split(chr(10))[0]}, docs/author/editor.md asks for 0.11; `tools/peers.sh neovim` brings one"
        )
    return None


class Neovim:
    """One running editor."""

    def __init__(self, socket: str, environment: dict[str, str]) -> None:
        self._socket, self._environment = socket, environment

    def keys(self, keys: str) -> None:
        """Type; special keys are written as `<Esc>`."""
        self._remote("--remote-send", keys)

    def command(self, lua: str) -> None:
        """Run a line of Lua as a person would type it, and do not wait for what it starts."""
        self.keys(f"<Cmd>lua {lua}<CR>")

    def ask(self, lua: str) -> Any:  # noqa: ANN401 -- any JSON
        """Return the value of the body of a Lua function."""
        quoted = f"vim.json.encode(((function() {lua} end)()))".replace("'", "''")
        return json.loads(self._remote("--remote-expr", f"luaeval('{quoted}')"))

    def until(self, lua: str) -> Any:  # noqa: ANN401 -- any JSON
        """Ask until the answer is something."""
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            if (found := self.ask(lua)) not in (None, False, [], {}, ""):
                return found
            time.sleep(0.05)
        told = self.ask("return vim.fn.execute('messages')")
        raise AssertionError(f"in vain: {lua}\nmessages: {told}")

    def open(self, path: Path) -> None:
        """Open a file and wait for the server to have taken it."""
        self.keys(f"<Cmd>edit {path}<CR>")
        self.until(f"return vim.api.nvim_buf_get_name(0) == {json.dumps(str(path))}")
        self.until("return #vim.lsp.get_clients({bufnr = 0, name = 'prowess'})")

    def rules(self) -> list[str]:
        """Return the rules of the diagnostics of the buffer, once there are any."""
        asked = "local found = {} for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(found, one.code) end "
        found = self.until(f"{asked}return found")
        return [str(one) for one in found]

    def line(self, number: int) -> str:
        """Return a line of the buffer, counted from 1."""
        return str(self.ask(f"return vim.api.nvim_buf_get_lines(0, {number - 1}, {number}, false)[1]"))

    def hover(self, line: int, column: int) -> str:
        """Put the cursor there, press K, and return what the window that opens shows."""
        self.command(f"vim.api.nvim_win_set_cursor(0, {{{line}, {column}}})")
        self.keys("K")
        lines = self.until(
            "for _, window in ipairs(vim.api.nvim_list_wins()) do "
            "if vim.api.nvim_win_get_config(window).relative ~= '' then "
            "return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false) end end"
        )
        self.keys("<C-l>hl")  # moving closes it
        return "\n".join(lines)

    def _remote(self, option: str, what: str) -> str:
        command = ["nvim", "--server", self._socket, option, what]
        ran = subprocess.run(command, capture_output=True, text=True, env=self._environment, check=False, timeout=_WAIT)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout or ran.stderr  # 0.11 writes answers to standard error where there is no terminal


@contextmanager
def neovim(place: Path, folder: Path) -> Iterator[Neovim]:
    """Start Neovim in a folder, set up by the two blocks of Lua of the docs alone; see that it logs no error."""
    settings = place / "config" / "nvim"
    settings.mkdir(parents=True)
    (settings / "init.lua").write_text("\n".join(re.findall(r"```lua\n(.*?)```", _DOCS.read_text(), re.DOTALL)))
    environment = dict(os.environ) | {
        f"XDG_{name.upper()}_HOME": str(place / name) for name in ("config", "state", "data", "cache")
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["NVIM_LOG_FILE"] = str(place / "nvim.log")
    socket = place / "s"
    process = subprocess.Popen(
        ["nvim", "--headless", "--listen", str(socket)],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + _WAIT
        while not socket.exists() and time.monotonic() < end:
            time.sleep(0.02)
        editor = Neovim(str(socket), environment)
        yield editor
        editor.keys("<Cmd>qa!<CR>")
        assert process.wait(_WAIT) == 0
    finally:
        process.kill()
        process.wait()
    log = place / "state" / "nvim" / "lsp.log"
    assert "[ERROR]" not in (log.read_text() if log.exists() else "")
