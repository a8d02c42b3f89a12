"""Write evals and results with `prowess eval export` for the peers that read them, and check promptfoo's reading.

exported_evals.py FOLDER                 write FOLDER/{promptfoo,inspect} and FOLDER/logs/exported
exported_evals.py FOLDER PROMPTFOO       have the program PROMPTFOO validate and run what is there, without a network
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from prowess._internal.text.terminal_text import json_text
from tests.evals.reports.sample_report import sample

PROWESS = Path(sys.executable).with_name("prowess")
PROMPT = "What do I owe? {{ env.HOME }} {% raw %} {# hidden #}"
EVALS = [
    {
        "id": 1,
        "prompt": PROMPT,
        "expected_output": "The sum",
        "assertions": [{"text": "asks", "type": "contains_phrase", "phrase": "{{ env.HOME }}"}],
    }
]


def write(folder: Path) -> None:
    """Write a skill and a run, and export both."""
    shutil.rmtree(folder, ignore_errors=True)
    skill, run = folder / "invoices", folder / "iteration-1"
    (skill / "evals").mkdir(parents=True)
    run.mkdir()
    front = "---\nname: invoices\ndescription: Sums up invoices. Use for sums.\n---\n# Steps\n\nSum up.\n"
    (skill / "SKILL.md").write_text(front, encoding="utf-8")
    evals = {"skill_name": "invoices", "evals": EVALS}
    (skill / "evals" / "evals.json").write_text(json.dumps(evals), encoding="utf-8")
    (run / "report.json").write_text(json_text(sample(3, 4).as_dict()), encoding="utf-8")
    for source, to, out in (
        (skill, "promptfoo", folder / "promptfoo"),
        (skill, "inspect", folder / "inspect"),
        (run, "inspect-log", folder / "logs" / "exported"),
    ):
        subprocess.run([PROWESS, "eval", "export", source, "--to", to, "--out", out], check=True)


def check_promptfoo(folder: Path, program: str) -> None:
    """Validate the configuration, and run it with the provider that returns the prompt."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    place = folder / "promptfoo"
    said = subprocess.run(
        [program, "validate", "-c", "promptfooconfig.yaml"],
        cwd=place, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Configuration is valid" in said.stdout + said.stderr
    out = folder / "promptfoo.json"
    subprocess.run(
        [program, "eval", "-c", "promptfooconfig.yaml", "--providers", "echo", "--no-cache", "-o", out],
        cwd=place, env=environment, capture_output=True, check=False,
    )  # fmt: skip  # exits with 100, because the echo uses no skill
    (result,) = json.loads(out.read_text("utf-8"))["results"]["results"]
    assert result["response"]["output"] == PROMPT, result["response"]
    graded = {one["assertion"]["type"]: one["pass"] for one in result["gradingResult"]["componentResults"]}
    assert graded == {"contains": True, "skill-used": False}, graded
    print("   promptfoo: the configuration is valid, texts are not rendered, skill-used is graded")


if __name__ == "__main__":
    if len(sys.argv) == 2:  # noqa: PLR2004 -- the first form
        write(Path(sys.argv[1]).resolve())
    else:
        check_promptfoo(Path(sys.argv[1]).resolve(), sys.argv[2])
