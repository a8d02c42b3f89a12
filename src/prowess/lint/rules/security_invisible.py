"""The rule `security.invisible`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.text import invisible as chars
from prowess.diagnostics import Fix, FixSafety
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.subject import readable_texts

if TYPE_CHECKING:
    from prowess.lint.subject import ReadableText

_ASCII = bytes(range(128))
_SETS = (chars.TAGS, chars.SELECTORS, chars.FEW_SELECTORS, chars.OVERRIDES, chars.EMBEDDINGS, chars.JOINERS)
_RUN = f"[{''.join(_SETS)}{chars.NEVER_NEEDED}]+"
_TAG, _SELECTOR = f"[{chars.TAGS}]", f"[{chars.SELECTORS}{chars.FEW_SELECTORS}]{{3,}}"
_OVERRIDE, _EMBEDDING = f"[{chars.OVERRIDES}]", f"[{chars.EMBEDDINGS}]"
_UNNEEDED, _SMUGGLED = f"[{chars.NEVER_NEEDED}]", f"[{chars.JOINERS}]{{4,}}"
_LONGEST_FLAG = 7  # tag characters: at most six for a region, and the end mark
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_BLACK_FLAG, _FLAG_END = "\U0001f3f4", "\U000e007f"


class SecurityInvisible(LintRule):
    """A character that people do not see and a model reads.

    What it does:
        Looks for tag characters, sequences of variation selectors, controls of writing direction, and zero-width
        characters. SKILL.md and the Markdown files that it links to are searched. Scripts are searched for all of them
        except zero-width characters. Flags of regions, emoji, text written from right to left, and joiners between
        letters that need them are ignored.

    Why it matters:
        Such characters hide instructions from a reviewer, show code in a different order than it runs, and split words
        so that a search does not find them.

    Example:
        A word with U+200B between two of its letters

    Instead:
        Write the word without the character. In an example about the character, write `U+200B`.
    """

    meta = RuleMeta(
        id="security.invisible",
        order=63,
        family="security",
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="The texts have no invisible characters.",
        source="Unicode Technical Standard 39; CVE-2021-42574",
        fixes="removes them, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each sequence of invisible characters. The message shows only code points, never the characters."""
        for readable in readable_texts(subject):
            foreign = readable.text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
            if not re.search(_RUN, foreign.decode("utf-8", "surrogatepass")):
                continue  # fast path for the usual case
            for match in re.finditer(_RUN, readable.text):
                what = _suspicion(readable, match)
                if not what:
                    continue
                fix = None
                if readable.is_own:
                    edit = subject.document.origin.edit(match.start(), match.end(), "")
                    fix = Fix(safety=FixSafety.UNSAFE, title="remove invisible characters", edits=(edit,))
                yield self.meta.found(
                    f"{what} here; remove all such characters", readable.at(match.start(), match.end()), fix=fix
                )


def _suspicion(readable: ReadableText, match: re.Match[str]) -> str:
    """Return the fault of a sequence of such characters; empty if the text may need them."""
    run, text = match[0], readable.text
    if re.search(_TAG, run):
        flag = (
            text[match.start() - 1 : match.start()] == _BLACK_FLAG
            and run.endswith(_FLAG_END)
            and len(run) <= _LONGEST_FLAG
        )
        return "" if flag else f"{len(run)} invisible tag characters, which a model reads, are"
    if re.search(_SELECTOR, run):
        return f"{len(run)} variation selectors, which can carry hidden text, are"
    if re.search(_OVERRIDE, run):
        return f"{_number(run)} changes the direction of writing"
    if re.search(_EMBEDDING, run):
        line = text[text.rfind("\n", 0, match.start()) + 1 : (text.find("\n", match.end()) + 1 or len(text) + 1) - 1]
        return "" if re.search(_RIGHT_TO_LEFT, line) else f"{_number(run)}, a control of writing direction, is"
    if readable.kind == "script" or match.start() == 0:
        return ""
    before, after = text[match.start() - 1], text[match.end() : match.end() + 1]
    if re.search(_SMUGGLED, run) or re.search(_UNNEEDED, run) or (_in_word(before) and _in_word(after)):
        return f"{_number(run)}, which people do not see, is"
    return ""


def _in_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _number(run: str) -> str:
    return (
        f"U+{ord(run[0]):04X}" if len(run) == 1 else f"a sequence of {len(run)} characters from U+{ord(run[0]):04X} on"
    )
