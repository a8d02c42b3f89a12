"""Inspect (inspect_ai) with what `prowess eval export` wrote: its task runs, and its logs open.

inspect_reader.py TASK_FOLDER LOG_FOLDER        in an environment with inspect_ai
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tiktoken
from inspect_ai import eval as run
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput, get_model

INSPECT = str(Path(sys.executable).with_name("inspect"))


class _Words:
    """A tokenizer that needs no download."""

    def encode(self, text: str, **_: object) -> list[str]:
        return text.split()


def main(task: str, logs: str) -> int:
    """Run the task with a model of scripted answers, and open the logs in three ways."""
    vars(tiktoken)["get_encoding"] = lambda _name: _Words()  # see there
    skill = next(path.parent.name for path in Path(task).glob("skills/*/SKILL.md"))
    answers = [
        ModelOutput.for_tool_call("mockllm/model", "skill", {"command": skill}),
        ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "{{ env.HOME }} is no sum."}),
    ]
    model = get_model("mockllm/model", custom_outputs=answers * 20)
    grader = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", "GRADE: C")] * 20)
    os.chdir(task)
    done = run(
        "task.py",
        model=model,
        model_roles={"grader": grader},
        task_args={"sandbox": "local"},
        log_dir=f"{logs}/own",
        max_samples=1,
        display="none",
        limit=1,
    )[0]
    assert done.status == "success", done.error
    assert done.samples is not None
    scores = {name: score.value for name, score in (done.samples[0].scores or {}).items()}
    assert scores == {"checks": "C", "skill_used": "C", "model_graded_qa": "C"}, scores
    print(f"   the task ran: {scores}")
    return _open(f"{logs}/exported")


def _open(folder: str) -> int:
    listed = list_eval_logs(folder)
    assert listed, "list_eval_logs finds no log"
    for one in listed:
        log = read_eval_log(one)
        assert log.samples, one.name
        assert log.results is not None
        accuracy = log.results.scores[0].metrics["accuracy"].value
        dumped = subprocess.run([INSPECT, "log", "dump", one.name], capture_output=True, text=True, check=True)
        assert json.loads(dumped.stdout)["eval"]["task"] == log.eval.task
        print(f"   {log.eval.task}: {len(log.samples)} samples, accuracy {accuracy:.2f}")
    _view(folder, len(listed))
    return 0


def _view(folder: str, count: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [INSPECT, "view", "--log-dir", folder, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as view:
        try:
            listed = _asked(f"http://127.0.0.1:{port}/api/logs")
            names = [one["name"] for one in listed.get("files") or listed["logs"]]
            assert len(names) == count, names
            for name in names:
                log = _asked(f"http://127.0.0.1:{port}/api/logs/{quote(name, safe='')}")
                assert log["samples"], name
            print(f"   inspect view serves {count} logs")
        finally:
            view.terminate()


def _asked(address: str) -> Any:  # noqa: ANN401 -- JSON
    for _ in range(60):
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310 -- the server that we started
                return json.load(answer)
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{address} does not answer")


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
