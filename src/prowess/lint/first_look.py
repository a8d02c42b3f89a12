"""Which rules could find anything in a skill, told by a glance that costs less than asking each of them.

Most skills give most rules no occasion: they have no scripts, no links, and none of the words that a rule looks for.
`LOOKS` says of a rule what has to be there for it to find anything. A look may say yes in vain, and may never say no
where the rule would find something; a test holds each against its rule. A rule without a look is always asked.
"""

from __future__ import annotations

from prowess._internal.command_mark import COMMAND_MARK
from prowess.format.limits import MAX_BODY_TOKENS
from prowess.lint.plain_fences import plainly_closed

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.lint.subject import LintSubject

    Look = Callable[[LintSubject], bool]

_FOLDERS = ("scripts", "references", "assets")
_MANY_LINES = 200
_LONG_BODY = MAX_BODY_TOKENS * 9 // 10  # characters: a token has one on the average at least, in any text
_LONG_LICENSE = 200  # characters
_SHELLS = ("sh", "bash", "zsh")  # endings of files
_RUNNERS = frozenset({"npx", "bunx", "uvx", "pipx", "deno", "go"})
# Phrases, and words of each that stand between blanks wherever the phrase stands.
_OFFERS = (
    ("you can use ", frozenset({"can", "use"})),
    ("you could use ", frozenset({"could", "use"})),
    ("you may use ", frozenset({"may", "use"})),
    ("can be done with ", frozenset({"be", "done", "with"})),
    ("use any of ", frozenset({"any", "of"})),
    ("use either ", frozenset({"either"})),
    ("choose between ", frozenset({"between"})),
    ("choose from ", frozenset({"from"})),
)
_IN_EMPTY_PHRASES = frozenset({"appropriately", "properly", "gracefully", "practices", "handling", "clean", "quality"})
_BOILERPLATE = frozenset({"changelog", "contributing", "contributors", "license", "licence", "hereby"})
_PARTS_OF_BOILERPLATE = (
    frozenset({"change", "log"}),
    frozenset({"version", "history"}),
    frozenset({"source", "binary"}),
)
_MARKS = ("todo", "fixme", "lorem ipsum")
# What secrets begin with, as words; and beginnings that stand inside a word.
_SECRETS = frozenset(
    {"ghp", "gho", "ghs", "pat", "glpat", "ant", "slack", "live", "npm", "pypi", "hf", "sg", "private"}
)
_UNBOUNDED_SECRETS = ("xox", "AKIA", "ASIA", "AIza", "T3BlbkFJ")
_HOMES = frozenset({"users", "home"})
_VARIABLES = frozenset({"basedir", "dir", "root"})
_HOSTS = ("anthropic", "claude")
_STEM, _LONG_WORD, _LONG_FILLER = 4, 9, "processing"  # letters; the only long word that says nothing
_OCCASIONS = ("use ", "when ", "trigger", "invoke ", "activate ")
_VAGUE = ("any", "all", "no", "n/a", "universal", "works", "compatible")


# Every word that a look asks for.
WATCHED: frozenset[str] = frozenset().union(*(words for _, words in _OFFERS), *_PARTS_OF_BOILERPLATE) | (
    _RUNNERS | _IN_EMPTY_PHRASES | _BOILERPLATE | _SECRETS | _HOMES | _VARIABLES
)


def may_find(rule_id: str, subject: LintSubject) -> bool:
    """Whether a rule could find anything."""
    return LOOKS.get(rule_id, always)(subject)


def always(subject: LintSubject) -> bool:
    """Say yes: the look of a rule that has none."""
    del subject
    return True


def _links(subject: LintSubject) -> bool:
    return subject.may_link


def _paths(subject: LintSubject) -> bool:
    """Whether the body may name a file by path; a path begins with a directory, one of the skill's or a usual one.

    A usual one may be called otherwise on disk, in capitals, or be a link.
    """
    body = subject.body
    folders = [name for name, kind in subject.top.items() if kind != "file"]
    return bool(folders) and any(f"{name}/" in body for name in (*_FOLDERS, *folders))


def _has(subject: LintSubject, *folders: str) -> bool:
    return any(subject.top.get(folder) == "directory" for folder in folders)


def _other_texts(subject: LintSubject) -> bool:
    return subject.may_have_other_texts


def _read_texts(subject: LintSubject) -> bool:
    """Whether a model may read or run any other text of the skill."""
    return _has(subject, "scripts") or subject.may_name_markdown


def _secrets(subject: LintSubject) -> bool:
    if _read_texts(subject) or _has(subject, "assets") or not _SECRETS.isdisjoint(subject.words):
        return True
    if any(kind == "file" and not name.lower().endswith((".md", ".txt")) for name, kind in subject.top.items()):
        return True
    text = subject.document.text
    front = text[: subject.document.body_offset].lower()
    return any(sign in text for sign in _UNBOUNDED_SECRETS) or any(sign in front for sign in _SECRETS)


def _scripts(subject: LintSubject) -> bool:
    return _has(subject, "scripts")


def _one_off_commands(subject: LintSubject) -> bool:
    if not _RUNNERS.isdisjoint(subject.words):
        return True
    return (
        _has(subject, "scripts")
        and subject.files is not None
        and any(file.startswith("scripts/") and file.endswith(_SHELLS) for file in subject.files.listed)
    )


def _symbolic_links(subject: LintSubject) -> bool:
    if "link" in subject.top.values():
        return True
    folders = [folder for folder in _FOLDERS if subject.top.get(folder) == "directory"]
    return bool(folders) and any(
        "link" in subject.files.entries(folder).values() for folder in folders if subject.files
    )


def _boilerplate(subject: LintSubject) -> bool:
    words = subject.words
    return not _BOILERPLATE.isdisjoint(words) or any(parts <= words for parts in _PARTS_OF_BOILERPLATE)


def _offers(subject: LintSubject) -> bool:
    return any(words <= subject.words and phrase in subject.lower for phrase, words in _OFFERS)


def _says_no_when(subject: LintSubject) -> bool:
    return " when " not in f" {subject.description.lower()} "


def _says_little(subject: LintSubject) -> bool:
    """Whether the description has no long word that the name has not."""
    stems = tuple(part[:_STEM] for part in (subject.text_of("name") or "").lower().split("-") if len(part) > 1)
    for word in subject.description.lower().split():
        if len(word) >= _LONG_WORD and word.isalpha() and word != _LONG_FILLER and not word.startswith(stems):
            return False
    return True


def _missing_license(subject: LintSubject) -> bool:
    license_text = (subject.text_of("license") or "").lower()
    return ".txt" in license_text or ".md" in license_text


def _reserved(subject: LintSubject) -> bool:
    name = (subject.text_of("name") or "").lower()
    return any(host in name for host in _HOSTS)


def _vague(subject: LintSubject) -> bool:
    return (subject.text_of("compatibility") or "").strip(" .").lower().startswith(_VAGUE)


LOOKS: Mapping[str, Look] = {
    "reference.missing": _links,
    "reference.missingPath": _paths,
    "reference.case": lambda subject: _links(subject) or _paths(subject),
    "reference.depth": lambda subject: _links(subject) or _has(subject, "references") or _paths(subject),
    "reference.chain": _other_texts,
    "reference.contents": _other_texts,
    "reference.deadLink": _other_texts,
    "reference.large": _other_texts,
    "reference.orphan": lambda subject: len(subject.top) > 1,
    "body.tokens": lambda subject: len(subject.body) > _LONG_BODY,
    "body.boilerplate": _boilerplate,
    "body.unclosedFence": lambda subject: not plainly_closed(subject.body) or _other_texts(subject),
    "body.empty": lambda subject: not subject.body or subject.body.isspace(),
    "progressive-disclosure": lambda subject: subject.lines >= _MANY_LINES,
    "defaults-over-menus": _offers,
    "no-generic-instructions": lambda subject: not _IN_EMPTY_PHRASES.isdisjoint(subject.words),
    "content.placeholder": lambda subject: any(mark in subject.lower for mark in _MARKS),
    "description-quality": _says_no_when,
    "description.keywords": _says_little,
    "description.purpose": lambda subject: subject.description.lower().startswith(_OCCASIONS),
    "compatibility.vague": _vague,
    "license.missing": _missing_license,
    "license.long": lambda subject: len(subject.text_of("license") or "") > _LONG_LICENSE,
    "security.invisible": lambda subject: not subject.document.text.isascii() or _read_texts(subject),
    "security.hiddenInstructions": lambda subject: "<!--" in subject.document.text or _read_texts(subject),
    "security.secret": _secrets,
    "testing.evals": lambda subject: _has(subject, "evals"),
    "hooks.missing": lambda subject: "hooks" in subject.document.keys,
    "directory.link": _symbolic_links,
    "portability.angleBrackets": lambda subject: "<" in subject.description or ">" in subject.description,
    "portability.reservedName": _reserved,
    "portability.hostVariable": lambda subject: not _VARIABLES.isdisjoint(subject.words),
    "portability.backslash": lambda subject: "\\" in subject.body,
    "portability.homePath": lambda subject: not _HOMES.isdisjoint(subject.words),
    "scripts.unpinned": _one_off_commands,
    "scripts.projectVersion": _one_off_commands,
    "scripts.dependencies": _scripts,
    "scripts.errors": _scripts,
    "scripts.guard": _scripts,
    "scripts.help": _scripts,
    "scripts.prompt": _scripts,
    "scripts.streams": _scripts,
    "portability.hostCommand": lambda subject: COMMAND_MARK in subject.body,
}
