"""The rule `scripts.prompt`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import in_long_text

_PROMPTS = {
    "python": (
        "input(",
        "getpass(",
        "getpass.getpass(",
        "click.prompt(",
        "click.confirm(",
        "inquirer.",
        "questionary.",
    ),
    "shell": ("read -p", "read -rp", "read -r -p", "read -s", "select "),
    "javascript": (".question(", "inquirer.", "prompts(", "enquirer"),
}
_ATTENDED = (
    *("isatty", "[ -t 0 ]", "[[ -t 0 ]]", "isTTY", "NONINTERACTIVE", "on-interactive", "--interactive"),
    *("--yes", "--no-input", "--force", '"-y"', "'-y'", "-y)", "-y|"),
)


class ScriptsPrompt(LintRule):
    """A script that waits for somebody to type.

    What it does:
        Looks in the scripts for calls that read from a terminal: `input()`, `getpass`, `read -p`, readline prompts.
        A script that asks only where a terminal is attached or `--interactive` is given, that has a flag to say yes, or
        that is a template draws nothing.

    Why it matters:
        No terminal is attached where an agent runs a script: it hangs until its time is up.

    Example:
        `name = input("Which file? ")`

    Instead:
        Take it as an argument, and say in `--help` what is expected.
    """

    meta = RuleMeta(
        id="scripts.prompt",
        order=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Scripts do not ask questions.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that asks, at its first question."""
        for script in subject.files.scripts:
            for mark in _PROMPTS[script.language]:
                at = script.code.find(mark)
                if at < 0:
                    continue
                if ".template." in script.path or any(word in script.text for word in _ATTENDED):
                    break
                if (mark[0] == "." or not _is_word_before(script.code, at)) and not in_long_text(script, at):
                    message = (
                        f"{script.path} asks with {mark.strip()}; take it as an argument, nobody is there to answer"
                    )
                    yield self.meta.found(message, subject.file_place(script.path, at, script.text))
                    break


def _is_word_before(code: str, at: int) -> bool:
    """Whether the mark is the end of a longer name, a method, or in a string or a comment."""
    before = code[max(at - 1, 0) : at]
    line = code[code.rfind("\n", 0, at) + 1 : at]
    in_text = line.count('"') % 2 == 1 or line.count("'") % 2 == 1 or "#" in line or "def " in line
    return (
        before.isalnum() or before in {"_", "."} or in_text or (line.strip() != "" and code.startswith("select ", at))
    )
