"""The error tree: what the docstring draws is what the classes are, and every error survives pickling."""

from __future__ import annotations

import builtins
import copy
import importlib
import pickle
import pkgutil
import re
from typing import TYPE_CHECKING

import pytest

import prowess
from prowess import errors, tools
from prowess._internal import places, yaml_reader
from prowess._internal.files import workspace_root
from prowess._internal.shell import syntax_tree
from prowess._internal.text import canonical_json, strict_json
from prowess.agent import create_skill, model, transcript, turn_loop
from prowess.audit import log as audit_log
from prowess.audit import machine_wire
from prowess.audit import record as audit_record
from prowess.audit.record import AuditRecord
from prowess.audit.transparency import export as audit_export
from prowess.catalog.memo.readings import LookInFullError
from prowess.catalog.watching.notifications import NoNotificationsError
from prowess.cli import signals
from prowess.cli.commands import read as read_command
from prowess.cli.commands import run as run_command
from prowess.compat.skills_ref import errors as reference_errors
from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.distribution.installation.apply import LockReplacedError
from prowess.distribution.installation.requests import SeveralSkillsError
from prowess.errors import MissingExtraError, SkillError
from prowess.evals.graders.judge import JudgeError
from prowess.evals.graders.registry import GraderNotFoundError
from prowess.evals.ledger.caps import CapReachedError
from prowess.evals.ledger.journal import JournalError
from prowess.evals.optimising.measuring import StoppedError
from prowess.evals.pytest_items import ScenarioFailedError
from prowess.evals.recordings.drift import DriftError, StaleRecordingError
from prowess.evals.scenarios.assertions import AssertionUndecidedError
from prowess.evals.scenarios.doubles import DoubleAnsweredError, NoResponseError
from prowess.evals.statistics.outcome_files import OutcomeFileError
from prowess.evals.transcripts.reading import TranscriptFileError
from prowess.evals.transcripts.records import FaultyLineError
from prowess.evals.verdicts.case_files import CaseFileError
from prowess.execution import staging
from prowess.format.suites.changes import ChangesDoNotFitError
from prowess.format.suites.suite import SuiteError, SuiteFileError, UnreadableTextError
from prowess.governance.approving import VoteRefusedError
from prowess.governance.service.listing import NoSuchItemError
from prowess.http_server.api.decoding import BadRequestError
from prowess.http_server.login.refusals import LoginRefusedError
from prowess.lockfile.foreign import locale_order
from prowess.runtime import forks as session_forks
from prowess.runtime import json_lines
from prowess.runtime.activation import stack as activation_stack
from prowess.runtime.hooks import answer
from prowess.runtime.hooks import runner as hooks
from prowess.runtime.tools import read as read_tool
from prowess.store import index_faults, sqlite
from prowess.tools import gates
from prowess.tools.builtin import workspace
from prowess.tools.functions import function_tool, json_values
from prowess.tools.functions.annotations import UnsupportedFunctionError

if TYPE_CHECKING:
    from collections.abc import Iterator

# The closed list of codes that a model, or a host in another language, may see.
CODES = frozenset(
    {
        *("approval_required", "activation_cycle", "cancelled", "digest_changed", "fork_unavailable", "hook_failed"),
        *("internal", "invalid_arguments", "invalid_request", "limit_exceeded", "not_a_file", "not_text"),
        *(
            "policy_denied",
            "policy_invalid",
            "resource_not_found",
            "sandbox_unavailable",
            "script_unsupported",
            "session_not_found",
        ),
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

_RECORD = AuditRecord(sequence=1, at="now", kind="a", session_id=None, call_id=None, data={}, previous=None, hash="h")

# One of each class and the sentence it builds from its facts.
EXAMPLES: list[tuple[BaseException, str]] = [
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
    (errors.RemoteSkillError("docs", None, "it is silent"), "server 'docs' is refused: it is silent"),
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
    (errors.ResourceNotFoundError(None, "a.csv"), "no script of this session left an artifact 'a.csv'"),
    (errors.NotTextError(None, "a.png"), "artifact 'a.png' is not UTF-8 text; read it with encoding 'binary'"),
    (errors.NotAFileError("pdf", "docs", ("a.md", "deep/")), "'docs' of skill 'pdf' is a directory, not a file; it h"),
    (errors.NotAFileError("pdf", "docs"), "'docs' of skill 'pdf' is a directory, not a file"),
    (errors.NotTextError("pdf", "a.png"), "'a.png' of skill 'pdf' is not UTF-8 text; read it with encoding 'binary'"),
    (errors.UnsafePathError("../x", "it leaves the skill"), "path '../x' is refused: it leaves the skill"),
    (errors.DigestChangedError("pdf", "SKILL.md"), "'SKILL.md' of skill 'pdf' changed after the skill was loaded; lo"),
    (errors.UnavailableError("the index"), "the index cannot be reached now; try again later"),
    (
        errors.UnavailableError("./skills", None, "it does not exist", "check the path"),
        "./skills (it does not exist) cannot be reached now; check the path",
    ),
    (errors.UnavailableError("the index", 2.5), "the index cannot be reached now; try again in 2.5 s"),
    (
        errors.UnavailableError("the index", 1, "it is written to"),
        "the index (it is written to) cannot be reached now; t",
    ),
    (errors.LimitExceededError("loaded skills", 8, 9, "unload one"), "loaded skills: 9 is over the limit of 8; unload"),
    (errors.LimitExceededError("depth", 5, 6), "depth: 6 is over the limit of 5"),
    (errors.LimitExceededError("depth", 5, None, "nest less"), "depth: more than the limit of 5; nest less"),
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
    (SuiteError("evals.json is no suite"), "evals.json is no suite"),
    (UnreadableTextError("is not JSON", 3), "is not JSON"),
    (SuiteFileError("has no prompt", "a/prompt.md", 0, 1), "a/prompt.md:1: has no prompt"),
    (ChangesDoNotFitError(), ""),
    (FaultyLineError(), ""),
    (OutcomeFileError("a.json", "rows is empty"), "a.json: rows is empty"),
    (GraderNotFoundError("sum", ("sums",)), "no grader is called 'sum'"),
    (DoubleAnsweredError("it is down"), "it is down"),
    (NoResponseError("Fetch", "{}"), "no response of the case fits the call of Fetch with {}"),
    (AssertionUndecidedError("no grader"), "no grader"),
    (errors.ConfigurationError(("a.toml:1: a", "--b: c")), "a.toml:1: a\n--b: c"),
    (errors.PolicyError(("p.toml:1: a", "p.toml:2: b")), "p.toml:1: a\np.toml:2: b"),
    (errors.ScriptUnsupportedError("scripts/a.xyz", "no interpreter"), "'scripts/a.xyz' cannot be run: no interprete"),
    (
        errors.SandboxUnavailableError("bubblewrap", "install it"),
        "sandbox 'bubblewrap' is not available, nothing was run: install it",
    ),
    (errors.ExecTimeoutError(1.5), "Timeout exceeded: it was ended after 1.5 s"),
    (errors.ExecTimeoutError(1.5, "the search", "; wait"), "Timeout exceeded: the search was ended after 1.5 s; wait"),
    (errors.AuditError("/a/audit.jsonl", "read-only"), "audit log /a/audit.jsonl: read-only"),
    (errors.AuditReadError("/a/audit.jsonl", "there is no log here"), "audit log /a/audit.jsonl: there is no log here"),
    (errors.AuditError(None, "there is none"), "audit log of this session: there is none"),
    (errors.StoreError("sqlite:///a.db", "locked"), "store sqlite:///a.db: locked"),
    (errors.StoreError(None, "damaged"), "store of this session: damaged"),
    (errors.DistributionError("no package is called 'a'"), "no package is called 'a'"),
    (errors.LockfileError(Location(path="prowess.lock", line=3), "unknown key 'x'"), "prowess.lock:3:1: unknown key"),
    (errors.IntegrityError("a.zip", "sha256:1", "sha256:2"), "a.zip has the digest sha256:2, but sha256:1 was recor"),
    (errors.SignatureError("a", "unknown key"), "the signature of a is not accepted: unknown key"),
    (errors.SigningKeyError("the key of a", "it is not private"), "the key of a cannot be used: it is not private"),
    (errors.ResolutionError("a needs b ^2, c needs b ^1"), "a needs b ^2, c needs b ^1"),
    (SeveralSkillsError("./skills", ("a", "b")), "./skills has 2 skills: a, b; name some with --skill, or all"),
    (json_lines.InvalidRequestError("send an object"), "invalid request: send an object"),
    (create_skill.SkillExistsError("a", "/s/a"), "a skill 'a' exists already (/s/a) and is not overwritten"),
    (
        read_tool.SectionNotFoundError("pdf", "a.md", "x", ("y",)),
        "'a.md' of skill 'pdf' has no section 'x'; it has",
    ),
    (read_tool.SectionNotFoundError(None, "a.md", "x"), "artifact 'a.md' has no section 'x'"),
    (workspace.NoSuchFileError("a", ("b",)), "File not found: a; did you mean b?"),
    (workspace.WrongKindError("a", "directory", "list it"), "a is a directory; list it"),
    (workspace.NoTextError("a", "utf-8", "read bytes"), "a is not utf-8 text; read bytes"),
    (workspace.OutsideWorkspaceError("/a", "it is outside"), "Permission denied: /a: it is outside"),
    (workspace.AccessRefusedError("a", "it is read-only"), "Permission denied: a: it is read-only"),
    (workspace.ChangedError("a"), "a was changed while it was edited, so nothing was written"),
    (places.WorkingDirectoryError(), "the working directory no longer exists"),
    (model.ModelError("m", "no key"), "model 'm' gave no answer: no key"),
    (turn_loop.SubAgentError("a", "it stopped"), "the sub-agent of skill 'a' gave no answer: it stopped"),
    (transcript.TranscriptError("t.jsonl", "full disk"), "transcript t.jsonl cannot be written: full disk"),
    (
        errors.SkillApprovalRequiredError("skills.load", "skill-1", "skill 'a' needs it", "Ask ada", "a", None, 2, 1),
        "skill 'a' needs it. Ask ada",
    ),
    (errors.ServerAnswerError(503, "unavailable", "it cannot sign"), "it cannot sign"),
    (NoSuchItemError("block", "block-1"), "there is no block 'block-1'"),
    (VoteRefusedError("ada has approved 'a' already"), "ada has approved 'a' already"),
    (errors.ConsentRequiredError(("major",), ("a",), ("- 1",)), "a: the change needs your consent"),
    (MissingExtraError("a.b", "c", "No module"), "a.b needs a library that cannot be imported (No module)"),
    (activation_stack.ActivationCycleError(("a", "b", "a")), "'a' is running already"),
    (
        session_forks.ForkUnavailableError("a", "none here"),
        "skill 'a' needs a sub-agent, which is not available: none here",
    ),
    (hooks.HookFailedError("a", "before", "x.sh", "refused", "no"), "the before hook 'x.sh' of skill 'a' refused: no"),
    (function_tool.FunctionFailedError("f", "no"), "f failed: no"),
    (
        gates.ApproverError("ask", "returned None"),
        "the approver ask of this host returned None; nothing was approved and the call was not run",
    ),
    (JudgeError("m", "no JSON"), "judge 'm' gave no grades: no JSON"),
    (CaseFileError("cases.jsonl", 0, "the file has no case"), "cases.jsonl: the file has no case"),
    (CaseFileError("cases.jsonl", 3, "no skill"), "cases.jsonl:3: no skill"),
    (TranscriptFileError("a.jsonl", "it is a pipe"), "transcript a.jsonl cannot be read: it is a pipe"),
    (ScenarioFailedError("no"), "no"),
    (StoppedError("cost_cap", None), "cost_cap"),
    (CapReachedError("cost_cap", "1 US dollar", "2 US dollars"), "a call was not made: it may need 2 US dollars, and"),
    (JournalError("a/b", "is a symbolic link", "replace it"), "journal a/b is a symbolic link; replace it"),
    (DriftError("one", 2, "-a\n+b"), "request 2 of one is not the recorded one; run prowess eval again"),
    (StaleRecordingError("run-1", "SKILL.md"), "the recording run-1 is stale: SKILL.md changed since"),
    (function_tool.FunctionTimeoutError("f", 2), "Timeout exceeded: f did not finish within 2 s"),
    (UnsupportedFunctionError("f: no"), "f: no"),
    (json_values.NotJsonValueError("a", "of type 'set'"), "a is of type 'set', which has no JSON form"),
    (tools.NotThroughExecutorError("Read"), "tool 'Read' was not called through ToolExecutor.call, so it did nothing"),
    (staging.StageError("/c", "free space"), "the cache /c cannot be used, nothing was run: free space"),
    (read_command.NotShownError("pdf", "a.py"), "'a.py' is a script: it is run, not shown; use prowess run pdf a.py"),
    (run_command.UnknownScriptError("pdf", "a", ("b", "c")), "skill 'pdf' has no script 'a'; it has b, c"),
    (reference_errors.ParseError("no fence"), "no fence"),
    (reference_errors.ValidationError("no name", ["no name", "b"]), "no name"),
    (yaml_reader.LibyamlMissingError(), "PyYAML was installed without libyaml"),
    (syntax_tree.GrammarMissingError("no grammar"), "no grammar"),
    (canonical_json.NotJsonError("no"), "no"),
    (strict_json.StrictJsonError("no"), "no"),
    (answer.UnreadableAnswerError("no"), "no"),
    (audit_log.BadHeadError("no head"), "no head"),
    (audit_record.BadLineError("no line"), "no line"),
    (audit_export.NotAnExportError("no header"), "no header"),
    (machine_wire.RefusedEventError("too large"), "too large"),
    (audit_record.ChangedRecordError(_RECORD), "AuditRecord("),
    (locale_order.UnknownOrderError("no order"), "no order"),
    (workspace_root.ChangedMeanwhileError("a"), "a"),
    (places.NotPrivateError(1, "others may write", "/a"), "[Errno 1] others may write: '/a'"),
    (sqlite.NewerSchemaError(9), "9"),
    (index_faults.UnusableIndexError("the disk is full"), "the disk is full"),
    (index_faults.MissingIndexError(), "there is no index yet"),
    (index_faults.BusyIndexError(), "another process is writing the index"),
    (BadRequestError("the body is not JSON", ("near",)), "the body is not JSON; did you mean 'near'?"),
    (LoginRefusedError("token", "id"), "('token', 'id')"),
    (LookInFullError(), "all skills are needed"),
    (LockReplacedError(), ""),
    (NoNotificationsError("too many directories", is_limit=True), "too many directories"),
    (signals.SignalledError(15), "15"),
]


def _label(value: object) -> str:
    return type(value).__name__ if isinstance(value, BaseException) else ""


def _modules() -> Iterator[str]:
    """Every module but those that run when they are imported, and adapters whose library is not installed."""
    for module in pkgutil.walk_packages(prowess.__path__, "prowess."):
        if not module.name.endswith("__main__") and ".probes." not in module.name:
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                assert isinstance(error, MissingExtraError)  # noqa: PT017 -- which module fails depends on the environment
            yield module.name


def _below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


_MODULES = set(_modules())


def _classes() -> list[type[BaseException]]:
    """Every exception class of the package that is not private to one module."""
    found = {kind for kind in _below(BaseException) if kind.__module__ in _MODULES and kind.__name__[0] != "_"}
    return sorted(found, key=lambda kind: kind.__name__)


def _errors() -> list[type[SkillError]]:
    return [kind for kind in _classes() if issubclass(kind, SkillError)]


def _drawn() -> dict[str, tuple[str | None, str, frozenset[str]]]:
    """Class → (parent, further base or "", the words after it), read from the drawing; built-in roots are left out."""
    assert errors.__doc__
    found: dict[str, tuple[str | None, str, frozenset[str]]] = {}
    parents: list[str] = []
    for line in errors.__doc__.splitlines():
        match = re.match(r"^ {4}(?P<tree>[│├└─ ]*)(?P<name>[A-Z]\w+)(?:\((?P<base>\w+)\))?(?P<rest>.*)$", line)
        if match is None:
            continue
        depth = len(match["tree"]) // 4
        parents[depth:] = [match["name"]]
        words = frozenset(match["rest"].split())
        if not hasattr(builtins, match["name"]):
            found[match["name"]] = (parents[depth - 1] if depth else None, match["base"] or "", words)
    return found


def test_the_drawing_names_every_class_with_its_bases() -> None:
    real = {}
    for kind in _classes():
        first, *others = (base.__name__ for base in kind.__bases__)
        real[kind.__name__] = (None if kind is SkillError else first, others[0] if others else "")
    assert {name: drawn[:2] for name, drawn in _drawn().items()} == real


def test_the_drawing_names_the_room_of_every_class_that_is_defined_elsewhere() -> None:
    rooms = {kind.__name__: kind.__module__.split(".")[1] for kind in _classes()}
    drawn = {name: [word[:-1] for word in words if word.endswith(":")][:1] for name, (_, _, words) in _drawn().items()}
    assert drawn == {name: [] if room == "errors" else [room] for name, room in rooms.items()}


def test_the_drawing_names_the_code_and_the_facts_of_every_class() -> None:
    drawn = _drawn()
    for example, _ in EXAMPLES:
        words = drawn[type(example).__name__][2]
        if isinstance(example, SkillError):
            assert example.code in words
        facts = {word[1:] for word in words if word.startswith(".")}
        assert [fact for fact in facts if not hasattr(example, fact)] == []


def test_there_is_an_example_of_every_class_that_is_raised() -> None:
    branches = {SkillError, errors.ExecutionError}
    assert {type(example) for example, _ in EXAMPLES} == set(_classes()) - branches


@pytest.mark.parametrize(("error", "sentence"), EXAMPLES, ids=_label)
def test_an_error_builds_its_sentence_from_its_facts(error: BaseException, sentence: str) -> None:
    assert str(error).startswith(sentence)


@pytest.mark.parametrize("error", [error for error, _ in EXAMPLES], ids=_label)
def test_an_error_survives_pickling_and_copying(error: BaseException) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 -- our own bytes
        assert type(twin) is type(error)
        assert (str(twin), vars(twin)) == (str(error), vars(error))


@pytest.mark.parametrize("kind", _errors(), ids=lambda kind: kind.__name__)
def test_every_code_is_in_the_closed_list(kind: type[SkillError]) -> None:
    assert kind.code in CODES
    assert kind.__doc__


def test_catching_the_root_catches_all_and_the_builtin_bases_work() -> None:
    public = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BaseException)]
    assert all(issubclass(kind, SkillError) for kind in public)
    with pytest.raises(LookupError):
        raise errors.SkillNotFoundError("x")
    with pytest.raises(PermissionError):
        raise errors.PolicyDeniedError("r", "w")
    with pytest.raises(TimeoutError):
        raise errors.ExecTimeoutError(1)
