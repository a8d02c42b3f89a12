"""What each field of the front matter and each tool of `allowed-tools` is for, in a sentence for a hover."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Agent Skills specification, frontmatter; agent skills platform, YAML frontmatter fields.
FIELD_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "name": "What the skill is called: 1 to 64 lowercase letters, digits and single hyphens, as its directory.",
        "description": "What the skill does and when to use it, in at most 1024 characters; agents choose by it.",
        "license": "The licence, by its name or the name of a file in the skill.",
        "compatibility": "What the skill needs of its environment, in at most 500 characters.",
        "metadata": "Anything else, as keys and texts.",
        "allowed-tools": "Tools that the skill may use without asking: `Name` or `Name(pattern)`, with blanks between.",
        "model": "The model that carries out the skill; absent or `inherit`: the host's.",
        "context": "`inherit`, or `fork`: a sub-agent that sees nothing of the conversation.",
        "agent": "The type of the sub-agent, beside `context: fork`.",
        "hooks": "Scripts that run before and after: `pre`, `post`, and events such as `PreToolUse`.",
        "scope": "Where the skill is visible: `agents`, `tenants`, `environments`; all must match.",
        "execution": "Bounds and wishes: `mode`, `max-iterations`, `sandbox`, `network` and others.",
        "priority": "A whole number that orders skills which fit alike; 0 where it is absent.",
        "tags": "At most 64 short texts to filter by.",
        "arguments": "Names of the arguments that the skill takes, as a list or one text.",
        "argument-hint": "What a user is shown when they type the skill's command.",
        "paths": "Patterns of files that the skill is about.",
        "disable-model-invocation": "`true`: only a user may invoke the skill.",
        "user-invocable": "`false`: only a model may invoke the skill.",
        "when_to_use": "More on when to use the skill, after the description.",
        "disallowed-tools": "Tools that are taken away while the skill is active.",
        "effort": "How much a model thinks while it carries out the skill.",
        "shell": "The shell for commands that the body inserts.",
    }
)

# The builtin tools of `prowess.tools`, and what hosts in use call theirs.
TOOL_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "Bash": "Run commands. `Bash(git:*)` allows those that begin with `git`.",
        "Read": "Read files.",
        "Write": "Write whole files.",
        "Edit": "Change parts of files.",
        "Glob": "Find files by name.",
        "Grep": "Find text in files.",
        "WebFetch": "Read one page of the web. `WebFetch(domain:example.com)` allows one site.",
        "WebSearch": "Search the web.",
        "NotebookEdit": "Change cells of a notebook.",
        "Task": "Hand a task to a sub-agent.",
        "TodoWrite": "Keep a list of what is to be done.",
        "Skill": "Load other skills.",
    }
)
