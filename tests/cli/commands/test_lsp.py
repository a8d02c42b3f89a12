from __future__ import annotations

import subprocess
import sys


def run(*arguments: str, before: str = "pass") -> subprocess.CompletedProcess[str]:
    program = f"import sys; {before}; sys.argv[1:] = {list(arguments)!r}; from prowess.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_wrong_options_are_refused_before_an_editor_is_spoken_to() -> None:
    ran = run("lsp", "--profile", "nobody")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--profile" in ran.stderr


def test_without_pygls_the_command_says_what_to_install() -> None:
    ran = run("lsp", before="sys.modules['pygls'] = None")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "pip install 'prowess[lsp]'" in ran.stderr
    assert "Example: prowess lsp" in run("lsp", "--help", before="sys.modules['pygls'] = None").stdout
