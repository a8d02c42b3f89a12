"""What a policy decided beside what the tool then did: 10 000 drawn pairs of a rule and a spelling of a call.

Each rule denies something. Each call is drawn from many spellings of what is denied and of its neighbours, and runs
through the executor with the policy's gate. If it succeeds, nothing that is denied may be in its result or in the
workspace.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from prowess.policy import Policy
from prowess.policy.policy_file import read_policy_file
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.builtin import builtin_tools
from prowess.tools.gates import PolicyGate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.unmeasured]

_PAIRS = int(os.environ.get("PROWESS_SPELLINGS", "10000"))
_SECRET = "the-secret-text"
_RULES = (
    "secrets/**",
    "/secrets/**",
    "secrets/*",
    "*.pem",
    "**/key.pem",
    "secrets/",
    "./secrets/**",
    "//{root}/secrets/**",
)


def _rule(tool: str, pattern: str) -> str:
    argument = "path" if tool in {"Glob", "Grep"} else "file_path"
    return f'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "{tool}"\nmatch = {{ {argument} = "{pattern}" }}\n'


def _spelled(draw: random.Random, parts: list[str], root: str) -> str:
    """Return one of the many ways to write a path below the workspace."""
    spelled: list[str] = []
    for part in parts:
        spelled += [*draw.choice(([], [], ["."], [""], ["docs", ".."], ["missing", ".."])), part]
    path = "/".join(spelled).lstrip("/") or "."
    start = draw.choice(
        (
            "",
            "",
            "./",
            ".//",
            "/workspace/",
            "/workspace//",
            "/workspace/./",
            f"{root}/",
            f"{root}//",
            "//workspace/",
            "~/",
        )
    )
    path = start + path
    return draw.choice(
        (path, path, path, path + "/", path.upper(), path.replace("secrets", "link"), path.replace("e", "%65"))
    )


def _arguments(draw: random.Random, tool: str, root: str) -> dict[str, object]:
    parts = draw.choice((["secrets", "key.pem"], ["secrets", "key.pem"], ["secrets"], ["docs", "a.md"], []))
    path = _spelled(draw, parts, root)
    match tool:
        case "Read":
            return {"file_path": path}
        case "Write":
            return {"file_path": path, "content": "overwritten", **draw.choice(({}, {"overwrite": True}))}
        case "Edit":
            return {"file_path": path, "old_string": draw.choice((_SECRET, "public")), "new_string": "known"}
        case "Glob":
            pattern = draw.choice(
                (
                    "**",
                    "*",
                    "*.pem",
                    "secrets/*",
                    "s*/k*",
                    "{secrets,docs}/*",
                    "docs/*",
                    "/workspace/docs/*",
                    "docs/**",
                    "**/*.pem",
                    f"{path}/*",
                )
            )
            return {"pattern": pattern, **draw.choice(({}, {}, {"path": path}))}
        case _:
            return {"pattern": "secret", **draw.choice(({}, {"path": path})), **draw.choice(({}, {"glob": "*.pem"}))}


@pytest.mark.proves("governance.policy.one-path")
@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep"])
async def test_no_spelling_of_a_call_passes_a_denial(tool: str, tmp_path: Path) -> None:
    draw = random.Random(f"{tool} 1")
    root = tmp_path / "work"
    for folder in ("secrets", "docs"):
        (root / folder).mkdir(parents=True)
    public, key = root / "docs" / "a.md", root / "secrets" / "key.pem"
    (root / "link").symlink_to("secrets")
    key.write_text(_SECRET, encoding="utf-8")
    tools = builtin_tools([tool], workspace=root, write=True)
    outcomes = {"refused": 0, "done": 0}
    for pattern in _RULES:
        file = tmp_path / "policy.toml"
        file.write_text(_rule(tool, pattern.format(root=str(root).lstrip("/"))), encoding="utf-8")
        gate = PolicyGate(Policy(files=(read_policy_file(str(file)),)), workspace=str(root))
        executor = ToolExecutor(tools, gates=(gate,))
        for number in range(_PAIRS // 5 // len(_RULES)):
            arguments = _arguments(draw, tool, str(root))
            public.write_text("a public text\n", encoding="utf-8")
            result = await executor.call(ToolCall(id=str(number), name=tool, arguments=arguments))
            outcomes["done" if result.success else "refused"] += 1
            assert key.read_text(encoding="utf-8") == _SECRET, (pattern, arguments)
            secret = "key.pem" if tool == "Glob" else _SECRET
            assert not result.success or secret not in str(result.result), (pattern, arguments)
    assert min(outcomes.values()) > 20, outcomes
