"""Evals as a configuration of promptfoo: one test for each eval, and whether the skill was used.

promptfoo renders every text as a Nunjucks template, and reads a text that begins with `file://` from the disk. Texts of
evals are foreign data, so the signs of templates are escaped, and such a text is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from prowess.evals.export.exported_skill import expected_skill, file_of, lost_graders, skill_files
from prowess.format.suites.forms import LostMember
from prowess.format.suites.suite import SuiteError
from prowess.format.suites.yaml_text import yaml_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.export.exported_skill import ExportedSkill
    from prowess.format.suites.suite import Check, SuiteCase

CONFIG_FILE = "promptfooconfig.yaml"
_WORKSPACE = "workspace"
_TEMPLATE = re.compile(r"\{[{%#]|#\}")  # also the end of a comment, which is an error alone
_LOADED = ("file:", "package:", "python:", "ruby:", "javascript:", "exec:", "http://", "https://", "huggingface:")
_KINDS = {"contains": "contains", "not_contains": "not-contains", "matches": "regex", "not_matches": "not-regex"}


def promptfoo_files(skill: ExportedSkill) -> dict[str, bytes]:
    """Return the configuration, and the workspace with the skill and the files of the evals.

    Raises:
        SuiteError: promptfoo would take a text for the name of a file or a program, or two evals need different files
            at one path.
        InvalidArgumentsError: the files cannot be read.
    """
    files = skill_files(skill.root, f"{_WORKSPACE}/.claude/skills/{skill.name}")
    for plan in skill.plans:
        for source, target in plan.files:
            data = file_of(skill, source)
            if files.setdefault(f"{_WORKSPACE}/{target}", data) != data:
                raise SuiteError(f"two evals need different files at {target!r}, and promptfoo has one workspace")
    return {CONFIG_FILE: yaml_of(promptfoo_config(skill)).encode("utf-8", "replace"), **files}


def lost_to_promptfoo(skill: ExportedSkill) -> Iterator[LostMember]:
    """Yield the members of the evals that the configuration does not have."""
    yield from lost_graders(skill, "promptfoo")
    for plan, case in zip(skill.plans, skill.cases, strict=True):
        if case.expected_output and case.checks:
            reason = "promptfoo grades by the assertions alone"
            yield LostMember(eval=plan.id, member="expected_output", reason=reason)


def promptfoo_config(skill: ExportedSkill) -> dict[str, Any]:
    """Return the configuration as data. Raise SuiteError as `promptfoo_files`."""
    config = {
        "working_dir": f"./{_WORKSPACE}",
        "setting_sources": ["project"],
        "skills": [skill.name],
        "append_allowed_tools": ["Skill", "Read", "Grep", "Glob"],
    }
    return {
        "description": _text(f"Evals of {skill.name}"),
        "prompts": ["{{prompt}}"],
        "providers": [{"id": "anthropic:claude-agent-sdk", "label": "with the skill", "config": config}],
        "tests": [_test(case, skill.name, number) for number, case in enumerate(skill.cases, 1)],
    }


def _test(case: SuiteCase, skill: str, number: int) -> dict[str, Any]:
    name = str(number if case.id is None else case.id)
    asserts = [_assert(check, name) for check in case.checks]
    if case.expected_output and not case.checks:
        asserts.append({"type": "llm-rubric", "value": _loadable(case.expected_output, name)})
    if (expected := expected_skill(case, skill)) is not None:
        asserts.append({"type": "skill-used", "value": _loadable(expected, name)})
    else:
        asserts.append({"type": "not-skill-used", "value": skill})
    return {"description": _text(name), "vars": {"prompt": _loadable(case.prompt or "", name)}, "assert": asserts}


def _assert(check: Check, name: str) -> dict[str, Any]:
    if check.kind == "judged" or check.value is None:
        return {"type": "llm-rubric", "value": _loadable(check.text, name)}
    return {"type": _KINDS[check.kind], "value": _loadable(check.value, name)}


def _loadable(text: str, name: str) -> str:
    if text.lstrip().lower().startswith(_LOADED):
        what = text.lstrip()[:20]
        raise SuiteError(f"eval {name}: promptfoo would load {what!r} instead of taking it as text; begin it otherwise")
    return _text(text)


def _text(text: str) -> str:
    """Return a template that renders to the text."""
    return _TEMPLATE.sub(lambda found: f'{{{{ "{found[0]}" }}}}', text)
