"""Texts for the system prompt of any agent: how to call tools, how to follow a skill, and a list of skills.

The first two texts name no model or vendor. They are built from the tools that the agent really has, so every name,
argument and result in them exists. Put them before the skills: they change only with the tools, so a prompt cache can
keep them. Platform requirements 003, tool calling instructions and navigation within skills.

The list of skills has five forms with the same data, each with an optional budget (`skill_list`). If the names alone
exceed the budget, the first skills are listed, and the text has the number of skills left out. Texts of skills are
data: no name, description or location can end its element, item or line, and characters that XML does not allow become
U+FFFD. The form `attributes` is that of formal specification 000, part 4; `tool` is the description of the single tool
of platform requirements 003. The form of the reference tool, byte for byte, is in `prowess.compat.skills_ref`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import counted
from prowess.format.role import role_of
from prowess.runtime.disclosure import model_texts, skill_tool
from prowess.runtime.disclosure.skill_list import Candidates, SkillList, cut, fit, text_of
from prowess.tools.prompt_escaping import escaped, json_for_model, neutral, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.runtime.disclosure.skill_list import ListedSkill
    from prowess.tools import ToolSpec

NAVIGATION_TOKENS = 600
TOOL_SYSTEM_TOKENS = 1000
BASE_TOKENS = 1800  # the first two texts together, with a role


class Example(Struct, frozen=True, kw_only=True):
    """An example call in the tool-system text: a part of its `result`, or its `error`. `then` states how to go on."""

    title: str
    tool: str
    arguments: Mapping[str, object]
    result: Mapping[str, object] | None = None
    error: str | None = None
    then: str


# Examples for three situations. The text shows the first one whose tool the agent has. Tests execute them all.
READING = (
    Example(
        title="Reading a file",
        tool="Read",
        arguments={"file_path": "notes.txt"},
        result={"content": "Buy milk\n"},
        then="Use result.content for the task.",
    ),
    Example(
        title="Reading a file",
        tool="skills.read",
        arguments={"path": "references/notes.md"},
        result={"text": "Buy milk\n", "truncated": False},
        then="Use result.text for the task; if truncated is true, continue at next_offset.",
    ),
)
RUNNING = (
    Example(
        title="Running a command",
        tool="Bash",
        arguments={"command": "python3 check.py input.txt"},
        result={"stdout": "ok\n", "stderr": "", "exit_code": 0},
        then="exit_code 0 means success: use stdout. Any other code means failure: read stderr.",
    ),
    Example(
        title="Running a command",
        tool="skills.run_script",
        arguments={"path": "scripts/check.py", "args": ["input.txt"]},
        result={"exit_code": 0, "stdout": "ok\n", "stderr": ""},
        then="exit_code 0 means success: use stdout. Any other code means failure: read stderr.",
    ),
)
FAILING = (
    Example(
        title="A call that fails",
        tool="Read",
        arguments={"file_path": "missing.txt"},
        error="File not found: missing.txt",
        then="success is false: there is no result. Correct the path, try another way, or tell the user.",
    ),
    Example(
        title="A call that fails",
        tool="skills.read",
        arguments={"path": "references/missing.md"},
        error="skill 'notes' has no file 'references/missing.md'",
        then="success is false: there is no result. Correct the path, try another way, or tell the user.",
    ),
)

_TOOL_SYSTEM = """\
# Tools

You act through tools: functions that read, run, search, or start skills.

A tool has a name, a description (what it does and when to use it) and parameters. A parameter has a name, a type and \
a description. It is required or optional. If you leave out an optional one, its default is used.
Types: string "hello" · integer 42 · float (number) 3.14 · boolean true · array ["a", "b"] · object {{"key": "value"}}

To call one:
1. Choose: match the task to the descriptions.
2. Prepare the arguments: one JSON object, for example {{"name": "value", "count": 3}}.
3. Call it. Before it runs, the system checks that required parameters are given, that no parameter is unknown, that \
types are right, and that the call is permitted.

Every call returns:
- success: whether it worked. Check it first.
- result: an object with the outcome; only if success is true.
- error: a sentence that names the fault; only if success is false.
- duration_ms: how long it took. tokens_used, cost_usd: cost of models that the tool used. cached: whether an earlier \
result was returned. retry_count: number of retries.
On success, use result. On failure, read error, then correct the call, try another way, or tell the user.

{examples}Common errors:
- "Missing required parameter: X": add it.
- "Invalid parameter type: expected string, got integer": correct the type.
- "Unknown parameter: X": leave it out, or spell it as listed.
- Not found: the path or name is wrong; find the right one.
- Permission denied, not allowed, approval required: do not try to get around it; tell the user.
- Timeout exceeded: do less at once, or allow more time.

Practice: read descriptions before the first call. Give all required parameters. Check success before you use a \
result; never assume it. For commands, check the exit code too. Do not repeat a failed call unchanged.
"""

_NAVIGATION = """\
# Following a skill

A loaded skill has a name (skill_name), a directory (base_path), and instructions in Markdown (content).

- A link such as [forms](references/forms.md) names a file of the skill. Read it with {read} when you need its \
contents, not before: {read_example}.
- If a command block names a script, such as `python scripts/check.py input.txt`, execute it, with the path relative \
to base_path: {run_example}.
- Scripts are executed, never read. Only their output belongs in the conversation, not their text.
- "Read forms.md and follow it" means: read that file, follow it, then continue with the next step of the skill.

Paths:
- Join a relative path (references/a.md, scripts/b.py) to base_path: base_path/references/a.md.
- Use an absolute path (/etc/config) or a URL (https://example.org) unchanged.
- Write forward slashes on every platform.

A skill costs tokens in stages: its description always, its instructions when it is loaded, its files when you read \
them. Load only the skills that the task needs.
"""


def tool_system(specs: Sequence[ToolSpec]) -> str:
    """Return the text about calling tools, with examples for tools in `specs`."""
    names = {spec.name for spec in specs}
    chosen = [
        example
        for situation in (READING, RUNNING, FAILING)
        if (example := next((one for one in situation if one.tool in names), None)) is not None
    ]
    return _TOOL_SYSTEM.format(examples="".join(_shown(example) for example in chosen))


def navigation(specs: Sequence[ToolSpec]) -> str:
    """Return the text about following a skill. It names the tools for skills only if they are in `specs`."""
    names = {spec.name for spec in specs}
    if "skills.read" in names:
        read, example = (
            "skills.read",
            '{"skill": "pdf", "path": "references/forms.md"} reads base_path/references/forms.md',
        )
    else:
        read, example = (
            "your tool for reading files (Read)",
            "for base_path /skills/pdf it is /skills/pdf/references/forms.md",
        )
    run = (
        'skills.run_script {"skill": "pdf", "path": "scripts/check.py", "args": ["input.txt"]}'
        if "skills.run_script" in names
        else "with Bash, python /skills/pdf/scripts/check.py input.txt"
    )
    return _NAVIGATION.format(read=read, read_example=example, run_example=run)


def _shown(example: Example) -> str:
    outcome: dict[str, object] = {"success": example.error is None}
    outcome |= {"error": example.error} if example.error is not None else {"result": example.result}
    return (
        f"{example.title}: {example.tool} {json.dumps(example.arguments)}\n"
        f"gives {json.dumps(outcome)}\n{example.then}\n\n"
    )


Form = Literal["xml", "attributes", "tool", "json", "markdown"]

# Characters that XML 1.0 does not allow, even escaped. Includes the surrogates of undecodable bytes in a path.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]!~|$])")  # characters of inline markup
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LIST = re.compile(r"<(?=\s*/?\s*skills\b)", re.IGNORECASE)  # the enclosing tag, used by the form `attributes` only


class Prompt(Struct, frozen=True, kw_only=True):
    """A list of skills as text. `shortened` names those whose descriptions were cut, `left_out` counts those not shown.

    The text is empty if the budget is too small even for that number.
    """

    text: str
    shortened: tuple[str, ...] = ()
    left_out: int = 0


def prompt(form: Form, skills: Sequence[ListedSkill], characters: int | None = None) -> Prompt:
    """Return the skills in one form, in the given order, in at most `characters` characters; empty without skills."""
    return fitted([_plain(skill) for skill in skills], FORMS[form], characters) if skills else Prompt(text="")


def fitted(skills: Sequence[ListedSkill], render: Callable[[SkillList], str], characters: int | None = None) -> Prompt:
    """Render as much of the skills as `characters` allow (`skill_list.fit`), the first ones first."""
    found = fit(Candidates.of(skills), lambda listed: len(render(listed)), characters)
    text = text_of(found, render, characters)
    return Prompt(text=text, shortened=found.shortened, left_out=found.left_out)


def active(skill: ListedSkill, body: str) -> str:
    """Return an active skill in the form `attributes`, with its body escaped so that it cannot contain our tags."""
    shown = _LIST.sub("&lt;", neutral(body)).strip("\r\n")
    return f"<skill{_attributes(_plain(skill), None)}>\n{shown}\n</skill>\n"


def _plain(skill: ListedSkill) -> ListedSkill:
    return replace(
        skill,
        name=_NOT_XML.sub("\ufffd", skill.name),
        description=_NOT_XML.sub("\ufffd", skill.description),
        location=None if skill.location is None else _NOT_XML.sub("\ufffd", skill.location),
    )


def _as_xml(listed: SkillList) -> str:
    return model_texts.available_skills(listed, _more(listed))


def _as_attributes(listed: SkillList) -> str:
    lines = "".join(f"<skill{_attributes(skill, listed.limit)} />\n" for skill in listed.shown)
    rest = f' left_out="{listed.left_out}"' if listed.left_out else ""
    return f'<skills count="{len(listed.shown)}"{rest}>\n{lines}</skills>\n'


def _attributes(skill: ListedSkill, limit: int | None) -> str:
    role = role_of(skill.name)
    found = {"name": skill.name, "description": cut(skill, limit), "location": skill.location}
    derived = {"trit": role.balanced, "role": role.title, "color": role.color}
    return "".join(f' {key}="{escaped(value)}"' for key, value in {**found, **derived}.items() if value is not None)


def _as_tool(listed: SkillList) -> str:
    others = skill_tool.UNKNOWN_OTHERS if listed.left_out else skill_tool.NO_OTHERS
    return skill_tool.description(skill_tool.items(listed) + _more(listed), others)


def _as_json(listed: SkillList) -> str:
    items: list[dict[str, object]] = [
        {"name": skill.name, "description": cut(skill, listed.limit), "location": skill.location}
        for skill in listed.shown
    ]
    if listed.left_out:
        items.append({"left_out": listed.left_out})
    return "[\n" + ",\n".join(map(json_for_model, items)) + "\n]\n"


def _as_markdown(listed: SkillList) -> str:
    lines = "".join(
        f"- **{_in_markdown(skill.name)}**: {_in_markdown(cut(skill, listed.limit))}"
        + ("\n" if skill.location is None else f" ({_in_markdown(skill.location)})\n")
        for skill in listed.shown
    )
    return lines + (f"- {_more(listed)}" if listed.left_out else "")


def _more(listed: SkillList) -> str:
    # These lists are for any agent, so the line names no tool.
    return f"and {counted(listed.left_out, 'more skill')}\n" if listed.left_out else ""


def _in_markdown(text: str) -> str:
    return neutral(_MARKDOWN.sub(r"\\\1", one_line(text).translate(_ENTITIES)))


FORMS: Mapping[Form, Callable[[SkillList], str]] = {
    "xml": _as_xml,
    "attributes": _as_attributes,
    "tool": _as_tool,
    "json": _as_json,
    "markdown": _as_markdown,
}
