"""The rule `scripts.errors`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_SHORT = 10  # lines
_STRICT = ("set -e", "set -o errexit", "set -u", "bash -e", "|| exit", "|| return", "$?", "trap ", "if !")
_NEAR = 200  # characters
_HANDLERS = ("except:", "except Exception:", "except BaseException:")


class ScriptsErrors(LintRule):
    """A script that hides its failures.

    What it does:
        Looks for Python handlers that swallow every exception: `except:` or `except Exception:` with only `pass`, and
        without a comment that gives the reason. The rule also looks for shell scripts of more than 10 lines without
        `set -e` or another check of exit codes.

    Why it matters:
        An agent trusts an exit code of 0, and reports a failed step as done.

    Example:
        `except Exception: pass`

    Instead:
        Print the failure and a remedy to standard error, and exit with a code other than 0.
    """

    meta = RuleMeta(
        id="scripts.errors",
        order=22,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="Scripts report failures and exit with non-zero.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that hides a failure."""
        for script in subject.files.scripts:
            at = _swallows(script.code, script.text) if script.language == "python" else -1
            if (
                script.language == "shell"
                and script.code.count("\n") > _SHORT
                and not any(word in script.code for word in _STRICT)
            ):
                at = 0
            if at >= 0:
                what = (
                    "swallows every error raised here; report what failed"
                    if script.language == "python"
                    else "goes on after a command fails; begin with set -e"
                )
                yield self.meta.found(f"{script.path} {what}", subject.file_place(script.path, at, script.text))


def _swallows(code: str, text: str) -> int:
    """Return the offset of the first handler with only `pass`, or -1. `code` is `text` with blanked comments."""
    for handler in _HANDLERS:
        at = code.find(handler)
        while at >= 0:
            body = code[at + len(handler) : at + _NEAR]
            if body.split(None, 1)[:1] == ["pass"]:
                end = text.find("\n", at + len(handler) + body.index("pass"))
                if "#" not in text[at : end if end >= 0 else len(text)]:
                    return at
            at = code.find(handler, at + 1)
    return -1
