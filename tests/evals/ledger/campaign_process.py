"""Campaigns of real agent runs in processes that can be killed at any moment.

The process that this module is run in imports everything once. For each line of JSON on its standard input it forks a
child that works at the campaign, prints the child's id, and then the child's exit status.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pydantic_ai.models.openai  # noqa: F401 -- before the fork, because it takes seconds

from prowess.agent import Agent, ModelSettings, PydanticAIModel
from prowess.catalog import Catalog
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL, JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.ledger.prices import Price

EXAMPLES = Path(__file__).parents[3] / "examples" / "skills"
RESULTS = "results.jsonl"


async def campaign(order: dict[str, Any]) -> None:
    """Work at the units that have no result yet, `jobs` at once, until all are done or a cap is reached."""
    out = Path(order["out"])
    header = JournalHeader(skill="csv-report", identity={"units": order["units"]})
    price = Price.parse(order["price"])
    results = os.open(out / RESULTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    done = done_units(out)
    waiting = [name for name in (f"unit-{number}" for number in range(order["units"])) if name not in done]
    with Ledger(out / JOURNAL, header, Caps(usd=order.get("usd"), calls=order.get("calls"))) as ledger:
        inner = PydanticAIModel("openai-chat:gpt-4.1-mini")
        settings = ModelSettings(max_output_tokens=order["most"])

        async def work() -> None:
            while waiting and ledger.stopped is None:
                unit = waiting.pop(0)
                ledger.begin(unit)
                model = LedgerModel(inner, ledger, unit, price=price)
                result = await Agent(model, catalog=Catalog(EXAMPLES), settings=settings).run(f"Work at {unit}.")
                if ledger.refusal(unit) is None:
                    line = {"unit": unit, "text": result.text, "ended": result.ended, "reason": result.reason}
                    os.write(results, json.dumps(line).encode() + b"\n")
                    os.fsync(results)

        async with anyio.create_task_group() as tasks:
            for _ in range(order["jobs"]):
                tasks.start_soon(work)
        (out / "spent.json").write_text(json.dumps([ledger.spent.usd, ledger.spent.in_doubt_usd, ledger.stopped]))
    os.close(results)


def done_units(out: Path) -> list[str]:
    """Return the units with a result, each as often as it has one."""
    try:
        lines = (out / RESULTS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line)["unit"] for line in lines]


def _child(order: dict[str, Any]) -> None:
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = order["url"], "none"
    status = 1
    try:
        anyio.run(campaign, order)
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Serve orders until the input ends."""
    print("ready", flush=True)  # noqa: T201 -- the protocol with the test
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _child(order)
        print(child, flush=True)  # noqa: T201 -- as above
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 -- as above


if __name__ == "__main__":
    main()
