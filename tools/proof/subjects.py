"""What is compared: for each question to the model, the Python code that answers it too, and the inputs.

A subject gives pairs of a question and of what our code says to the same input; the model has to say the same. The
modules are named, not their functions, so that what is compared is what runs. Inputs are all short texts over a small
alphabet, the boundaries, and texts drawn with a fixed seed.
"""

from __future__ import annotations

import html
import random
import tempfile
from itertools import chain, combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, cast

from prowess._internal.files import contained
from prowess.catalog import catalog_index
from prowess.catalog.entry import SkillEntry
from prowess.catalog.layers import Layer
from prowess.catalog.memo.readings import Reading
from prowess.catalog.viewing.left_out import LeftOut
from prowess.errors import UnsafePathError
from prowess.format import limits, name, parsing, reading, role
from prowess.format.fields import allowed_tools
from prowess.format.rules import body_rules
from prowess.runtime.disclosure import model_texts
from tools.proof.questions import absent_or, escaped, items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.catalog.sources import CatalogSource

    Pairs = Iterator[tuple[str, str]]

SEED = 12
_WILD = "az09-A_ ./\\:~%\n\t\0\x7f\u00e9\u00df\u0130\u212a\uff0f\u2024\u2025\ud800\udfff\uffff\U0001d41a<>&\"'(),"
_RANKS = len(Layer)


class Subject(NamedTuple):
    """`python` names the code that is compared, `predicates` what of the model answers."""

    name: str
    python: str
    predicates: tuple[str, ...]
    pairs: Callable[[], Pairs]


def all_texts(alphabet: str, length: int) -> Iterator[str]:
    """Every text over `alphabet` of at most `length` characters, the shortest first."""
    return ("".join(chars) for count in range(length + 1) for chars in product(alphabet, repeat=count))


def drawn_texts(count: int, length: int, alphabet: str = _WILD) -> Iterator[str]:
    """Texts drawn with the seed."""
    draw = random.Random(SEED)  # noqa: S311 -- the same texts on every run are wanted
    return ("".join(draw.choices(alphabet, k=draw.randint(0, length))) for _ in range(count))


def _bits(*values: bool) -> str:
    return "".join("1" if value else "0" for value in values)


def names() -> Pairs:
    """Names: each rule by itself, and all together."""
    edges = [pattern * 33 for pattern in ("a", "-a", "a-", "ab", "1b")]
    long = [text[:length] for text in edges for length in (*range(60, 66), 1)]
    for raw in chain(all_texts("az09-A_\u00e9", 5), long, drawn_texts(6000, 70), drawn_texts(6000, 66, "ab1-")):
        text = name.normalise(raw)
        kinds = {fault.kind for fault in name.name_faults(text)}
        portable = name.is_portable(text)
        valid = bool(text) and not kinds and portable
        length = bool(text) and "length" not in kinds
        chars = portable and not kinds & {"case", "character"}
        yield f"name\t{escaped(text)}", _bits(valid, valid, length, chars, "edge" not in kinds, "double" not in kinds)


def paths() -> Pairs:
    """Paths of resources, and the components they come to."""
    parts = ("", ".", "..", "...", "a", "a..b", "..a", "a:", "C:", "~", "%2e%2e", "\u2025", "\\", "a\\..", "\0")
    joined = ("/".join(some) for count in (1, 2, 3) for some in product(parts, repeat=count))
    for text in chain(all_texts("a./\\:", 6), joined, drawn_texts(6000, 20)):
        try:
            answer = "+" + "/".join(contained.check_relative(text))
        except UnsafePathError:
            answer = "-"
        yield f"path\t{escaped(text)}", escaped(answer)


def links() -> Pairs:
    """Links in a text, which may go up and come back."""
    for text in chain(all_texts("a./", 8), drawn_texts(3000, 20, "a./b")):
        components = body_rules.inner_components(text)
        yield f"link\t{escaped(text)}", "-" if components is None else "+" + "/".join(components)


def front_matter_fences() -> Pairs:
    """Where frontmatter begins and ends."""
    lines = ("---", "--- ", "---\t", "----", "--", "-- -", "", "a", "---x", " ---")
    joined = ("\n".join(some) for count in (1, 2, 3, 4) for some in product(lines, repeat=count))
    for text in chain(all_texts("-\na", 9), joined):
        found = parsing.find_fences(text)
        yield f"fences\t{escaped(text)}", _bits(found.opening == 0 and found.end is not None)


def tools() -> Pairs:
    """Rows of tools."""
    for text in chain(all_texts("B ,()", 6), drawn_texts(4000, 30, "Bash(git:*) ,\n\t\r")):
        yield f"tools\t{escaped(text)}", _bits(allowed_tools.parse_allowed_tools(text).fault is None)


def xml() -> Pairs:
    """Names and descriptions in XML, as `to-prompt` writes them: by the standard library."""
    for text in chain(all_texts("<>&\"'a;", 4), drawn_texts(2000, 30)):
        yield f"escape\t{escaped(text)}", escaped(html.escape(text))


def bodies() -> Pairs:
    """Lines and estimated tokens of a body, and whether they fit."""
    bounds = (
        part * count + extra for part in ("\n", "a\n", "aaaa") for count in (499, 500, 501, 5000) for extra in ("", "a")
    )
    for text in chain(all_texts("a\n\r", 7), bounds, drawn_texts(2000, 60)):
        lines, tokens = body_rules.body_lines(text), model_texts.estimate_tokens(text)
        fits = _bits(lines <= limits.MAX_BODY_LINES, tokens <= limits.MAX_BODY_TOKENS)
        yield f"body\t{escaped(text)}", f"{lines} {tokens} {fits}"


def skill_files() -> Pairs:
    """Which file of a directory is the skill's, on disk."""
    spellings = ("SKILL.md", "skill.md", "Skill.md", "README.md", "SKILL.md.txt")
    for some in chain.from_iterable(combinations(spellings, count) for count in range(len(spellings) + 1)):
        with tempfile.TemporaryDirectory() as place:
            for spelling in some:
                Path(place, spelling).write_bytes(b"")
            document = reading.read_document(place)
            missing = any(found.rule == "file.missing" for found in document.diagnostics)
            answer = "-" if missing else "+" + Path(document.path or "").name
        yield f"files\t{items(some)}", answer


def winners() -> Pairs:
    """Which copy of a name answers to it, with and without a skipped skill that keeps the name."""
    sources = [cast("CatalogSource", SimpleNamespace(layer=layer, root="/s", named="/s", label="s")) for layer in Layer]
    for count in range(6):
        for ranks in product(range(_RANKS), repeat=count):
            entries = [_entry(sources[rank], number) for number, rank in enumerate(ranks)]
            in_order = sorted(entries, key=lambda entry: entry.layer.rank)  # as a catalog sorts its sources
            for holder in (None, *range(_RANKS)):
                skipped = [] if holder is None else [_skipped(sources[holder])]
                winner = catalog_index.CatalogIndex(in_order, skipped=skipped).winner("deploy")
                answer = "-" if winner is None else f"+{entries.index(winner)}"
                yield f"winner\t{absent_or(holder)}\t{''.join(map(str, ranks))}", answer


def _skipped(source: CatalogSource) -> LeftOut:
    return LeftOut(("deploy",), rule="frontmatter.missing", reason="a fault", location="/s", source=source)


def _entry(source: CatalogSource, number: int) -> SkillEntry:
    reading = Reading("deploy", "SKILL.md", b"", stamp=0, settled=False)
    return SkillEntry(reading, source, str(number))


def trits() -> Pairs:
    """The trit, its writing and the role of a name; the model's side computes the digest by itself."""
    known = (
        "pdf",
        "code-review",
        "xlsx",
        "hello",
        "test-skill",
        "pdf-processing",
        "data-analysis",
        "gay-mcp",
        "acsets",
    )
    for raw in chain(known, all_texts("ab-1", 5), drawn_texts(3000, 40, "abcxyz019-\u00e9\u6570\U0001d41a")):
        text = name.normalise(raw)
        found = role.role_of(text)
        yield f"trit\t{text.encode().hex()}", f"{found.trit} {int(found.balanced)} {found.title}"


def balances() -> Pairs:
    """Sums of trits, balance, and what a set lacks."""
    for some in chain.from_iterable(product(role.Role, repeat=count) for count in range(7)):
        balancer = role.balancer(some)
        total = -balancer.trit % len(role.Role)
        digits = "".join(str(one.trit) for one in some)
        yield f"trits\t{digits}", f"{total} {_bits(role.is_balanced(some))} {balancer.trit}"
