from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.runtime import Session
from prowess.runtime.disclosure import prompts
from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.tools import ToolCall, ToolExecutor, ToolSpec
from prowess.tools.builtin import builtin_tools
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.tools import ToolResult

pytestmark = pytest.mark.anyio


def _specs(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name=name, description="", input_schema={"type": "object"}) for name in names]


SESSION = _specs("skills.load", "skills.unload", "skills.read", "skills.run_script")
BUILT_IN = _specs("Read", "Bash", "skill")
EVERY = [SESSION, BUILT_IN, SESSION + BUILT_IN, []]


@pytest.mark.proves("runtime.nav.size", "runtime.toolprompt.size", "runtime.sysprompt.total")
@pytest.mark.parametrize("specs", EVERY)
def test_both_texts_stay_within_their_bounds_whatever_tools_there_are(specs: list[ToolSpec]) -> None:
    navigation, tool_system = prompts.navigation(specs), prompts.tool_system(specs)
    assert estimate_tokens(navigation) <= prompts.NAVIGATION_TOKENS == 600
    assert estimate_tokens(tool_system) <= prompts.TOOL_SYSTEM_TOKENS == 1000
    role = 200  # the most that a role may cost
    assert role + estimate_tokens(navigation + tool_system) <= prompts.BASE_TOKENS == 1800


@pytest.mark.proves(
    "runtime.nav.fields", "runtime.nav.never-load-scripts", "runtime.nav.explicit", "runtime.nav.paths.slashes"
)
def test_navigation_explains_the_fields_and_how_a_skill_is_followed() -> None:
    text = prompts.navigation(SESSION)
    for field in (
        "a name (skill_name)",
        "a directory (base_path)",
        "instructions in Markdown (content)",
    ):
        assert field in text
    assert "Scripts are executed, never read." in text
    assert "Only their output belongs in the conversation" in text
    assert "read that file, follow it, then continue with the next step" in text
    assert "forward slashes on every platform" in text


@pytest.mark.proves(
    "runtime.nav.links-read", "runtime.nav.blocks-execute", "runtime.nav.paths.relative", "runtime.nav.paths.as-is"
)
def test_navigation_names_the_tools_that_are_there() -> None:
    own, theirs = prompts.navigation(SESSION), prompts.navigation(BUILT_IN)
    assert '{"skill": "pdf", "path": "references/forms.md"} reads base_path/references/forms.md' in own
    assert 'skills.run_script {"skill": "pdf", "path": "scripts/check.py"' in own
    assert "for base_path /skills/pdf it is /skills/pdf/references/forms.md" in theirs
    assert "with Bash, python /skills/pdf/scripts/check.py input.txt" in theirs
    assert "skills." not in theirs
    readers = prompts.navigation(_specs("skills.load", "skills.unload", "skills.read"))
    assert "with Bash, python /skills/pdf/scripts/check.py input.txt" in readers
    assert "skills.run_script" not in readers
    assert "skills.run_script" in prompts.navigation(_specs("skills.run_script"))
    for text in (own, theirs):
        assert "when you need its contents, not before" in text
        assert "Join a relative path" in text
        assert "absolute path (/etc/config) or a URL (https://example.org) unchanged" in text


@pytest.mark.proves("runtime.nav.neutral")
@pytest.mark.parametrize("specs", EVERY)
def test_no_text_names_a_model_or_a_vendor(specs: list[ToolSpec]) -> None:
    named = re.compile(r"claude|gpt|gemini|anthropic|openai|google|mistral|llama", re.IGNORECASE)
    assert named.search(prompts.navigation(specs) + prompts.tool_system(specs)) is None


@pytest.mark.proves("runtime.nav.in-system-prompt")
def test_the_texts_stand_first_in_the_instructions_and_not_in_a_tool(catalog: Catalog) -> None:
    session = Session(catalog)
    disclosed = session.disclose(navigation=True, tool_system=True)
    assert list(disclosed.tokens) == ["tool_system", "navigation", "base", "available", "active", "total"]
    text = disclosed.text
    assert text.index("# Tools") < text.index("# Following a skill") < text.index("# Skills\n")
    assert disclosed.tokens["tool_system"] + disclosed.tokens["navigation"] + disclosed.tokens["base"] <= 1800
    assert "# Following a skill" not in session.instructions()
    assert "Following a skill" not in json.dumps(session.tools("mcp", exposure="skill"))
    assert Session(catalog, exposure="skill").instructions(navigation=True).startswith("# Following a skill")


@pytest.mark.proves("runtime.toolprompt.structure", "runtime.toolprompt.types", "runtime.toolprompt.calling")
def test_the_tool_system_explains_tools_parameters_types_and_calls() -> None:
    text = prompts.tool_system(SESSION)
    assert "A tool has a name, a description" in text
    assert "A parameter has a name, a type and a description. It is required or optional." in text
    for shown in (
        'string "hello"',
        "integer 42",
        "float (number) 3.14",
        "boolean true",
        'array ["a", "b"]',
        'object {"key": "value"}',
    ):
        assert shown in text
    assert "1. Choose" in text
    assert "2. Prepare the arguments: one JSON object" in text
    assert "required parameters are given" in text


@pytest.mark.proves("runtime.toolprompt.results", "runtime.toolprompt.errors", "runtime.toolprompt.practices")
def test_the_tool_system_explains_results_errors_and_practice(catalog: Catalog) -> None:
    text = prompts.tool_system(SESSION)
    for key in ("success", "result", "error", "duration_ms", "tokens_used", "cost_usd", "cached", "retry_count"):
        assert key in text
    assert "On failure, read error, then correct the call, try another way, or tell the user." in text
    for known in ("Missing required parameter: X", "Invalid parameter type: expected string, got integer"):
        assert known in text
    for known in ("Not found", "Permission denied", "Timeout exceeded"):
        assert known in text
    assert "read descriptions before the first call. Give all required parameters. Check success before you use" in text
    assert "check the exit code" in text


def _agrees(example: prompts.Example, done: ToolResult) -> None:
    """The example is what the call really gives: the same error, or these parts of the result."""
    if example.error is not None:
        assert done.error is not None
        assert done.error.startswith(example.error), done.error
        return
    assert done.success, done.error
    assert example.result is not None
    assert {key: (done.result or {})[key] for key in example.result} == dict(example.result)


def _examples(*tools: str) -> list[prompts.Example]:
    return [one for one in (*prompts.READING, *prompts.RUNNING, *prompts.FAILING) if one.tool in tools]


@pytest.mark.proves("runtime.toolprompt.examples", "runtime.toolprompt.examples-true")
@pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
async def test_the_examples_are_what_the_tools_of_a_session_do(tmp_path: Path) -> None:
    files = {"references/notes.md": "Buy milk\n", "scripts/check.py": "print('ok')\n"}
    write_skill(tmp_path / "skills", "notes", files=files)
    session = Session(Catalog(tmp_path / "skills"))
    await session.load(["notes"])
    examples = _examples("skills.read", "skills.run_script")
    assert len(examples) == 3
    for example in examples:
        _agrees(example, await session.call(example.tool, example.arguments))
        assert f"{example.tool} {json.dumps(example.arguments)}" in prompts.tool_system(session.tools())


@pytest.mark.proves("runtime.toolprompt.examples", "runtime.toolprompt.examples-true")
@pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
async def test_the_examples_are_what_the_built_in_tools_do(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk\n")
    (tmp_path / "check.py").write_text("print('ok')\n")
    tools = builtin_tools(["Read", "Bash"], workspace=tmp_path)
    executor = ToolExecutor(tools)
    examples = _examples("Read", "Bash")
    assert len(examples) == 3
    for example in examples:
        _agrees(example, await executor.call(ToolCall(id="1", name=example.tool, arguments=example.arguments)))
        assert f"{example.tool} {json.dumps(example.arguments)}" in prompts.tool_system([tool.spec for tool in tools])
