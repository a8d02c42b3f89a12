"""A suite with several configurations: other agents, tools and models, and the cases whose outcome differs.

configurations:
- name: as written
- {name: reviewer, agent: reviewer}
- {name: reading, tools: [read]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.errors import ConfigurationError
from prowess.evals.scenarios.running import TestConfiguration, run_tests
from prowess.format.suites.suite import UnreadableTextError
from prowess.format.suites.yaml_text import YamlText

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from prowess.evals.scenarios.report import CaseResult, TestReport

_TEXTS = ("agent", "tenant", "environment", "model")


class CaseDifference(Struct, frozen=True, kw_only=True):
    """A case whose outcome depends on the configuration: outcome and reason by the name of the configuration."""

    skill: str
    scenario: str | None
    case: str
    outcomes: dict[str, str]
    reasons: dict[str, str | None]


class ConfiguredReports(Struct, frozen=True, kw_only=True):
    """One report for each configuration, by its name."""

    reports: dict[str, TestReport]

    @property
    def differences(self) -> tuple[CaseDifference, ...]:
        """The cases that have not the same outcome everywhere, in order."""
        return tuple(self._differences())

    def _differences(self) -> Iterator[CaseDifference]:
        rows: list[tuple[CaseResult, ...]] = list(zip(*(one.cases for one in self.reports.values()), strict=True))
        for row in rows:
            if len({result.outcome for result in row}) > 1:
                named = dict(zip(self.reports, row, strict=True))
                yield CaseDifference(
                    skill=row[0].skill,
                    scenario=row[0].scenario,
                    case=row[0].case,
                    outcomes={name: result.outcome for name, result in named.items()},
                    reasons={name: result.reason for name, result in named.items()},
                )


def run_configurations(
    configurations: tuple[TestConfiguration, ...], *paths: str | os.PathLike[str]
) -> ConfiguredReports:
    """Run all cases of the skills with each configuration.

    Raises:
        SkillParseError: a directory has no skill that can be loaded.
    """
    reports = {one.name: run_tests(*paths, configuration=one) for one in configurations}
    return ConfiguredReports(reports=reports)


def read_configurations(text: str, path: str) -> tuple[TestConfiguration, ...]:
    """Read a file of configurations; `path` is its path in errors.

    Raises:
        ConfigurationError: the file has faults, one sentence for each with its line.
    """
    try:
        read = YamlText.parse(text)
    except UnreadableTextError as fault:
        raise ConfigurationError((f"{path}:{_line(text, fault.offset)}: {fault.reason}",)) from None
    listed = read.value.get("configurations") if isinstance(read.value, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ConfigurationError((f"{path}: it must be a mapping with a list `configurations`",))
    found: list[TestConfiguration] = []
    problems: list[str] = []
    for number, item in enumerate(listed):
        problem = _fault(item, {one.name for one in found})
        if problem is None:
            tools = item.get("tools")
            found.append(TestConfiguration(**{**item, "tools": None if tools is None else tuple(tools)}))
        else:
            problems.append(f"{path}:{_line(text, read.offset('configurations', number))}: {problem}")
    if problems:
        raise ConfigurationError(tuple(problems))
    return tuple(found)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _fault(item: Any, names: set[str]) -> str | None:  # noqa: ANN401 -- JSON
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        return "a configuration is a mapping with a name"
    if item["name"] in names:
        return f"the name {item['name']!r} is there twice"
    for key, value in item.items():
        if key == "tools":
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                return "tools must be a list of names"
        elif key not in ("name", *_TEXTS):
            return f"a configuration has no key {key[:60]!r}; it has name, tools, {', '.join(_TEXTS)}"
        elif not isinstance(value, str):
            return f"{key} must be a text"
    return None
