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
    """A script that waits for input from a person.

    What it does:
        Looks in the scripts for calls that read from a terminal: `input()`, `getpass`, `read -p`, readline prompts.
        Scripts that ask only if a terminal is attached or `--interactive` is given, scripts with a flag such as
        `--yes`, and templates are ignored.

    Why it matters:
        An agent runs scripts without a terminal: the script hangs until its timeout.

    Example:
        `name = input("Which file? ")`

    Instead:
        Take the value as an argument, and describe it in `--help`.
    """

    meta = RuleMeta(
        id="scripts.prompt",
        order=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Scripts do not ask questions.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that asks for input, at its first question."""
        for script in subject.files.scripts:
            for mark in _PROMPTS[script.language]:
                at = script.code.find(mark)
                if at < 0:
                    continue
                if ".template." in script.path or any(word in script.text for word in _ATTENDED):
                    break
                if (mark[0] == "." or not _is_word_before(script.code, at)) and not in_long_text(script, at):
                    message = (
                        f"{script.path} asks with {mark.strip()}, and an agent cannot answer; "
                        "take the value as an argument"
                    )
                    yield self.meta.found(message, subject.file_place(script.path, at, script.text))
                    break


def _is_word_before(code: str, at: int) -> bool:
    """Return whether the offset is inside a name, method, string, comment or definition, so not at a call."""
    before = code[max(at - 1, 0) : at]
    line = code[code.rfind("\n", 0, at) + 1 : at]
    in_text = line.count('"') % 2 == 1 or line.count("'") % 2 == 1 or "#" in line or "def " in line
    return (
        before.isalnum() or before in {"_", "."} or in_text or (line.strip() != "" and code.startswith("select ", at))
    )
