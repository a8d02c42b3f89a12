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
from typing import TYPE_CHECKING, NamedTuple

from prowess._internal.files import contained
from prowess._internal.layers_order import LAYERS_ORDERS
from prowess.catalog import Catalog
from prowess.catalog.layers import Layer
from prowess.catalog.sources.directory import DirectorySource
from prowess.errors import SkillNotFoundError, UnsafePathError
from prowess.format import limits, name, parsing, reading, role
from prowess.format.fields import allowed_tools
from prowess.format.rules import body_rules
from prowess.runtime.disclosure import model_texts
from tools.proof.questions import absent_or, escaped, items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess._internal.layers_order import LayersOrder

    Pairs = Iterator[tuple[str, str]]

SEED = 12
_WILD = "az09-A_ ./\\:~%\n\t\0\x7f\u00e9\u00df\u0130\u212a\uff0f\u2024\u2025\ud800\udfff\uffff\U0001d41a<>&\"'(),"
_MOST_SOURCES = 4
_LEFT_OUT = ("name: deploy", "name: deploy\ndescription: d\nscope: {agents: other}")  # a fault; not for this viewer


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
    """Which copy of a name a catalog of real files gives, in both orders of layers, with and without one left out.

    Every pair of copies is asked about in every layer, priority and place, and so are larger sets drawn at random.
    """
    with tempfile.TemporaryDirectory() as place:
        kinds = ("enterprise", "personal", "project", "plugin", "fetched")
        held = (None, *Layer)
        for order, holder in product(LAYERS_ORDERS, held):
            yield _winner(place, order, holder, ())
            for kind, (first, second) in product(kinds, product((-1, 0, 1), repeat=2)):
                yield _winner(place, order, holder, ((kind, (first, second)),))
                for other in kinds:
                    yield _winner(place, order, holder, ((kind, (first,)), (other, (second,))))
        draw = random.Random(SEED)  # noqa: S311 -- the same sets on every run are wanted
        for _ in range(1500):
            count = draw.randint(1, _MOST_SOURCES)
            priorities = [tuple(draw.choices((-1, 0, 1), k=draw.randint(1, 2))) for _ in range(count)]
            sources = tuple(zip(draw.choices(kinds, k=count), priorities, strict=True))
            yield _winner(place, draw.choice(LAYERS_ORDERS), draw.choice(held), sources, draw.choice(_LEFT_OUT))


def _winner(
    place: str,
    order: LayersOrder,
    holder: Layer | None,
    given: tuple[tuple[str, tuple[int, ...]], ...],
    front: str = _LEFT_OUT[0],
) -> tuple[str, str]:
    """Ask about sources of these kinds, each with a copy of every priority.

    `holder` is the layer of a copy that is left out, `front` its front matter.
    """
    sources: list[DirectorySource] = []
    written, locations = [], []
    for number, (kind, priorities) in enumerate(given):
        layer = Layer.PLUGIN if kind == "fetched" else Layer(kind)
        root = f"{place}/{number}{''.join(f'{priority:+d}' for priority in priorities)}"
        sources.append(_Fetched(root, layer=layer) if kind == "fetched" else DirectorySource(root, layer=layer))
        for path, priority in enumerate(priorities):
            locations.append(_write_copy(f"{root}/{path}", f"name: deploy\ndescription: d\npriority: {priority}"))
            written.append(f"{layer},{priority},{int(kind == 'fetched')},{number},{path}")
    if holder is not None:
        root = f"{place}/{_LEFT_OUT.index(front)}"
        _write_copy(root, front)
        sources.append(DirectorySource(root, layer=holder))
    question = f"winner\t{order}\t{absent_or(holder)}\t{';'.join(written)}"
    try:
        found = Catalog(*sources, layers_order=order).get("deploy")
    except SkillNotFoundError:
        return question, "-"
    return question, f"+{locations.index(found.location)}"


def _write_copy(group: str, front: str) -> str:
    document = Path(group, "deploy", "SKILL.md")
    if not document.exists():
        document.parent.mkdir(parents=True)
        document.write_text(f"---\n{front}\n---\n", encoding="utf-8")
    return str(document.resolve())


class _Fetched(DirectorySource):
    """A source of another server's skills."""

    origin = "https://example.org"


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
