"""The error tree: what the docstring draws is what the classes are, and every error survives pickling."""

from __future__ import annotations

import copy
import inspect
import pickle
import re

import pytest

from prowess import errors
from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.errors import SkillError

# The closed list of codes that a model, or a host in another language, may see.
CODES = frozenset(
    {
        *("approval_required", "activation_cycle", "cancelled", "digest_changed", "fork_unavailable", "hook_failed"),
        *("internal", "invalid_arguments", "invalid_request", "limit_exceeded", "not_a_file", "not_text"),
        *("policy_denied", "resource_not_found", "sandbox_unavailable", "script_unsupported", "session_not_found"),
        *("skill_conflict", "skill_invalid", "skill_not_active", "skill_not_found", "store_unavailable", "timeout"),
        *("tool_not_allowed", "tool_not_found", "unavailable", "unsafe_path"),
    }
)

_FAULT = Diagnostic(
    rule="name.format",
    family="spec",
    severity=Severity.ERROR,
    message="must be lowercase",
    location=Location(path="a/SKILL.md", line=2, column=7),
)

# One of each class and the sentence it builds from its facts.
EXAMPLES: list[tuple[SkillError, str]] = [
    (
        errors.SkillParseError("no closing fence", Location(path="a/SKILL.md", line=4), (_FAULT,)),
        "a/SKILL.md:4:1: no closing fence",
    ),
    (errors.InvalidSkillError((_FAULT, _FAULT)), "\n".join(["a/SKILL.md:2:7: name.format: must be lowercase"] * 2)),
    (
        errors.InvalidArgumentsError(("Missing required parameter: names", "Unknown parameter: x")),
        "Missing required parameter: names; Unknown parameter: x",
    ),
    (
        errors.RemoteSkillError("docs", "skill://a/SKILL.md", "no"),
        "skill 'skill://a/SKILL.md' of server 'docs' is refu",
    ),
    (errors.RemoteSkillError("docs", "", "it is silent"), "server 'docs' is refused: it is silent"),
    (errors.SkillNotFoundError("pfd", ("pdf",)), "no skill is called 'pfd'; did you mean 'pdf'?"),
    (
        errors.SkillNotFoundError("pdf", (), "its project is not trusted"),
        "no skill is called 'pdf': its project is not trusted",
    ),
    (errors.SkillNotActiveError("pdf"), "skill 'pdf' is not loaded; call skills.load with names ['pdf'] first"),
    (
        errors.SkillNotActiveError(None),
        "no skill is loaded; call skills.load with the name of one first",
    ),
    (
        errors.SkillConflictError("a", "b"),
        "skills 'a' and 'b' cannot be active at once: 'a' names the other as a conflict",
    ),
    (
        errors.RequiredToolError("a", "Bash", "there is none"),
        "skill 'a' cannot be loaded, because it requires 'Bash': there is none",
    ),
    (errors.SessionNotFoundError("s1"), "session 's1' does not exist or has expired; open a new one"),
    (errors.ToolNotFoundError("skills.laod", ("skills.load",)), "no tool is called 'skills.laod'; did you mean"),
    (errors.ResourceNotFoundError("pdf", "x.md", ("a.md", "b.md")), "skill 'pdf' has no file 'x.md'; did you mean 'a"),
    (errors.NotAFileError("pdf", "docs", ("a.md", "deep/")), "'docs' of skill 'pdf' is a directory, not a file; it h"),
    (errors.NotAFileError("pdf", "docs"), "'docs' of skill 'pdf' is a directory, not a file"),
    (errors.NotTextError("pdf", "a.png"), "'a.png' of skill 'pdf' is not UTF-8 text; read it with encoding 'binary'"),
    (errors.UnsafePathError("../x", "it leaves the skill"), "path '../x' is refused: it leaves the skill"),
    (errors.DigestChangedError("pdf", "SKILL.md"), "'SKILL.md' of skill 'pdf' changed after the skill was loaded; lo"),
    (errors.UnavailableError("the index"), "the index cannot be reached now; try again later"),
    (errors.UnavailableError("the index", 2.5), "the index cannot be reached now; try again in 2.5 s"),
    (errors.LimitExceededError("loaded skills", 8, 9, "unload one"), "loaded skills: 9 is over the limit of 8; unload"),
    (errors.LimitExceededError("depth", 5, 6), "depth: 6 is over the limit of 5"),
    (errors.PolicyDeniedError("no-net", "network is off"), "denied by no-net: network is off"),
    (
        errors.ToolNotAllowedError("Bash", "review", "'&' runs a command in the background"),
        "Tool 'Bash' not allowed by active skill 'review': '&' runs a command in the background. Unload 'review' to li",
    ),
    (
        errors.ApprovalRequiredError("Write", "ask-1", "writing asks"),
        "Tool 'Write' needs the approval of a person: writing asks. Approve request 'ask-1', then send the call again.",
    ),
    (
        errors.ApprovalRequiredError("Write", "ask-1", "writing asks", "Allow it in a policy file."),
        "Tool 'Write' needs the approval of a person: writing asks. Allow it in a policy file.",
    ),
    (errors.ConfigurationError(("a.toml:1: a", "--b: c")), "a.toml:1: a\n--b: c"),
    (errors.PolicyError(("p.toml:1: a", "p.toml:2: b")), "p.toml:1: a\np.toml:2: b"),
    (errors.ScriptUnsupportedError("scripts/a.xyz", "no interpreter"), "'scripts/a.xyz' cannot be run: no interprete"),
    (
        errors.SandboxUnavailableError("bubblewrap", "install it"),
        "sandbox 'bubblewrap' is not available, nothing was run: install it",
    ),
    (errors.ExecTimeoutError(1.5), "not finished within 1.5 s"),
    (errors.OutputLimitError(10, b"0123456789"), "output is over the limit of 10 bytes"),
    (errors.AuditError("/a/audit.jsonl", "read-only"), "audit log /a/audit.jsonl: read-only"),
    (errors.AuditReadError("/a/audit.jsonl", "there is no log here"), "audit log /a/audit.jsonl: there is no log here"),
    (errors.StoreError("sqlite:///a.db", "locked"), "store sqlite:///a.db: locked"),
]


def _label(value: object) -> str:
    return type(value).__name__ if isinstance(value, SkillError) else ""


def _classes() -> list[type[SkillError]]:
    return [
        value
        for _, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, SkillError) and value.__module__ == errors.__name__
    ]


def _drawn() -> dict[str, tuple[str | None, str, frozenset[str]]]:
    """Class → (parent, further base or "", the words after it), read from the drawing."""
    assert errors.__doc__
    found: dict[str, tuple[str | None, str, frozenset[str]]] = {}
    parents: list[str] = []
    for line in errors.__doc__.splitlines():
        match = re.match(r"^ {4}(?P<tree>[│├└─ ]*)(?P<name>\w+Error)(?:\((?P<base>\w+)\))?(?P<rest>.*)$", line)
        if match is None:
            continue
        depth = len(match["tree"]) // 4
        parents[depth:] = [match["name"]]
        words = frozenset(match["rest"].split())
        found[match["name"]] = (parents[depth - 1] if depth else None, match["base"] or "", words)
    return found


def test_the_drawing_names_every_class_with_its_bases() -> None:
    real = {}
    for kind in _classes():
        first, *others = (base.__name__ for base in kind.__bases__)
        real[kind.__name__] = (None if kind is SkillError else first, others[0] if others else "")
    assert {name: drawn[:2] for name, drawn in _drawn().items()} == real


def test_the_drawing_names_the_code_and_the_facts_of_every_class() -> None:
    drawn = _drawn()
    for example, _ in EXAMPLES:
        words = drawn[type(example).__name__][2]
        assert example.code in words
        facts = {word[1:] for word in words if word.startswith(".")}
        assert [fact for fact in facts if not hasattr(example, fact)] == []


def test_there_is_an_example_of_every_class_that_is_raised() -> None:
    branches = {SkillError, errors.ExecutionError}
    assert {type(example) for example, _ in EXAMPLES} == set(_classes()) - branches


@pytest.mark.parametrize(("error", "sentence"), EXAMPLES, ids=_label)
def test_an_error_builds_its_sentence_from_its_facts(error: SkillError, sentence: str) -> None:
    assert str(error).startswith(sentence)


@pytest.mark.parametrize("error", [error for error, _ in EXAMPLES], ids=_label)
def test_an_error_survives_pickling_and_copying(error: SkillError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 -- our own bytes
        assert type(twin) is type(error)
        assert (str(twin), vars(twin)) == (str(error), vars(error))


@pytest.mark.parametrize("kind", _classes(), ids=lambda kind: kind.__name__)
def test_every_code_is_in_the_closed_list(kind: type[SkillError]) -> None:
    assert kind.code in CODES
    assert kind.__doc__


def test_catching_the_root_catches_all_and_the_builtin_bases_work() -> None:
    assert all(issubclass(kind, SkillError) for kind in _classes())
    with pytest.raises(LookupError):
        raise errors.SkillNotFoundError("x")
    with pytest.raises(PermissionError):
        raise errors.PolicyDeniedError("r", "w")
    with pytest.raises(TimeoutError):
        raise errors.ExecTimeoutError(1)
