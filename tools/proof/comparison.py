"""Ask the compiled model and our code the same, and count where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tools.proof import sessions, subjects, whole_skills
from tools.proof.subjects import Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.proof.dafny import Model

SUBJECTS = (
    Subject(
        "names", "prowess.format.name.name_faults, prowess.format.name.is_portable",
        (
            "IsValidSkillName", "ScanName", "HasNameLength", "AllNameChars", "NoEdgeHyphen", "NoConsecutiveHyphens",
            "IsLowercaseLetter", "IsDigit", "IsHyphen", "IsNameChar",
        ),
        subjects.names,
    ),
    Subject(
        "paths", "prowess._internal.files.contained.check_relative",
        (
            "IsValidResourcePath", "CheckRelative", "IsRelative", "BeginsWithDrive", "IsLetter", "HasOnlyPlainChars",
            "IsSurrogate", "HasNoParentComponent", "Stays",
        ),
        subjects.paths,
    ),
    Subject("links", "prowess.format.rules.body_rules.inner_components", ("InnerComponents",), subjects.links),
    Subject(
        "fences",
        "prowess.format.parsing.find_fences",
        ("HasFrontmatter", "IsFence"),
        subjects.front_matter_fences,
    ),
    Subject(
        "tools", "prowess.format.fields.allowed_tools.parse_allowed_tools",
        ("IsValidAllowedTools", "ScanTools", "IsBlank"), subjects.tools,
    ),
    Subject("xml", "html.escape", ("Escape", "NeedsHtmlEscape"), subjects.xml),
    Subject(
        "bodies", "prowess.format.rules.body_rules.body_lines, prowess.runtime.disclosure.model_texts.estimate_tokens",
        ("IsValidBodyLength", "IsValidBodyTokens", "CountLines", "EstimateTokens"), subjects.bodies,
    ),
    Subject("files", "prowess.format.reading.locate", ("SkillFile", "HasSkillMd"), subjects.skill_files),
    Subject(
        "frontmatter",
        "prowess.format.parsing.parse_source, prowess.format.reading.raw_findings, "
        "prowess.format.source.plain_front_matter.read_plain_skill",
        (
            "IsValidFrontmatter", "CheckFrontmatter", "IsValidDescription", "IsValidCompatibility", "IsValidLicense",
            "IsAllowedFieldName", "HasNoUnknownFields", "HasUniqueKeys", "IsValidMetadataKey", "IsValidMetadataMap",
        ),
        whole_skills.fronts,
    ),
    Subject(
        "skills",
        "prowess.format.parsing.parse_source, prowess.format.reading.raw_findings, "
        "prowess._internal.files.contained.check_relative",
        (
            "IsValidCompleteSkill", "CheckCompleteSkill", "IsValidSkillDirectory", "IsValidLevel1", "IsValidLevel2",
            "IsValidLevel3", "IsValidSkillMeta", "IsValidFullSkill",
        ),
        whole_skills.skills,
    ),
    Subject(
        "layers",
        "prowess.catalog.catalog_index.CatalogIndex, prowess.catalog.layers.ranks_of, "
        "prowess.catalog.sources.precedence.by_precedence",
        ("IsWinner", "Winner", "MayAnswer", "Precedes", "SourcePrecedes"),
        subjects.winners,
    ),
    Subject(
        "sessions",
        "prowess.runtime.state.loaded, prowess.runtime.state.unloaded, prowess.runtime.activation.stack.entered, "
        "prowess.runtime.state.SessionState.named",
        ("Next", "After", "Loaded", "Unloaded", "Entered", "MayUse"), sessions.sessions,
    ),
    Subject("trits", "prowess.format.role.role_of", ("ComputeTrit", "ToBalanced", "ElemToRole"), subjects.trits),
    Subject(
        "balance", "prowess.format.role.is_balanced, prowess.format.role.balancer",
        ("Sum", "IsBalanced", "FindBalancer"), subjects.balances,
    ),
)  # fmt: skip

# Predicates that no code of ours answers to, and why that is right.
PROOF_ONLY = {
    "StartsWith": "says how a text begins, in a lemma",
    "NoDuplicates": "HasUniqueKeys, proved equal",
    "IsWordChar": "a part of the pattern of names",
    "AllWordChars": "a part of the pattern of names",
    "IsWord": "a part of the pattern of names",
    "WordsAfterTheFirst": "a part of the pattern of names",
    "MatchesPattern": "the pattern of names, proved equal to IsValidSkillName",
    "IsSafeComponent": "what CheckRelative is proved to give",
    "Inside": "the conclusion of the theorem on containment",
    "NeverLeaves": "the conclusion of the theorem on containment",
    "IsAllowedSubdir": "advice: other directories are allowed, and nothing reports them",
    "HasOnlyKnownSubdirs": "advice: other directories are allowed, and nothing reports them",
    "IsValidPromptSkill": "a valid name and description, which are compared, with the path of a file that was read",
    "IsHtmlSafe": "what Escape is proved to give",
    "Distinct": "a source has a path once, what Winner requires",
    "HasNo": "no copy of a layer, in a lemma",
    "InOrder": "how a catalog sorts, in a lemma",
    "IsValidState": "the conclusion of the theorems on sessions",
    "Activates": "which events ask for a skill, in a lemma",
    "IsBalancedTriple": "IsBalanced of three, proved equal",
    "IsBalancedQuad": "IsBalanced of four, proved equal",
}


class Outcome(NamedTuple):
    """How many inputs a subject had, how many of the answers differ, and the first few of those as sentences."""

    subject: Subject
    inputs: int
    differences: int
    first: tuple[str, ...]


def compare(model: Model, names: Sequence[str] = (), *, shown: int = 5) -> list[Outcome]:
    """Compare the subjects of these names; all where none is named.

    Raises:
        ProofError: the model stopped.
    """
    chosen = [subject for subject in SUBJECTS if not names or subject.name in names]
    return [_outcome(model, subject, shown) for subject in chosen]


def _outcome(model: Model, subject: Subject, shown: int) -> Outcome:
    pairs = list(dict.fromkeys(subject.pairs()))
    answers = model.answers([question for question, _ in pairs])
    differ = [
        f"{question!r}: the model says {answer!r}, our code {ours!r}"
        for (question, ours), answer in zip(pairs, answers, strict=True)
        if answer != ours
    ]
    return Outcome(subject, len(pairs), len(differ), tuple(differ[:shown]))
