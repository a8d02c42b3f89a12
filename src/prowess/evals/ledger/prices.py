"""Prices of models: from genai-prices, or given as `--price IN/OUT`.

The only module that imports genai-prices (extra `evals`). A listed price is an upper bound: the dearest way in which a
provider may charge a text token, such as writing it to a cache for an hour.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.agent import LocalModel, PydanticAIModel, ScriptedModel
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genai_prices.types import ModelInfo, ModelPrice

    from prowess.agent import Model

NANO = 1_000_000_000  # nano-dollars of one US dollar
_PER = 1_000_000  # tokens that a price is stated for
_INPUT = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")  # names in genai-prices
_OUTPUT = ("output_mtok", "output_reasoning_mtok", "output_citation_mtok")


class PriceTier(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens, for requests of more than `above` input tokens."""

    above: int
    input: float
    output: float


class Price(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens, and for each call. The dearest of the tiers that apply holds.

    `given` is true if the user stated the price. Then it alone decides the cost of a call; otherwise the model's own
    account does, which knows cached tokens.
    """

    input: float
    output: float
    call: float = 0.0
    tiers: tuple[PriceTier, ...] = ()
    given: bool = False

    @classmethod
    def parse(cls, text: str) -> Price:
        """Read `IN/OUT`, US dollars per million tokens.

        Raises:
            InvalidArgumentsError: it is something else.
        """
        try:
            into, out = (float(part) for part in text.split("/"))
        except ValueError:
            into = out = -1.0
        if not (0 <= into < math.inf and 0 <= out < math.inf):
            problem = f"--price must be IN/OUT in US dollars per million tokens, such as 0.4/1.6, not {text!r}"
            raise InvalidArgumentsError((problem,))
        return cls(input=into, output=out, given=True)

    def nano_usd(self, input_tokens: int, output_tokens: int) -> int:
        """Return the highest cost of a call with so many tokens, in nano-dollars, rounded up."""
        tiers = [tier for tier in self.tiers if input_tokens > tier.above]
        into = max(self.input, *(tier.input for tier in tiers)) if tiers else self.input
        out = max(self.output, *(tier.output for tier in tiers)) if tiers else self.output
        return nano_of(self.call + (into * input_tokens + out * output_tokens) / _PER)


FREE = Price(input=0.0, output=0.0)


def nano_of(usd: float) -> int:
    """Return US dollars as whole nano-dollars, rounded up."""
    return math.ceil(round(usd * NANO, 3))  # `round` drops the error of the floating-point product


def nano_within(usd: float) -> int:
    """Return US dollars as whole nano-dollars, rounded down. The number is taken as it is written: 1.001 is exact."""
    return int(Decimal(repr(usd)) * NANO)


def listed_price(model: str, *, provider: str | None = None, api_url: str | None = None) -> Price | None:
    """Return the listed price of a provider's model, or None if there is none, or genai-prices is not installed.

    The address is tried before the name of the provider, because one provider may serve the models of others.
    """
    try:
        from genai_prices.data_snapshot import get_snapshot  # optional extra, slow to import
    except ImportError:
        return None
    for place in (
        {"provider_api_url": api_url, "provider_id": None},
        {"provider_api_url": None, "provider_id": provider},
    ):
        if any(place.values()):
            try:
                _, found = get_snapshot().find_provider_model(model, None, **place)
            except LookupError:
                continue
            return _upper_price(found)
    return None


def price_of(model: Model) -> Price | None:
    """Return the price of a model; None if its price is not listed. Models that run in this process are free."""
    if isinstance(model, LocalModel | ScriptedModel):
        return FREE
    if not isinstance(model, PydanticAIModel):
        return None
    name, provider, api_url = model.priced_as
    return listed_price(name, provider=provider, api_url=api_url)


def required_price(price: Price | None, model: str) -> Price:
    """Return the price, which a cap on cost needs. `model` is the name for the message.

    Raises:
        InvalidArgumentsError: there is none.
    """
    if price is None:
        problem = (
            f"{model} has no listed price, so --max-cost-usd cannot be kept; "
            "state it with --price IN/OUT (US dollars per million tokens), or use --max-calls"
        )
        raise InvalidArgumentsError((problem,))
    return price


def _upper_price(model: ModelInfo) -> Price | None:
    """Return the dearest of all prices of a model: at any time of day, for any kind of cache, in any service tier."""
    conditional = model.prices if isinstance(model.prices, list) else []
    listed = [entry.prices for entry in conditional] or ([] if isinstance(model.prices, list) else [model.prices])
    listed += [variant.prices for variant in model.price_variants or ()]
    starts = sorted({0, *(start for price in listed for name in (*_INPUT, *_OUTPUT) for start in _starts(price, name))})
    into, out = (list(_rates(listed, names, starts)) for names in (_INPUT, _OUTPUT))
    if not any(_rate(price, "input_mtok", 0) for price in listed) and not any(out):
        return None
    fees = [_rate(price, "requests_kcount", 0) / 1000 for price in listed]
    tiers = (PriceTier(above=at, input=i, output=o) for at, i, o in zip(starts[1:], into[1:], out[1:], strict=True))
    return Price(input=into[0], output=out[0], call=max(fees, default=0.0), tiers=tuple(tiers))


def _rates(listed: Iterable[ModelPrice], names: Iterable[str], starts: Iterable[int]) -> Iterator[float]:
    prices, keys = list(listed), tuple(names)
    for start in starts:
        yield max((_rate(price, name, start) for price in prices for name in keys), default=0.0)


def _rate(price: ModelPrice, name: str, above: int) -> float:
    value = getattr(price, name)
    if value is None:
        return 0.0
    tiers = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= above]
    return float(tiers[-1] if tiers else getattr(value, "base", value))


def _starts(price: ModelPrice, name: str) -> Iterator[int]:
    for tier in getattr(getattr(price, name), "tiers", ()):
        yield tier.start
