"""How the model of each host spells what a case wants: its skill tool, reading a file, a shell command, a sub-agent.

`{ws}` in an argument is the working directory of the run.
"""

from __future__ import annotations

from tools.hosts.wire_forms import ScriptedCall

SKILLS = {
    "claude": ".claude/skills",
    "codex": ".agents/skills",
    "gemini": ".agents/skills",
    "copilot": ".github/skills",
}
HOSTS = tuple(SKILLS)
SUBTASK = "SUBTASK: read what the files of this project hold, and report back."


def skill_call(host: str, name: str) -> ScriptedCall:
    """Call the skill tool; Codex has none and reads the file."""
    match host:
        case "claude":
            return ScriptedCall(name="Skill", arguments={"skill": name})
        case "gemini":
            return ScriptedCall(name="activate_skill", arguments={"name": name})
        case "copilot":
            return ScriptedCall(name="skill", arguments={"skill": name})
        case _:
            return shell_call(host, f"cat {SKILLS[host]}/{name}/SKILL.md")


def read_call(host: str, path: str) -> ScriptedCall:
    """Read a file of the working directory with the reading tool; Codex has none and uses `sed`."""
    match host:
        case "claude":
            return ScriptedCall(name="Read", arguments={"file_path": f"{{ws}}/{path}"})
        case "gemini":
            return ScriptedCall(name="read_file", arguments={"file_path": path})
        case "copilot":
            return ScriptedCall(name="view", arguments={"path": f"{{ws}}/{path}"})
        case _:
            return shell_call(host, f"sed -n '1,200p' {path}")


def shell_call(host: str, line: str) -> ScriptedCall:
    """Run a command line."""
    match host:
        case "claude":
            return ScriptedCall(name="Bash", arguments={"command": line, "description": "Run a command"})
        case "gemini":
            return ScriptedCall(name="run_shell_command", arguments={"command": line, "description": "Run a command"})
        case "copilot":
            return ScriptedCall(name="bash", arguments={"command": line, "description": "Run a command"})
        case _:
            return ScriptedCall(name="exec_command", arguments={"cmd": line})


def search_call(host: str, text: str, path: str) -> ScriptedCall:
    """Search files; Codex has no tool for it and uses `grep`."""
    match host:
        case "claude":
            arguments = {"pattern": text, "path": f"{{ws}}/{path}", "output_mode": "content"}
            return ScriptedCall(name="Grep", arguments=arguments)
        case "gemini":
            return ScriptedCall(name="grep_search", arguments={"pattern": text, "dir_path": path})
        case "copilot":
            arguments = {"pattern": text, "paths": f"{{ws}}/{path}", "output_mode": "content"}
            return ScriptedCall(name="grep", arguments=arguments)
        case _:
            return shell_call(host, f"grep -rn {text} {path}")


def list_call(host: str, path: str) -> ScriptedCall:
    """List files."""
    match host:
        case "claude":
            return ScriptedCall(name="Glob", arguments={"pattern": f"{path}/**/*.md"})
        case "gemini":
            return ScriptedCall(name="list_directory", arguments={"dir_path": path})
        case "copilot":
            return ScriptedCall(name="glob", arguments={"pattern": f"{path}/**/*.md"})
        case _:
            return shell_call(host, f"ls -R {path}")


def agent_call(host: str) -> ScriptedCall:
    """Start a sub-agent with the task `SUBTASK`."""
    match host:
        case "claude":
            arguments = {"description": "Look at files", "prompt": SUBTASK, "subagent_type": "general-purpose"}
            return ScriptedCall(name="Agent", arguments={**arguments, "run_in_background": False})
        case "gemini":
            return ScriptedCall(name="invoke_agent", arguments={"agent_name": "generalist", "prompt": SUBTASK})
        case "copilot":
            arguments = {"description": "Look at files", "prompt": SUBTASK, "agent_type": "general-purpose"}
            return ScriptedCall(name="task", arguments={**arguments, "name": "look", "mode": "sync"})
        case _:
            return ScriptedCall(name="spawn_agent", namespace="multi_agent_v1", arguments={"message": SUBTASK})
