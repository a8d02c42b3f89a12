"""What is captured: for each host, what its model does, and the verdict that follows from that.

The verdict stands here, beside the script that the model gets. It is not taken from the judge that is tested with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from tools.hosts.calls import (
    HOSTS,
    SKILLS,
    SUBTASK,
    agent_call,
    list_call,
    read_call,
    search_call,
    shell_call,
    skill_call,
)
from tools.hosts.scripted_provider import Part
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERY = "Get the rows of report.pdf into a spreadsheet"
SKILL = "pdf-tables"
_HELD = Turn(text="One moment.", hold=60.0)


class Case(Struct, frozen=True, kw_only=True):
    """One run of a host with a script, and the truth about `skill` in it.

    `killed` kills the host as soon as the provider holds an answer. `turns` is its limit of turns. `git` makes the
    working directory a repository with a changed skill. `plugin` gives the skill to Claude Code as a plugin.
    `form` keeps only the stream or only the session, if the other does not hold what the verdict rests on.
    """

    id: str
    host: str
    what: str
    verdict: Literal["polluted", "triggered", "not_offered", "error", "not_triggered"]
    turns: tuple[Turn, ...]
    sub_turns: tuple[Turn, ...] = ()
    query: str = QUERY
    skill: str = SKILL
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    denied: tuple[str, ...] = ()
    limit: int | None = None
    killed: bool = False
    git: bool = False
    plugin: bool = False
    skills: tuple[str, ...] = (SKILL, "release-notes")
    at_home: bool = False
    form: Literal["stream", "session"] | None = None

    @property
    def script(self) -> tuple[Part, ...]:
        """The parts of the provider's script: the sub-agent's first, because its task is recognised by its text."""
        main = Part(turns=self.turns)
        return (Part(when=SUBTASK, turns=self.sub_turns), main) if self.sub_turns else (main,)


def _does(*calls: ScriptedCall, text: str = "I look.") -> Turn:
    return Turn(text=text, calls=calls)


_END = Turn(text="The rows are in rows.csv.")


def cases() -> Iterator[Case]:
    """Yield every case, those of all hosts first."""
    for host in HOSTS:
        yield from _activating(host)
        yield from _looking(host)
        yield from _polluted(host)
        yield from _ending(host)
    yield from _of_single_hosts()


def _case(host: str, name: str, what: str, verdict: str, *turns: Turn, **further: object) -> Case:
    return Case(id=f"{host}-{name}", host=host, what=what, verdict=verdict, turns=turns, **further)  # type: ignore[arg-type]  # the fields of Case, by name


def _activating(host: str) -> Iterator[Case]:
    folder = f"{SKILLS[host]}/{SKILL}"
    yield _case(host, "skill-tool", "the model calls the skill tool", "triggered", _does(skill_call(host, SKILL)), _END)
    yield _case(
        host,
        "read-tool",
        "reads SKILL.md with the reading tool",
        "triggered",
        _does(read_call(host, f"{folder}/SKILL.md")),
        _END,
    )
    yield _case(
        host, "cat", "reads SKILL.md with cat", "triggered", _does(shell_call(host, f"cat {folder}/SKILL.md")), _END
    )
    yield _case(
        host,
        "bash-lc",
        "reads SKILL.md inside bash -lc",
        "triggered",
        _does(shell_call(host, f"bash -lc 'head -n 40 {folder}/SKILL.md'")),
        _END,
    )
    yield _case(
        host,
        "cd-first",
        "changes directory, then reads SKILL.md",
        "triggered",
        _does(shell_call(host, f"cd {folder} && cat SKILL.md")),
        _END,
    )
    yield _case(
        host,
        "script",
        "runs a script of the skill",
        "triggered",
        _does(shell_call(host, f"python3 {folder}/scripts/extract.py report.pdf")),
        _END,
    )
    yield _case(
        host,
        "later",
        "calls other tools first, then the skill",
        "triggered",
        _does(shell_call(host, "ls")),
        _does(shell_call(host, "wc -c report.pdf"), read_call(host, "notes.txt")),
        _does(skill_call(host, SKILL)),
        _END,
    )
    yield _case(
        host,
        "stays",
        "activates the skill, then does something else",
        "triggered",
        _does(skill_call(host, SKILL)),
        _does(shell_call(host, "ls")),
        _END,
    )
    yield _case(
        host,
        "sub-agent",
        "a sub-agent activates the skill",
        "triggered",
        _does(agent_call(host)),
        *([_does(shell_call(host, "sleep 6"))] if host == "codex" else []),
        _END,
        sub_turns=(_does(skill_call(host, SKILL)), *_ended_sub(host)),
        form="session" if host in {"codex", "gemini"} else None,
    )


def _ended_sub(host: str) -> tuple[Turn, ...]:
    report = ScriptedCall(name="complete_task", arguments={"result": {"response": "Read."}})
    return (_does(report),) if host == "gemini" else (Turn(text="Read."),)


def _looking(host: str) -> Iterator[Case]:
    folder = f"{SKILLS[host]}/{SKILL}"
    yield _case(host, "plain", "answers without tools", "not_triggered", _END)
    yield _case(
        host,
        "other-tools",
        "uses tools, none on the skill",
        "not_triggered",
        _does(shell_call(host, "ls")),
        _does(read_call(host, "notes.txt")),
        _END,
    )
    yield _case(
        host,
        "list",
        "lists the files of the skill",
        "not_triggered",
        _does(list_call(host, SKILLS[host])),
        _does(shell_call(host, f"ls {folder}/SKILL.md")),
        _END,
    )
    yield _case(
        host,
        "search",
        "searches the skills for a word",
        "not_triggered",
        _does(search_call(host, "spreadsheet", SKILLS[host])),
        _does(shell_call(host, f"grep -n name: {folder}/SKILL.md")),
        _END,
    )
    yield _case(
        host,
        "git-diff",
        "shows the changes of SKILL.md",
        "not_triggered",
        _does(shell_call(host, f"git diff -- {folder}/SKILL.md")),
        _END,
        git=True,
    )
    yield _case(
        host,
        "heredoc",
        "writes a here-document that mentions reading SKILL.md",
        "not_triggered",
        _does(shell_call(host, f"cat > notes.md <<'EOF'\nTo learn more run: cat {folder}/SKILL.md\nEOF")),
        _END,
    )
    yield _case(
        host,
        "quoted",
        "prints a quoted command",
        "not_triggered",
        _does(shell_call(host, f"echo 'run cat {folder}/SKILL.md first'")),
        _END,
    )
    yield _case(
        host,
        "to-file",
        "sends SKILL.md to a file",
        "not_triggered",
        _does(shell_call(host, f"cat {folder}/SKILL.md > copy.txt")),
        _END,
    )
    yield _case(
        host,
        "failed-read",
        "reads a SKILL.md that is not there",
        "not_triggered",
        _does(read_call(host, f"skills/{SKILL}/SKILL.md")),
        _END,
    )
    yield _case(
        host,
        "failed-cat",
        "cat of a SKILL.md that is not there",
        "not_triggered",
        _does(shell_call(host, f"cat skills/{SKILL}/SKILL.md")),
        _END,
    )
    yield _case(
        host, "another", "activates another skill", "not_triggered", _does(skill_call(host, "release-notes")), _END
    )
    if host != "codex":
        yield _case(
            host,
            "unknown",
            "calls a skill that the host does not know",
            "not_offered",
            _does(skill_call(host, "pdf-charts")),
            _END,
            skill="pdf-charts",
        )


def _polluted(host: str) -> Iterator[Case]:
    turns = (_does(skill_call(host, SKILL)), _END)
    sign = {"claude": "@", "codex": "$", "gemini": "/", "copilot": "@"}[host]
    yield _case(
        host,
        "named-sign",
        "the query names the skill by a sign",
        "polluted",
        *turns,
        query=f"Use {sign}{SKILL} on report.pdf",
    )
    yield _case(
        host,
        "named-plain",
        "the query has the skill's hyphenated name",
        "polluted",
        *turns,
        query=f"Do it with pdf-tables: {QUERY}",
    )
    yield _case(
        host,
        "named-word",
        "the query says 'invoices skill'",
        "polluted",
        _does(skill_call(host, "invoices")),
        _END,
        skill="invoices",
        skills=("invoices", "release-notes"),
        query="With the invoices skill, sum up bills.txt",
    )
    yield _case(
        host,
        "common-word",
        "the query has the skill's name as a common word",
        "triggered",
        _does(skill_call(host, "invoices")),
        _END,
        skill="invoices",
        skills=("invoices", "release-notes"),
        query="Sum up the invoices in bills.txt",
    )


def _ending(host: str) -> Iterator[Case]:
    yield _case(host, "provider-error", "the provider refuses the first request", "error", Turn(status=400))
    yield _case(
        host,
        "late-error",
        "the provider refuses after the skill was activated",
        "triggered",
        _does(skill_call(host, SKILL)),
        Turn(status=400),
    )
    yield _case(
        host, "killed", "killed before the model chose", "error", _does(shell_call(host, "ls")), _HELD, killed=True
    )
    yield _case(
        host,
        "killed-after",
        "killed after the skill was activated",
        "triggered",
        _does(skill_call(host, SKILL)),
        _HELD,
        killed=True,
    )
    if host in {"claude", "gemini"}:
        tools = tuple(_does(shell_call(host, f"ls -{letter}")) for letter in "aARpF")
        yield _case(
            host,
            "turn-limit",
            "a limit of turns ends the run",
            "not_triggered",
            *tools,
            limit=2,
            form="stream" if host == "gemini" else None,
        )
        yield _case(
            host,
            "turn-limit-after",
            "a limit of turns ends the run after the skill was activated",
            "triggered",
            _does(skill_call(host, SKILL)),
            *tools,
            limit=2,
        )
    if host in {"claude", "copilot"}:  # Codex has no such tool; Gemini then has none either
        yield _case(
            host,
            "refused",
            "the skill tool is refused by permission",
            "triggered",
            _does(skill_call(host, SKILL)),
            _END,
            denied=("skill",),
        )


def _of_single_hosts() -> Iterator[Case]:
    yield _case(
        "claude",
        "plugin",
        "calls the skill of a plugin by its full name",
        "triggered",
        _does(skill_call("claude", f"office:{SKILL}")),
        _END,
        plugin=True,
    )
    yield _case(
        "claude",
        "plugin-short",
        "calls the skill of a plugin by its name",
        "triggered",
        _does(skill_call("claude", SKILL)),
        _END,
        plugin=True,
    )
    yield _case(
        "claude", "command", "the user gives the skill as a command", "polluted", _END, query=f"/{SKILL} report.pdf"
    )
    yield _case(
        "claude",
        "command-word",
        "the user gives a skill with a common name as a command",
        "polluted",
        _END,
        query="/invoices bills.txt",
        skill="invoices",
        skills=("invoices",),
    )
    yield _case(
        "claude",
        "parallel",
        "calls the skill tool and a command at once",
        "triggered",
        _does(shell_call("claude", "ls"), skill_call("claude", SKILL)),
        _END,
    )
    yield _case(
        "claude",
        "home",
        "reads the skill of the user's home",
        "triggered",
        _does(shell_call("claude", f"cat ~/.claude/skills/{SKILL}/SKILL.md")),
        _END,
        at_home=True,
    )
    yield _case(
        "codex",
        "mention",
        "the user mentions the skill, and the host puts it in",
        "polluted",
        _END,
        query=f"${SKILL} report.pdf",
    )
    yield _case(
        "codex",
        "home",
        "reads the skill of the user's home",
        "triggered",
        _does(shell_call("codex", f"cat ~/.agents/skills/{SKILL}/SKILL.md")),
        _END,
        at_home=True,
    )
    yield _case(
        "codex",
        "sed",
        "reads SKILL.md with sed in a pipe",
        "triggered",
        _does(shell_call("codex", f"sed -n 1,80p .agents/skills/{SKILL}/SKILL.md | head -n 40")),
        _END,
    )
    yield _case(
        "codex",
        "workdir",
        "reads SKILL.md from the skill's directory",
        "triggered",
        _does(
            ScriptedCall(
                name="exec_command", arguments={"cmd": "cat SKILL.md", "workdir": f"{{ws}}/.agents/skills/{SKILL}"}
            )
        ),
        _END,
    )
    yield _case(
        "copilot", "command", "the user gives the skill as a command", "polluted", _END, query=f"/{SKILL} report.pdf"
    )
    yield _case(
        "copilot",
        "home",
        "reads the skill of the user's home",
        "triggered",
        _does(shell_call("copilot", f"cat ~/.copilot/skills/{SKILL}/SKILL.md")),
        _END,
        at_home=True,
    )
    yield _case(
        "gemini", "cut-answer", "the provider ends the answer in the middle", "error", Turn(text="I look.", cut=True)
    )
    yield _case(
        "gemini",
        "home",
        "reads the skill of the user's home",
        "triggered",
        _does(shell_call("gemini", f"cat ~/.gemini/skills/{SKILL}/SKILL.md")),
        _END,
        at_home=True,
    )
