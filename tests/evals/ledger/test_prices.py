"""Prices that bound what a call can cost."""

from __future__ import annotations

from decimal import Decimal

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.prices import FREE, Price, listed_price, required_price


def test_a_stated_price_is_per_million_tokens() -> None:
    price = Price.parse("0.4/1.6")
    assert (price.input, price.output, price.given) == (0.4, 1.6, True)
    assert price.nano_usd(1_000_000, 1_000_000) == 2_000_000_000
    assert price.nano_usd(1, 0) == 400


@pytest.mark.parametrize("text", ["", "1", "1/2/3", "a/b", "-1/2", "1/-2", "nan/1", "1/inf", "1e999/1"])
def test_a_price_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=r"such as 0\.4/1\.6"):
        Price.parse(text)


def test_a_fraction_of_a_nano_dollar_is_rounded_up() -> None:
    assert Price(input=0.00001, output=0).nano_usd(1, 0) == 1
    assert FREE.nano_usd(10**9, 10**9) == 0


def test_a_price_of_each_call_is_added() -> None:
    assert Price(input=0, output=0, call=0.01).nano_usd(0, 0) == 10_000_000
    assert Price(input=1, output=2, call=0.01).nano_usd(10, 10) == 10_030_000


def test_above_a_tier_all_tokens_cost_its_price_unless_the_lower_one_is_dearer() -> None:
    price = Price.parse("1/2")
    tiered = listed_price("gemini-2.5-pro", provider="google")
    assert tiered is not None
    assert price.tiers == ()
    (tier,) = tiered.tiers
    assert tiered.nano_usd(tier.above, 0) == round(tier.above * tiered.input * 1000)
    assert tiered.nano_usd(tier.above + 1, 0) == round((tier.above + 1) * tier.input * 1000)


@pytest.mark.parametrize(
    ("model", "provider"),
    [("gpt-4.1-mini", "openai"), ("gpt-5", "openai"), ("claude-sonnet-4-5", "anthropic"), ("gemini-2.5-pro", "google")],
)
@pytest.mark.parametrize("tokens", [1_000, 300_000])
def test_a_listed_price_bounds_every_way_in_which_tokens_are_charged(model: str, provider: str, tokens: int) -> None:
    genai_prices = pytest.importorskip("genai_prices")
    price = listed_price(model, provider=provider)
    assert price is not None
    most = price.nano_usd(tokens, tokens)
    for kind in (
        {},
        {"cache_read_tokens": tokens},
        {"cache_write_tokens": tokens},
        {"cache_write_tokens": tokens, "cache_write_1h_tokens": tokens},
    ):
        usage = genai_prices.Usage(input_tokens=tokens, output_tokens=tokens, **kind)
        charged = genai_prices.calc_price(usage, model, provider_id=provider).total_price
        assert charged * Decimal(10**9) <= most


def test_a_model_without_a_price_cannot_have_a_cap_on_cost() -> None:
    assert listed_price("no-such-model", provider="openai") is None
    assert listed_price("gpt-5", provider="no-such-provider") is None
    assert listed_price("gpt-5", api_url="http://127.0.0.1:1/v1", provider="openai") is not None
    with pytest.raises(InvalidArgumentsError, match=r"model 'm' has no listed price.*--price IN/OUT"):
        required_price(None, "model 'm'")


@pytest.mark.parametrize("caps", [{"usd": 0}, {"tokens": 0}, {"calls": 0}, {"usd": -1.0}, {"usd": float("nan")}])
def test_a_cap_that_is_not_above_zero_is_refused(caps: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentsError, match=r"--max-\S+ must be above 0; leave it out"):
        Caps(**caps)
