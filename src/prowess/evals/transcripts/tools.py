"""The actions of tool calls: the tools of all hosts that use a skill, read a file or run a command, in one table.

The name of a tool is compared without case and without the prefix of an MCP server. Arguments are foreign: a value of
another type than the tool's is as if it were absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import cast

from prowess.evals.transcripts.transcript import CallAction, FileRead, ScriptRun, ShellRun, SkillUse

Arguments = Mapping[str, object]

_SKILL_KEYS = ("skill", "name", "skill_name", "skillName", "command", "names", "id")
_PATH_KEYS = (
    *("file_path", "path", "absolute_path", "filePath", "target_file", "filename", "file", "relative_workspace_path"),
    *("notebook_path", "paths", "include", "files", "uri", "absolutePath", "targetFile"),
)
_LINE_KEYS = ("command", "cmd", "script")
_TYPED_KEYS = ("chars", "input")
_KEY = re.compile(r"\{(?:enter|up|down|left|right|backspace)\}")
_DIRECTORY_KEYS = ("workdir", "working_directory", "workingDirectory", "cwd", "dir_path", "directory")


def actions_of(name: str, arguments: Arguments) -> tuple[CallAction, ...]:
    """Return the actions of a call; none for a tool that is not in the table."""
    kind = _TOOLS.get(name) or _TOOLS.get(name.rpartition("__")[2].casefold())
    return kind(arguments) if kind is not None else ()


def texts_at(arguments: Arguments, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the text, or the texts of the list, at the first of `keys` that is there."""
    for key in keys:
        if key not in arguments:
            continue
        value = arguments[key]
        if isinstance(value, str) and value:
            return (value,)
        if isinstance(value, list) and (texts := tuple(text for text in value if isinstance(text, str))):
            return texts
    return ()


def _skill(arguments: Arguments) -> tuple[CallAction, ...]:
    return tuple(
        SkillUse(skill=name) for text in texts_at(arguments, _SKILL_KEYS) if (name := text.strip().lstrip("/"))
    )


def _slash_command(arguments: Arguments) -> tuple[CallAction, ...]:
    return tuple(
        SkillUse(skill=words[0]) for use in _skill(arguments) if (words := cast("SkillUse", use).skill.split())
    )


def _read(arguments: Arguments) -> tuple[CallAction, ...]:
    paths = texts_at(arguments, _PATH_KEYS)
    return (FileRead(paths=tuple(path.removeprefix("file://") for path in paths)),) if paths else ()


def _edit_or_view(arguments: Arguments) -> tuple[CallAction, ...]:
    return _read(arguments) if arguments.get("command") == "view" else ()


def _shell(arguments: Arguments) -> tuple[CallAction, ...]:
    directory = next(iter(texts_at(arguments, _DIRECTORY_KEYS)), None)
    for key in _LINE_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (ShellRun(line=value, directory=directory),)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return (ShellRun(words=tuple(value), directory=directory),)
    return ()


def _typed(arguments: Arguments) -> tuple[CallAction, ...]:
    """Return the text that is typed into a shell that runs already. Copilot CLI writes keys as `{enter}`."""
    return tuple(ShellRun(line=_KEY.sub("\n", text)) for text in texts_at(arguments, _TYPED_KEYS))


def _power_shell(arguments: Arguments) -> tuple[CallAction, ...]:
    """Return the command with slashes: a backslash is no escape in PowerShell."""
    return tuple(
        ShellRun(line=run.line.replace("\\", "/"), directory=run.directory)
        for run in _shell(arguments)
        if isinstance(run, ShellRun) and run.line is not None
    )


def _skill_file(arguments: Arguments) -> tuple[CallAction, ...]:
    skill, path = arguments.get("skill"), arguments.get("path", "SKILL.md")
    return (FileRead(paths=(f"{skill}/{path}",)),) if isinstance(skill, str) and isinstance(path, str) else ()


def _skill_script(arguments: Arguments) -> tuple[CallAction, ...]:
    skill, path = arguments.get("skill"), arguments.get("path")
    return (ScriptRun(skill=skill, path=path),) if isinstance(skill, str) and isinstance(path, str) else ()


_KINDS: dict[Callable[[Arguments], tuple[CallAction, ...]], tuple[str, ...]] = {
    _skill: (
        *("skill", "activate_skill", "use_skill", "load_skill", "invoke_skill", "run_skill", "skill_tool"),
        *("skills.load", "skills_load", "skills-load"),
    ),
    _slash_command: ("slashcommand",),
    _read: (
        *("read", "read_file", "view", "view_file", "open_file", "fs_read", "notebookread", "read_notebook"),
        *("read_many_files", "readmanyfiles", "read_text_file", "read_multiple_files", "readfile", "show_file"),
        *("get_file_contents", "read_mcp_resource", "readmcpresourcetool", "read_resource", "fetchmcpresource"),
    ),
    _edit_or_view: ("str_replace_editor", "str_replace_based_edit_tool"),
    _shell: (
        *("bash", "shell", "sh", "exec_command", "shell_command", "local_shell", "container.exec", "run_shell_command"),
        *("run_terminal_cmd", "run_in_terminal", "terminal", "execute_command", "run_command"),
        *("execute_bash", "bash_exec", "local_shell_call"),
    ),
    _typed: ("write_stdin", "write_bash", "write_powershell"),
    _power_shell: ("powershell", "pwsh", "local_powershell"),
    _skill_file: ("skills.read", "skills_read", "skills-read"),
    _skill_script: ("skills.run_script", "skills_run_script", "skills-run_script", "skills-run-script"),
}
_TOOLS = {name: kind for kind, names in _KINDS.items() for name in names}
