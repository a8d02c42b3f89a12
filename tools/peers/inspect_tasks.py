"""Inspect (inspect_ai) builds the tasks that `tools.peers.eval_suites inspect FOLDER ...` wrote.

inspect_tasks.py FOLDER         in an environment with inspect_ai
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path


def main(folder: str) -> int:
    """Build each task with and without the skill. Return 1 if one cannot be built, or lacks an eval."""
    samples, faults = 0, []
    places = sorted(path.parent for path in Path(folder).glob("*/task.py"))
    for place in places:
        try:
            samples += _samples(place)
        except Exception as fault:  # noqa: BLE001 -- whatever Inspect raises is a finding
            faults.append(f"{place.name}: {type(fault).__name__}: {fault}")
    print(f"   {len(places)} tasks built, with and without the skill, {samples} samples: {len(faults)} faults")
    for line in faults[:5]:
        print(f"   {line}")
    return 1 if faults or not places else 0


def _samples(place: Path) -> int:
    spec = importlib.util.spec_from_file_location(f"task_{place.name}", place / "task.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    prompts = [json.loads(line)["input"] for line in (place / "dataset.jsonl").read_text("utf-8").split("\n") if line]
    for with_skill in (True, False):
        task = module.evals(with_skill=with_skill, sandbox="local")
        read = [sample.input for sample in task.dataset]
        assert read == prompts, f"{len(read)} of {len(prompts)} evals, or other texts"
    return len(prompts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
