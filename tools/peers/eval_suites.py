"""Other people's readers of evals, with suites that we wrote in their form.

eval_suites.py waza CHECKOUT [FOLDER ...]           the JSON schemas of Waza, from a copy of its repository
eval_suites.py plugin-eval CLAUDE [FOLDER ...]      the program of Claude Code, in a network namespace
eval_suites.py promptfoo PROMPTFOO FOLDER ...       the program promptfoo validates the exports of skills
eval_suites.py inspect OUT FOLDER ...               write exports of skills, which tools/peers/inspect_datasets.py reads

Suites are all files evals.json below the folders; without a folder they are random ones, in the shapes of public ones.
A fault is planted as well: a reader that does not find it would prove nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

from prowess._internal.text.terminal_text import counted
from prowess.errors import InvalidArgumentsError
from prowess.evals.export.exported_skill import exported_skill, write_files
from prowess.evals.export.inspect_task import inspect_files
from prowess.evals.export.promptfoo import promptfoo_files
from prowess.format.suites.files import read_suite, write_suite
from prowess.format.suites.forms import FormedData, converted, form_named, form_of
from tests.format.suites.making_suites import suite
from tools.hosts.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prowess.evals.export.exported_skill import ExportedSkill

RANDOM_SUITES = 160
SAMPLE = 12  # cases that really run
_SHOWN = 5
_UNKNOWN = "unknown_key_of_ours"


def main(reader: str, program: str, folders: Sequence[str]) -> int:
    """Put the suites to one reader. Return 1 if it refuses one."""
    with tempfile.TemporaryDirectory(prefix="eval-suites-") as place:
        match reader:
            case "waza":
                faults = _waza(Path(program), folders, Path(place))
            case "plugin-eval":
                faults = _plugin_eval(program, folders, Path(place))
            case "promptfoo":
                faults = _promptfoo(program, folders, Path(place))
            case "inspect":
                print(f"   {counted(len(_exported(folders, inspect_files, Path(program))), 'suite')} exported")
                faults = []
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    for fault in faults[:_SHOWN]:
        print(f"   {fault}")
    return 1 if faults else 0


def files_below(folders: Sequence[str]) -> list[Path]:
    """Return the files evals.json below the folders."""
    return [path for folder in folders for path in sorted(Path(folder).rglob("evals.json")) if path.is_file()]


def _read(folders: Sequence[str]) -> Iterator[tuple[str, FormedData]]:
    for path in files_below(folders):
        yield str(path), read_suite(str(path))
    if not folders:
        for seed in range(RANDOM_SUITES):
            data = suite(seed)
            yield f"suite {seed}", FormedData(form=form_of(data), data=data)


def _written(form: str, folders: Sequence[str], place: Path) -> dict[str, Path]:
    """Write each suite to a folder of its own in one form."""
    found: dict[str, Path] = {}
    for number, (label, read) in enumerate(_read(folders)):
        found[label] = place / form / f"{number:04}"
        write_suite(converted(read, form_named(form))[0], str(found[label]))
    return found


# ── Waza ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _waza(checkout: Path, folders: Sequence[str], place: Path) -> list[str]:
    schemas = {name: _schema(checkout, name) for name in ("eval", "task")}
    faults, tasks = [], 0
    written = _written("waza", folders, place)
    for label, folder in written.items():
        documents = {"eval": [folder / "eval.yaml"], "task": sorted((folder / "tasks").glob("*.yaml"))}
        tasks += len(documents["task"])
        faults += [
            f"{label}: {path.name}: {fault.message}"
            for name, paths in documents.items()
            for path in paths
            for fault in schemas[name].iter_errors(_yaml(path))
        ]
    planted = next(folder / "eval.yaml" for folder in written.values())
    if schemas["eval"].is_valid({**_yaml(planted), _UNKNOWN: 1}):
        faults.append("the planted fault was not found")
    print(f"   {counted(len(written), 'suite')} with {counted(tasks, 'task')}: {counted(len(faults), 'fault')}")
    return faults


def _schema(checkout: Path, name: str) -> Any:  # noqa: ANN401 -- jsonschema has no type for its classes
    schema = json.loads((checkout / f"schemas/{name}.schema.json").read_text("utf-8"))
    return jsonschema.validators.validator_for(schema)(schema)


def _yaml(path: Path) -> Any:  # noqa: ANN401 -- YAML
    return yaml.safe_load(path.read_text("utf-8"))


# ── claude plugin eval ───────────────────────────────────────────────────────────────────────────────────────


def _plugin_eval(program: str, folders: Sequence[str], place: Path) -> list[str]:
    plugin = place / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "exported", "version": "1.0.0"}')
    for folder in _written("plugin-eval", folders, place).values():
        for case in folder.iterdir():
            if case.is_dir():
                shutil.copytree(case, plugin / "evals" / f"{folder.name}-{case.name}")
    names = sorted(case.name for case in (plugin / "evals").iterdir())
    # Every case is read before the first one runs, and the cap ends the command after that one.
    _, said = _evaluated(program, plugin, "--max-cost-usd", "0.0000001")
    faults = _refused(said)
    planted = plugin / "evals/zz-planted"
    (planted / "graders").mkdir(parents=True)
    (planted / "prompt.md").write_text("Sort the rows.\n")
    (planted / "graders/a.md").write_text(f"---\ntype: regex\n{_UNKNOWN}: 1\n---\nrows\n")
    if not any(_UNKNOWN in line for line in _refused(_evaluated(program, plugin, "--max-cost-usd", "0.0000001")[1])):
        faults.append("the planted fault was not found")
    shutil.rmtree(planted)
    print(f"   {counted(len(names), 'case')} read: {counted(len(faults), 'fault')}")
    return faults + _really_run(program, plugin, names)


def _really_run(program: str, plugin: Path, names: list[str]) -> list[str]:
    kept = set(names[:: max(1, len(names) // SAMPLE)][:SAMPLE])
    for name in names:
        if name not in kept:
            shutil.rmtree(plugin / "evals" / name)
    report, said = _evaluated(program, plugin, "-j", "2")
    ran = {case["name"]: case["arms"]["with"] for case in report["cases"]}
    graded = sum(len(run.get("graders", ())) for runs in ran.values() for run in runs)
    print(f"   {counted(len(ran), 'case')} run to the end, {counted(graded, 'verdict')} of graders")
    faults = [*_refused(said), *(f"{name} was not run" for name in sorted(kept - ran.keys()))]
    return faults if graded else [*faults, "no grader had a verdict"]


def _evaluated(program: str, plugin: Path, *words: str) -> tuple[dict[str, Any], str]:
    out = plugin.parent / "result.json"
    fixed = ("--ablation", "none", "--runs", "1", "--no-publish", "--trust-plugin", "--json", str(out))
    with ScriptedProvider() as provider:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(plugin.parent),
            "ANTHROPIC_API_KEY": "key-scripted-0000",
            "ANTHROPIC_BASE_URL": provider.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_WALNUT_SPIRE": "1",  # the command asks for it
            "IS_SANDBOX": "1",
        }
        done = subprocess.run(
            [program, "plugin", "eval", str(plugin), *fixed, *words],
            env=environment, cwd=plugin.parent, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
    return json.loads(out.read_text("utf-8")), done.stdout + done.stderr


def _refused(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.lstrip().startswith("✗") or "Couldn't load" in line]


# ── promptfoo, Inspect ───────────────────────────────────────────────────────────────────────────────────────


def _exported(folders: Sequence[str], export: Callable[[ExportedSkill], Mapping[str, bytes]], out: Path) -> list[Path]:
    """Export each skill that has evals. Skills without one, or whose files are missing, are told and left out."""
    found: list[Path] = []
    for number, path in enumerate(files_below(folders)):
        try:
            files = export(exported_skill(str(path.parent.parent)))
        except InvalidArgumentsError as fault:
            print(f"   not exported: {fault}")
            continue
        found.append(out / f"{number:04}")
        write_files(dict(files), str(found[-1]))
    return found


def _promptfoo(program: str, folders: Sequence[str], place: Path) -> list[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(place)}
    environment |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    faults = []
    exported = _exported(folders, promptfoo_files, place)
    for folder in exported:
        said = subprocess.run(
            [program, "validate", "-c", "promptfooconfig.yaml"],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "Configuration is valid" not in said.stdout + said.stderr:
            faults.append(f"{next((folder / 'workspace').rglob('SKILL.md'))}: {(said.stdout + said.stderr)[-300:]}")
    print(f"   {counted(len(exported), 'configuration')} validated: {counted(len(faults), 'fault')}")
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
