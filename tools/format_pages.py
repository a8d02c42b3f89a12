"""Write the files that are generated from the tables of profiles, rules, settings and agents: schemas, pages, tables.

docs/reference/schemas/*.schema.json    the settings, the frontmatter of each profile, the conformance cases
docs/reference/profiles.md              between the marks `<!-- table: NAME -->` and `<!-- end -->`
docs/reference/configuration.md         the same
docs/reference/agents.md                the same
docs/reference/rules/*.md               a page for each rule, and their list

python tools/format_pages.py           write them
python tools/format_pages.py --check   exit 1 if a file on disk differs
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.catalog.other_agents.places import all_sources, other_agents, sources_of
from prowess.config.configuration_schema import configuration_schema
from prowess.config.settings import PRESETS, SETTINGS
from prowess.conformance import cases_schema
from prowess.format.fields.frontmatter_schema import frontmatter_schema
from prowess.format.profiles import PROFILES
from prowess.lint import RULES
from prowess.lint.rule_page import rule_pages

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.divergences import divergence_table
from tools.wrap_pages import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prowess.catalog.other_agents.places import ListBudget, OtherAgent
    from prowess.diagnostics import Severity
    from prowess.lint.rule_page import RulePage

DOCS = Path(__file__).parents[1] / "docs"
_NONE = "\N{EN DASH}"
_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def generated(docs: Path = DOCS) -> Iterator[tuple[Path, str]]:
    """Yield each file and the text it should have."""
    schemas = {"configuration": configuration_schema(), "conformance-cases": cases_schema()}
    schemas |= {f"frontmatter.{name}": frontmatter_schema(profile) for name, profile in PROFILES.items()}
    for name, schema in schemas.items():
        yield (
            docs / "reference" / "schemas" / f"{name}.schema.json",
            json.dumps(schema, indent=1, ensure_ascii=False) + "\n",
        )
    pages = list(rule_pages())
    for page in pages:
        yield docs / "reference" / "rules" / f"{page.id}.md", wrapped(page.markdown())
    yield docs / "reference" / "rules" / "index.md", _list_of(pages)
    for name in ("profiles.md", "configuration.md", "agents.md"):
        yield docs / "reference" / name, _filled((docs / "reference" / name).read_text(encoding="utf-8"))


def _list_of(pages: list[RulePage]) -> str:
    rows = ((f"[`{page.id}`]({page.id}.md)", page.summary, page.family, page.fix or _NONE) for page in pages)
    table = "\n".join(_table(("rule", "requirement", "family", "fix"), rows))
    intro = "`prowess rule ID` prints the same pages. Severities: [profiles](../profiles.md#rules)."
    return f"# Rules\n\n{intro}\n\n{table}\n"


def _filled(page: str) -> str:
    def table(match: re.Match[str]) -> str:
        return "\n".join((match[1].rstrip("\n"), *TABLES[match[2]](), match[3]))

    return _MARKED.sub(table, page)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = tuple(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _rules() -> Iterator[str]:
    rows = (
        (f"`{row.id}`", row.summary, *(_cell(row.severity_in(profile)) for profile in PROFILES))
        for row in RULES.values()
    )
    return _table(("rule", "requirement", *PROFILES), rows)


def _cell(severity: Severity | None) -> str:
    return _NONE if severity is None else {"warning": "warn"}.get(str(severity), str(severity))


def _divergences() -> Iterator[str]:
    rows = ((topic, *(values[profile] for profile in PROFILES)) for topic, values in divergence_table().items())
    return _table(("topic", *PROFILES), rows)


def _settings() -> Iterator[str]:
    rows = (
        (
            f"`{row.name}`",
            row.summary,
            f"`{row.flag}`" if row.flag else _NONE,
            f"`{row.environment}`",
            f"`{row.default}`" if row.default else _NONE,
        )
        for row in SETTINGS.values()
    )
    return _table(("setting", "meaning", "flag", "variable", "default"), rows)


def _presets() -> Iterator[str]:
    return _table(("preset", "meaning"), ((f"`{preset.name}`", preset.summary) for preset in PRESETS.values()))


_INSTALLER = ("skills-cli",)


def _agents() -> Iterator[str]:
    head = ("agent", "directories", "above the working directory", "same name", "links", "limits", "notes", "sources")
    names = {source: name for name, source in all_sources().items()}
    rows = (
        (
            f"`{name}`<br>{agent.title}",
            "<br>".join(f"`{place}`" for place in agent.places),
            "yes" if agent.searched == "upwards" else "",
            {"first": "the first directory counts", "all": "all are listed", None: ""}[agent.same_name],
            agent.links or "",
            _limits(agent.budget),
            _notes(agent),
            ", ".join(names[source] for source in sources_of(agent)),
        )
        for name, agent in other_agents().items()
        if agent.sources != _INSTALLER
    )
    return _table(head, rows)


def _notes(agent: OtherAgent) -> str:
    moved = (f"`{variable}` replaces `{place}`." for place, variable in agent.moved_by.items())
    by_hand = "A skill with `disable-model-invocation: true` is not shown to the model." if agent.by_hand else ""
    return " ".join(filter(None, (agent.note, by_hand, *moved)))


def _limits(budget: ListBudget) -> str:
    parts = []
    if budget.description is not None:
        parts.append(f"{' and '.join(f'`{name}`' for name in budget.counted)}: {budget.description} characters")
    if budget.total is not None and budget.share is not None:
        parts.append(f"list: {budget.share:.0%} of the context window, or {budget.total} characters")
        parts.append(
            {"drop": "whole descriptions are dropped", "shorten": "descriptions are shortened"}[str(budget.beyond)]
        )
    return "; ".join(parts)


def _agent_directories() -> Iterator[str]:
    rows = (
        (f"`{name}`", agent.title, ", ".join(f"`{place}`" for place in agent.places))
        for name, agent in other_agents().items()
        if agent.sources == _INSTALLER
    )
    return _table(("agent", "name", "directories"), rows)


def _agent_sources() -> Iterator[str]:
    rows = ((name, f"[{one.title}]({one.url})", one.read.isoformat()) for name, one in all_sources().items())
    return _table(("source", "document", "read on"), rows)


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "rules": _rules,
    "divergences": _divergences,
    "settings": _settings,
    "presets": _presets,
    "agents": _agents,
    "agent_directories": _agent_directories,
    "agent_sources": _agent_sources,
}


def main(arguments: list[str]) -> int:
    """Write the files, or report those that are stale."""
    stale = [
        (path, text) for path, text in generated() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    wanted = {path for path, _ in generated()}
    gone = [path for path in (DOCS / "reference" / "rules").glob("*.md") if path not in wanted]
    if "--check" in arguments:
        for path in (*(path for path, _ in stale), *gone):
            sys.stderr.write(f"{path} is stale: run make docs\n")
        return 1 if stale or gone else 0
    for path in gone:
        path.unlink()
    for path, text in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
