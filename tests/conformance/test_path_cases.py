"""Every case of path-cases.json, asked of a real `prowess session` over its standard streams."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUITE = json.loads((Path(__file__).parent / "path-cases.json").read_text(encoding="utf-8"))
_CODES = {"not_found": "resource_not_found", "not_a_file": "not_a_file", "unsafe": "unsafe_path"}
_MAX_SECONDS = 0.1
# What no answer may hold: the first is in secret.txt, the second in every file of skill-b.
_SECRETS = ("MARK-OF-SECRET-TXT", "MARK-OF-SKILL-B")


class _Host:
    """A program that talks to one session."""

    def __init__(self, place: Path) -> None:
        environment = {**os.environ, "PROWESS_HOME": str(place / "home"), "HOME": str(place)}
        self._process = subprocess.Popen(
            [prowess(), "session", "--root", str(place / "layout")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=place,
        )

    def ask(self, tool: str, **arguments: object) -> tuple[dict[str, Any], str, float]:
        """Return the answer, its text, and the seconds it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"id": 1, "tool": tool, "arguments": arguments}
        begun = time.monotonic()
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline().decode()
        return json.loads(line), line, time.monotonic() - begun

    def end(self) -> int:
        """End the input; return the exit code."""
        self._process.communicate(timeout=20)
        return self._process.returncode


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Host]:
    place = tmp_path_factory.mktemp("paths")
    _build(place / "layout")
    host = _Host(place)
    loaded, _, _ = host.ask("skills.load", names=["skill-a"])
    assert loaded["success"], loaded
    yield host
    assert host.end() == 0


def _build(root: Path) -> None:
    """Files first, then links."""
    for links in (False, True):
        for path, kind in _SUITE["layout"].items():
            if (kind.partition(":")[0] in {"link", "hardlink"}) == links:
                _make(root, path, kind)


def _make(root: Path, path: str, kind: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    match kind.partition(":"):
        case ("file", _, _):
            target.write_text(_content(path), encoding="utf-8")
        case ("fifo", _, _):
            os.mkfifo(target)
        case ("link", _, to):
            target.symlink_to(to)
        case ("hardlink", _, to):
            os.link(root / to, target)


def _content(path: str) -> str:
    mark = _SECRETS[0] if path == "secret.txt" else _SECRETS[1] if path.startswith("skill-b/") else f"text of {path}"
    if path.endswith("SKILL.md"):
        return f"---\nname: {path.split('/', maxsplit=1)[0]}\ndescription: {mark}\n---\n{mark}\n"
    return f"{mark}\n"


@pytest.mark.proves(
    "runtime.read.containment",
    "runtime.read.cross-skill",
    "runtime.read.links",
    "runtime.read.special-files",
    "runtime.read.no-decoding",
)
@pytest.mark.parametrize("case", _SUITE["cases"], ids=lambda case: ascii(case["path"]))
def test_a_path_is_read_or_refused_as_the_suite_says(host: _Host, case: dict[str, str]) -> None:
    # The quickest of three: a machine that is busy with other tests is not what is judged here.
    answers = [host.ask("skills.read", path=case["path"]) for _ in range(3)]
    answer, text, _ = answers[0]

    if case["outcome"] == "read":
        assert answer["success"], answer
        assert f"text of {case['path'].removeprefix('./')}" in answer["result"]["text"].replace("skill-a/", "")
    else:
        assert not answer["success"]
        assert answer["error_detail"]["code"] == _CODES[case["outcome"]]
        assert answer["error"]
    assert not any(secret in text for secret in _SECRETS)
    assert min(seconds for _, _, seconds in answers) <= _MAX_SECONDS


def test_a_missing_file_comes_with_suggestions(host: _Host) -> None:
    answer, _, _ = host.ask("skills.read", path="reference/guide.md")

    assert answer["error_detail"]["suggestions"] == ["references/guide.md"]
