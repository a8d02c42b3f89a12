"""Run the lint rules over one skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.profiles import profile_named
from prowess.format.rule_table import RULES
from prowess.format.validation import document_of
from prowess.lint.first_look import may_find
from prowess.lint.rules.body_boilerplate import BodyBoilerplate
from prowess.lint.rules.body_commands import BodyCommands
from prowess.lint.rules.body_edge_cases import BodyEdgeCases
from prowess.lint.rules.body_empty import BodyEmpty
from prowess.lint.rules.body_examples import BodyExamples
from prowess.lint.rules.body_scope import BodyScope
from prowess.lint.rules.body_steps import BodySteps
from prowess.lint.rules.body_structure import BodyStructure
from prowess.lint.rules.body_templates import BodyTemplates
from prowess.lint.rules.body_tokens import BodyTokens
from prowess.lint.rules.body_unclosed_fence import BodyUnclosedFence
from prowess.lint.rules.body_validation_loop import BodyValidationLoop
from prowess.lint.rules.body_when_to_use import BodyWhenToUse
from prowess.lint.rules.compatibility_vague import CompatibilityVague
from prowess.lint.rules.content_placeholder import ContentPlaceholder
from prowess.lint.rules.context_budget import ContextBudget
from prowess.lint.rules.defaults_over_menus import DefaultsOverMenus
from prowess.lint.rules.description_budget import DescriptionBudget
from prowess.lint.rules.description_keywords import DescriptionKeywords
from prowess.lint.rules.description_purpose import DescriptionPurpose
from prowess.lint.rules.description_quality import DescriptionQuality
from prowess.lint.rules.directory_extraneous import DirectoryExtraneous
from prowess.lint.rules.directory_link import DirectoryLink
from prowess.lint.rules.directory_placement import DirectoryPlacement
from prowess.lint.rules.gotchas_present import GotchasPresent
from prowess.lint.rules.hook_missing import HookMissing
from prowess.lint.rules.license_long import LicenseLong
from prowess.lint.rules.license_missing import LicenseMissing
from prowess.lint.rules.metadata_prefix import MetadataPrefix
from prowess.lint.rules.metadata_version import MetadataVersion
from prowess.lint.rules.name_generic import NameGeneric
from prowess.lint.rules.no_generic_instructions import NoGenericInstructions
from prowess.lint.rules.portability_angle_brackets import PortabilityAngleBrackets
from prowess.lint.rules.portability_backslash import PortabilityBackslash
from prowess.lint.rules.portability_home_path import PortabilityHomePath
from prowess.lint.rules.portability_host_command import PortabilityHostCommand
from prowess.lint.rules.portability_host_variable import PortabilityHostVariable
from prowess.lint.rules.portability_listing import PortabilityListing
from prowess.lint.rules.portability_positional import PortabilityPositional
from prowess.lint.rules.portability_refused_keys import PortabilityRefusedKeys
from prowess.lint.rules.portability_reserved_name import PortabilityReservedName
from prowess.lint.rules.progressive_disclosure import ProgressiveDisclosure
from prowess.lint.rules.reference_case import ReferenceCase
from prowess.lint.rules.reference_chain import ReferenceChain
from prowess.lint.rules.reference_contents import ReferenceContents
from prowess.lint.rules.reference_dead_link import ReferenceDeadLink
from prowess.lint.rules.reference_depth import ReferenceDepth
from prowess.lint.rules.reference_large import ReferenceLarge
from prowess.lint.rules.reference_missing import ReferenceMissing
from prowess.lint.rules.reference_missing_path import ReferenceMissingPath
from prowess.lint.rules.reference_orphan import ReferenceOrphan
from prowess.lint.rules.reference_when import ReferenceWhen
from prowess.lint.rules.scripts_dependencies import ScriptsDependencies
from prowess.lint.rules.scripts_errors import ScriptsErrors
from prowess.lint.rules.scripts_guard import ScriptsGuard
from prowess.lint.rules.scripts_help import ScriptsHelp
from prowess.lint.rules.scripts_project_version import ScriptsProjectVersion
from prowess.lint.rules.scripts_prompt import ScriptsPrompt
from prowess.lint.rules.scripts_streams import ScriptsStreams
from prowess.lint.rules.scripts_unpinned import ScriptsUnpinned
from prowess.lint.rules.security_hidden_instructions import SecurityHiddenInstructions
from prowess.lint.rules.security_invisible import SecurityInvisible
from prowess.lint.rules.security_secret import SecuritySecret
from prowess.lint.rules.testing_evals import TestingEvals
from prowess.lint.subject import LintSubject
from prowess.rule_engine import Judgement, RuleRegistry, Selection

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.validation import Target
    from prowess.rule_engine import Rule

LINT_RULES: RuleRegistry[LintSubject] = RuleRegistry(
    ReferenceMissing(),
    ReferenceMissingPath(),
    ReferenceDeadLink(),
    ReferenceCase(),
    ReferenceDepth(),
    BodyTokens(),
    DirectoryExtraneous(),
    HookMissing(),
    ScriptsGuard(),
    DirectoryLink(),
    DirectoryPlacement(),
    BodyScope(),
    BodyValidationLoop(),
    BodyTemplates(),
    BodyCommands(),
    NameGeneric(),
    ReferenceWhen(),
    BodyBoilerplate(),
    BodySteps(),
    BodyStructure(),
    BodyEdgeCases(),
    BodyExamples(),
    BodyWhenToUse(),
    MetadataPrefix(),
    MetadataVersion(),
    CompatibilityVague(),
    LicenseMissing(),
    LicenseLong(),
    DescriptionBudget(),
    DescriptionKeywords(),
    DescriptionPurpose(),
    ContentPlaceholder(),
    BodyUnclosedFence(),
    BodyEmpty(),
    PortabilityPositional(),
    PortabilityListing(),
    PortabilityRefusedKeys(),
    PortabilityAngleBrackets(),
    PortabilityReservedName(),
    PortabilityHostVariable(),
    PortabilityHostCommand(),
    PortabilityBackslash(),
    PortabilityHomePath(),
    ScriptsUnpinned(),
    ScriptsStreams(),
    ScriptsProjectVersion(),
    ScriptsDependencies(),
    ScriptsErrors(),
    ScriptsHelp(),
    ScriptsPrompt(),
    ReferenceLarge(),
    ReferenceContents(),
    ReferenceOrphan(),
    ReferenceChain(),
    GotchasPresent(),
    DefaultsOverMenus(),
    ProgressiveDisclosure(),
    NoGenericInstructions(),
    DescriptionQuality(),
    ContextBudget(),
    SecurityInvisible(),
    SecurityHiddenInstructions(),
    SecuritySecret(),
    TestingEvals(),
)

_ORDER = {rule: at for at, rule in enumerate(RULES)}  # of two findings at one place the first is of the earlier rule
_last: tuple[Judgement | None, tuple[Rule[LintSubject], ...]] = (None, ())


def lint_skill(target: Target, *, profile: str = "spec", selection: Selection | None = None) -> list[Diagnostic]:
    """Return the advice on `target`, which is as for `validate_skill`; sorted by place.

    Files are looked for only inside the skill's directory; a document without one gets no advice on files.

    Raises:
        InvalidArgumentsError: no profile has this name.
    """
    judgement = Judgement(profile=profile_named(profile), selection=selection or Selection())
    return judgement.judge(lint_findings(document_of(target), judgement))


def lint_findings(document: SkillDocument, judgement: Judgement) -> list[Diagnostic]:
    """Return what the lint rules find, at default severities; a rule whose findings are not wanted does not run."""
    subject = LintSubject(document, judgement.profile)
    found = [one for rule in _kept(judgement) if may_find(rule.meta.id, subject) for one in rule.check(subject)]
    found.sort(key=lambda one: (one.location.line, one.location.column))
    skill = document.directory_name
    return [one._replace(skill=skill) for one in found]


def _kept(judgement: Judgement) -> tuple[Rule[LintSubject], ...]:
    """Return the rules that run; the answer for the last judgement is remembered, as all skills of a check share it."""
    global _last  # noqa: PLW0603 -- a memory of one judgement; exchanging the pair is one step
    known, rules = _last
    if known is not judgement:
        kept = (rule for rule in LINT_RULES if judgement.keeps(rule.meta.id, rule.meta.family))
        rules = tuple(sorted(kept, key=lambda rule: _ORDER[rule.meta.id]))
        _last = (judgement, rules)
    return rules
