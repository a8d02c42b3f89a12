"""Patterns of keys and tokens, for the rule that finds them in skills and for redacting texts that are recorded."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Prefix, name and pattern of each kind of secret. The prefix is searched as plain text first; `re` compiles the pattern
# on first use.
SECRET_PATTERNS = (
    ("AKIA", "an access key of AWS", r"\bAKIA[A-Z0-9]{16}\b"),
    ("ASIA", "an access key of AWS", r"\bASIA[A-Z0-9]{16}\b"),
    ("ghp_", "a token of GitHub", r"\bghp_[A-Za-z0-9]{36}\b"),
    ("gho_", "a token of GitHub", r"\bgho_[A-Za-z0-9]{36}\b"),
    ("ghs_", "a token of GitHub", r"\bghs_[A-Za-z0-9]{36}\b"),
    ("github_pat_", "a token of GitHub", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    ("glpat-", "a token of GitLab", r"\bglpat-[A-Za-z0-9_-]{20}\b"),
    ("T3BlbkFJ", "a key of OpenAI", r"(?<![\w-])sk-[\w-]{20,90}T3BlbkFJ[\w-]{20,74}"),
    ("sk-ant-", "a key of Anthropic", r"\bsk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{80,}"),
    ("AIza", "a key of Google", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("xox", "a token of Slack", r"\bxox[abprs]-[0-9]{10,13}-[A-Za-z0-9-]{20,}"),
    ("hooks.slack.com/", "a webhook of Slack", r"hooks\.slack\.com/services/T\w{8,}/B\w{8,}/\w{20,}"),
    ("_live_", "a key of Stripe", r"\b[sr]k_live_[A-Za-z0-9]{24,}\b"),
    ("npm_", "a token of npm", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-AgEIcHlwaS5vcmc", "a token of PyPI", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{100,}"),
    ("hf_", "a token of Hugging Face", r"\bhf_[A-Za-z0-9]{34}\b"),
    ("SG.", "a key of SendGrid", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    ("PRIVATE KEY-----", "a private key", r"BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s[\w+/=\s]{200,}-----END"),
)  # fmt: skip

REDACTED = "[redacted]"
_LEAST = 8  # characters of a known value that is redacted
_WORDS = (
    r"passw(?:or)?d|passphrase|[_-](?:pass|pwd)|secret|token|(?:api|access|private|secret|signing|encryption)[_-]?key|"
    r"credentials?"
)
# Such as DB_PASSWORD, PASSWORD1, SECRET_KEY_BASE and --api-key. Not `tokens`, which programs count.
_NAMES = rf"[\w-]{{0,40}}(?:{_WORDS})(?:[0-9]{{1,4}}|[_-][\w-]{{0,30}})?"
_IS = r"[\\\"']{0,4}\s{0,3}[:=]\s{0,3}[\\\"']{0,4}"  # also in JSON inside of a string
_VALUE = r"((?<=\")[^\"\\\r\n]{4,}|(?<=')[^'\r\n]{4,}|[^\s\"',;&]{4,})"  # in quotes it may have spaces
# Values that a name in front marks as secret. Redaction may hide too much, so examples are hidden as well. No pattern
# begins inside a word with hyphens: a text of such words would take time in proportion to its square. The sign is
# searched in lower case.
_MARKED = (
    ("authorization", rf"(?i)authorization{_IS}([^\r\n\"']{{4,}})"),  # the scheme may have several parameters
    ("cookie", rf"(?i)cookie{_IS}([^\r\n\"']{{4,}})"),
    ("", rf"(?i)(?<![\w-]){_NAMES}{_IS}{_VALUE}"),
    ("://", r"://[^\s/@:]{0,200}:([^\s/@]{1,400})@"),
    ("eyj", r"(?<![\w-])(eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})"),
    ("private key-----", r"PRIVATE KEY-----([^-]{40,})"),  # also if the end of the key was cut off
)
_FLAG = re.compile(rf"(?i)--?{_NAMES}")
_NAME = rf"(?i)(?:(?<![\w-]){_NAMES}|authorization|cookie)\Z"


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """Return a text with every secret in it replaced by `[redacted]`.

    Secrets are the values in `known` of at least 8 characters, tokens in a known format, and values that a name in
    front marks as secret, such as `password=`. A secret in any other form stays.
    """
    for value in sorted({value for value in known if len(value) >= _LEAST}, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    for sign, _, shape in SECRET_PATTERNS:
        if sign in text:
            text = _compiled(shape).sub(REDACTED, text)
    lower = text.lower()
    for sign, shape in _MARKED:
        if sign in lower:
            text = _compiled(shape).sub(_without_value, text)
    return text


def redacted_words(words: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Return the words of a command line without secrets. A word after an option such as `--token` is a secret."""
    values = tuple(known)
    found: list[str] = []
    is_value = False
    for word in words:
        found.append(REDACTED if is_value else redacted(word, values))
        is_value = _FLAG.fullmatch(word) is not None
    return found


def names_secret(name: str) -> bool:
    """Whether the name of a member or a header marks its value as secret, as in `redacted`."""
    return _compiled(_NAME).search(name) is not None


def _without_value(match: re.Match[str]) -> str:
    start, end = (place - match.start() for place in match.span(1))
    return f"{match[0][:start]}{REDACTED}{match[0][end:]}"


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
