"""The host that a campaign runs on: our own agent with a model, or the command line of another agent."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from prowess.agent import model_named
from prowess.errors import InvalidArgumentsError
from prowess.evals.hosts.command_host import CommandHost
from prowess.evals.hosts.own_agent import OwnAgent
from prowess.evals.hosts.programs import host_program
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.prices import price_of, required_price

if TYPE_CHECKING:
    from prowess.agent import Model
    from prowess.evals.hosts.host import Host
    from prowess.evals.ledger.calls import Calls
    from prowess.evals.ledger.caps import Caps
    from prowess.evals.ledger.prices import Price


def chosen_host(
    name: str, calls: Calls, *, model: str | None, price: Price | None, caps: Caps, is_replay: bool
) -> Host:
    """Return the host of this name. With `is_replay`, calls are replayed, and no model is needed.

    Raises:
        InvalidArgumentsError: there is no such host, it is not installed, or a model or a price is missing.
    """
    if name != OWN_HOST:
        return CommandHost(host_program(name), calls, model=model, price=price)
    model = require_model(model)
    made = None if is_replay else model_named(model)
    return OwnAgent(made, calls, model_name=model, price=model_price(made, model, price=price, caps=caps))


def require_host_is_named(given: str | None, *, recorded: str, replay: str) -> None:
    """Require that the user names the command line that a replay starts: a recording may come from somebody else.

    Only our own agent, whose tools are in the sandbox, is taken from the recording. `replay` is its path.

    Raises:
        InvalidArgumentsError: `given` is None, and `recorded` is another host.
    """
    if given is None and recorded != OWN_HOST:
        problem = f"{replay} was recorded with --host {recorded}, whose program runs outside the sandbox"
        advice = f"if you trust the recording, add --host {shlex.quote(recorded)}; a recording does not choose it"
        raise InvalidArgumentsError((f"{problem}; {advice}",))


def require_model(name: str | None) -> str:
    """Return the name of the model of our own agent.

    Raises:
        InvalidArgumentsError: there is none.
    """
    if name is None:
        raise InvalidArgumentsError(("name the model with --model, such as anthropic:claude-sonnet-4-5",))
    return name


def model_price(model: Model | None, name: str, *, price: Price | None, caps: Caps) -> Price | None:
    """Return the price that was given, or the listed one. A model that is replayed has none.

    Raises:
        InvalidArgumentsError: there is a cap on cost, and no price.
    """
    found = price or (None if model is None else price_of(model))
    return required_price(found, f"model {name}") if caps.usd is not None and model is not None else found
