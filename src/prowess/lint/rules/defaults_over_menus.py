"""The rule `defaults-over-menus`."""

from __future__ import annotations

from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_OFFERS = (
    "you can use ",
    "you could use ",
    "you may use ",
    "can be done with ",
    "use any of ",
    "use either ",
    "choose between ",
    "choose from ",
)
_DECIDING = ("default", "prefer", "recommend", "if ", "when ", "unless", "depend", "instead", "based on", "ask ")
_SEVERAL = 3
_REACH = 400  # characters of a sentence, and of the text after it


class DefaultsOverMenus(LintRule):
    """Several equal choices without a default.

    What it does:
        Looks, outside code, for sentences such as `you can use A, B or C`. A sentence is not reported if the sentence
        or the rest of its paragraph contains a word that decides, such as default, prefer, recommend, if or when.

    Why it matters:
        A model that must choose without a criterion chooses differently each time, or asks the user.

    Example:
        You can use pypdf, pdfplumber or PyMuPDF.

    Instead:
        Use pdfplumber. If it finds no text, as in a scan, use pytesseract.
    """

    meta = RuleMeta(
        id="defaults-over-menus",
        order=14,
        most=50,
        severities=Severities(spec=INFO, skillscraft=WARNING, boxxy=INFO, claude_code=INFO),
        summary="Choices have a default.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each sentence that offers several choices and no default."""
        for phrase, at in subject.found_in_prose(_OFFERS):
            begin, end = _sentence(subject.prose, at)
            if _items(subject.prose[at + len(phrase) : end]) < _SEVERAL or _decides(subject.prose, begin, end):
                continue
            message = "several choices and no default; name a default, and when to use another choice"
            yield self.meta.found(message, subject.at(at, end))


def _sentence(text: str, at: int) -> tuple[int, int]:
    begin = max(text.rfind("\n", max(at - _REACH, 0), at) + 1, at - _REACH, 0)
    ends = [
        end for mark in (". ", ".\n", "\n\n", "\n- ", "\n#", ": ") if (end := text.find(mark, at, at + _REACH)) >= 0
    ]
    return begin, min(ends, default=min(at + _REACH, len(text)))


def _items(offer: str) -> int:
    return offer.replace(", or ", ",").replace(" or ", ",").count(",") + 1 if " or " in offer else 0


def _decides(text: str, begin: int, end: int) -> bool:
    paragraph_end = text.find("\n\n", end, end + _REACH)
    around = text[begin : paragraph_end if paragraph_end >= 0 else end + _REACH]
    return any(word in around for word in _DECIDING)
