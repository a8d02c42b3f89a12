"""The rule `description-quality`.

The rule checks whether a description states when to use a skill. Such a clause is recognised by its words, in the
languages in which skills are written. Text in an unknown script or language passes, because a finding that is a guess
is worse than none. Chinese, Japanese and Korean have no spaces between words. Therefore parts of words are searched
for, and most text in these scripts passes.
"""

from __future__ import annotations

import re

from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_WORD = r"[^\W\d_]+"
_WORD_OR_END = r"[^\W\d_]+|[.;!?:(\n]"
_NONE: frozenset[str] = frozenset()
_BY_LANGUAGE = {
    "English": "when whenever while trigger triggers triggered triggering upon",
    "Portuguese, Spanish, Italian, Catalan": "quando sempre caso cuando siempre ogniqualvolta quan",
    "French, Romanian": "lorsque quand lorsqu c\u00e2nd dac\u0103",
    "German, Dutch": "wenn sobald falls immer wanneer zodra",
    "Polish, Czech, Hungarian, Finnish": "gdy kiedy kdy\u017e pokud amikor kun jos",
    "Danish, Swedish, Turkish": "n\u00e5r n\u00e4r zaman durumunda",
    "Vietnamese, Indonesian": "khi ketika saat",
    "Russian": "\u043a\u043e\u0433\u0434\u0430 \u0435\u0441\u043b\u0438 \u043f\u0440\u0438",
    "Ukrainian": "\u043a\u043e\u043b\u0438 \u044f\u043a\u0449\u043e",
}
_OCCASIONS = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())
_OTHER_OFFERS = ("use ao ", "use para ", "usar para ", "utilizar para ", "usare per ", "utiliser pour ", "if the user")
_NARROW = frozenset({"for", "if", "before", "after", "during", "as", "at"})
_USES, _WIDE = frozenset({"use", "used", "useful"}), _NARROW | {"in", "on", "to", "with", ":"}
_FITTING = (
    "invoke invoked activate activated apply applies ideal suitable call load consult read intended run perfect best"
    " great helpful essential required needed recommended relevant appropriate reach"
)
_FITS = frozenset(_FITTING.split())
_FILLERS = frozenset(
    {"this", "it", "the", "a", "an", "skill", "agent", "tool", "only", "best", "also", "first", "once"}
)
_NEGATIONS = frozenset({"not", "t", "never"})
_PAIRS = frozenset({("activate", "in"), ("for", "any"), ("use", "case"), ("use", "cases")})
_USERS = frozenset({"user", "users"})
_ASKING = frozenset(
    {"ask", "asks", "want", "wants", "need", "needs", "say", "says", "mention", "mentions", "request", "requests"}
)
_CHINESE_TEXT = (  # Parts of Chinese words, in simplified and traditional characters. Some of them are also Japanese.
    "当 當 需要 必要 适用 適用 适合 適合 用于 用於 触发 觸發 场景 場景 场合 如果 若 每当 "
    "每次 每日 每天 每周 定期 之前 之后 前使用 后使用 情况下 时候 想要 请求 要求 提到 询问 "
    '遇到 用户说 说“ 说「 说"'
)
_CHINESE = tuple(_CHINESE_TEXT.split())
_JAPANESE_AND_KOREAN_TEXT = (
    "とき 時に 時は 際 場合 必要 たら れば たい に使用 で使用 に利用 に使う トリガー 때 경우 사용 위한 위해 필요"
)
_JAPANESE_AND_KOREAN = tuple(_JAPANESE_AND_KOREAN_TEXT.split())
# Patterns that few texts need, so `re` compiles them on first use. The first means "at the time of"; it excludes the
# character inside a longer word, such as "real-time", "hour" or "runtime".
_AT_THE_TIME = "(?<![实實同及即临臨历小定延平暂行按届随有耗])[时時](?![间間代序刻长長区區期空机機效])"
_HAN, _KANA_OR_HANGUL = "[\u4e00-\u9fff]", "[\u3040-\u30ff\uac00-\ud7af]"
_COMMON = "a and de des die der do e el em en et for from in la le los o of para pour the to und with y"
_KNOWN = frozenset(_COMMON.split())


def states_occasion(description: str, name: str = "") -> bool:
    """Whether a clause of the description states when to use the skill. `name` is the skill's name."""
    text = description.lower()
    words = re.findall(_WORD, text)
    if not _OCCASIONS.isdisjoint(words) or any(offer in text for offer in _OTHER_OFFERS):
        return True
    if _offers(text, name):
        return True
    return not text.isascii() and _may_state_occasion(text, words)


def _offers(text: str, name: str) -> bool:
    """Whether the English text states what the skill itself, not another tool, is used for."""
    own = frozenset(re.findall(_WORD, name.lower()))
    before, purposes, fillers = "", _NONE, _NONE
    for word in re.findall(_WORD_OR_END, text):
        if word in purposes or (before, word) in _PAIRS or (word in _ASKING and before in _USERS):
            return True
        if before in _NEGATIONS or not word[0].isalpha():
            purposes = _NONE
        elif word in _USES:
            purposes, fillers = _WIDE, own
        elif word in _FITS:
            purposes, fillers = _NARROW, _NONE
        elif not (word in _FILLERS or word in fillers or word.endswith("ly")):
            purposes = _NONE
        before = word
    return False


def _may_state_occasion(text: str, words: list[str]) -> bool:
    """Whether text with letters outside ASCII may state when to use the skill.

    Text in Chinese, Japanese or Korean must contain a known word. Text in an unknown language always passes.
    """
    if re.search(_KANA_OR_HANGUL, text):
        return any(part in text for part in (*_CHINESE, *_JAPANESE_AND_KOREAN))
    foreign = sum(not char.isascii() and char.isalpha() for char in text)
    if 2 * len(re.findall(_HAN, text)) > foreign:
        return any(part in text for part in _CHINESE) or re.search(_AT_THE_TIME, text) is not None
    return foreign > 0 and _KNOWN.isdisjoint(words)


class DescriptionQuality(LintRule):
    """A description that does not state when to use the skill.

    What it does:
        Looks for a clause such as `Use when ...`, `Use this for ...` or `trigger`, in English, Chinese, Japanese,
        Korean and a dozen other languages. A clause on the use of another tool does not count. Descriptions in unknown
        languages are not reported.

    Why it matters:
        When a model decides whether to use the skill, it sees only the name and the description. Without such a clause,
        models use the skill too rarely.

    Example:
        `description: Extracts tables from PDF files.`

    Instead:
        `description: Extracts tables from PDF files. Use when the user asks for data from a PDF or a scan.`
    """

    meta = RuleMeta(
        id="description-quality",
        order=11,
        severities=Severities(spec=INFO, skillscraft=WARNING, boxxy=WARNING, claude_code=INFO),
        summary="The description states when to use the skill.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        text = subject.description
        if text and not states_occasion(text, subject.document.text_of("name") or ""):
            message = 'the description does not state when to use the skill; add "Use when the user asks to ..."'
            yield self.meta.found(message, subject.field_place("description"))
