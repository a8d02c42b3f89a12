"""All exceptions that Prowess raises deliberately, as one tree.

    SkillError                                                    code
    ├── SkillParseError(ValueError)        .location .diagnostics skill_invalid       not readable as a skill
    ├── InvalidSkillError(ValueError)      .diagnostics           skill_invalid       readable, but breaks the spec
    ├── InvalidArgumentsError(ValueError)  .problems              invalid_arguments   a call with wrong arguments
    ├── InvalidRequestError(ValueError)    .reason                invalid_request     runtime: not a valid request
    ├── BadRequestError(ValueError)        .reason .suggestions   invalid_arguments   http_server: query or body
    ├── RemoteSkillError(ValueError)       .origin .skill .reason skill_invalid       differs from its description
    ├── SkillNotFoundError(LookupError)    .name .suggestions     skill_not_found     not in the catalog
    ├── SkillNotActiveError(LookupError)   .name                  skill_not_active    load it first
    ├── SkillConflictError                 .name .other           skill_conflict      one skill excludes the other
    ├── SkillExistsError                   .name .location        skill_conflict      agent: never overwritten
    ├── RequiredToolError(LookupError)     .skill .tool .reason   tool_not_found      a required tool is missing
    ├── SessionNotFoundError(LookupError)  .session_id            session_not_found   expired, closed or unknown
    ├── ToolNotFoundError(LookupError)     .name .suggestions     tool_not_found
    ├── ResourceNotFoundError(LookupError) .skill .path           resource_not_found
    │   ├── UnknownScriptError             .skill .path           resource_not_found  cli: lists the skill's scripts
    │   └── SectionNotFoundError           .slug .suggestions     resource_not_found  runtime: no such heading
    ├── NoSuchFileError(LookupError)       .path .suggestions     resource_not_found  tools: not in the workspace
    ├── NoSuchItemError(LookupError)       .kind .id              resource_not_found  governance: not in the store
    ├── NotAFileError(LookupError)         .skill .path .entries  not_a_file          a directory instead of a file
    ├── WrongKindError(ValueError)         .path .kind .advice    not_a_file          tools: file instead of directory
    ├── NotTextError(ValueError)           .skill .path           not_text            bytes that are not UTF-8
    ├── NoTextError(ValueError)            .path .encoding        not_text            tools: not in this encoding
    ├── UnsafePathError(ValueError)        .path .reason          unsafe_path
    │   └── OutsideWorkspaceError          .path .reason          unsafe_path         tools: not in the workspace
    ├── AccessRefusedError(PermissionError) .path .reason         policy_denied       tools: read-only or unreadable
    ├── DigestChangedError                 .skill .path           digest_changed      edited since it was loaded
    ├── ChangedError                       .path                  digest_changed      tools: changed during an edit
    ├── UnavailableError                   .what .retry_after     unavailable         may exist, try again later
    │   └── WorkingDirectoryError                                 unavailable         _internal: it was deleted
    ├── ModelError                         .model .reason .status unavailable         agent: the model failed
    │   └── JudgeError                     .model .reason .status unavailable         evals: no grades that can be read
    ├── SubAgentError                      .skill .reason         unavailable         agent: a sub-agent failed
    ├── TranscriptError                    .path .reason          unavailable         agent: a line cannot be written
    ├── MissingExtraError(ImportError)     .what .extra .why      unavailable         an optional library is missing
    ├── LimitExceededError                 .what .limit .actual   limit_exceeded      too many, too deep, too large
    ├── ActivationCycleError               .cycle                 activation_cycle    runtime: a skill activates itself
    ├── ForkUnavailableError               .skill .reason         fork_unavailable    runtime: no sub-agent to run it
    ├── HookFailedError                    .hook .reason .output  hook_failed         runtime: a hook refused or failed
    ├── VoteRefusedError                   .reason                invalid_request     governance: it would not count
    ├── PolicyDeniedError(PermissionError) .rule .reason          policy_denied
    ├── ToolNotAllowedError(PermissionError) .tool .skill .reason tool_not_allowed    an active skill restricts it
    ├── ApprovalRequiredError              .tool .request .reason approval_required   no person has decided yet
    │   └── SkillApprovalRequiredError     .skill .digest         approval_required   too few people approved the skill
    ├── PolicyError(ValueError)            .problems              policy_invalid      an unreadable policy file
    ├── SuiteError(ValueError)             .reason                invalid_arguments   format: not a suite of evals
    │   ├── UnreadableTextError            .reason .offset        invalid_arguments   format: not JSON, or not YAML
    │   └── SuiteFileError                 .reason .file .offset  invalid_arguments   format: one of its files
    ├── ConfigurationError(ValueError)     .problems              invalid_arguments   unreadable settings
    ├── CapReachedError                    .cap .left .wanted     limit_exceeded      evals: the call was not made
    ├── CaseFileError                      .path .line .reason    invalid_arguments   evals: not a file of cases
    ├── TranscriptFileError                .path .reason          unavailable         evals: it cannot be read
    ├── JournalError                       .path .reason .advice  unavailable         evals: it cannot be used
    ├── DriftError                         .unit .difference      digest_changed      evals: not the recorded request
    ├── StaleRecordingError                .recording .files      digest_changed      evals: the skill changed since
    ├── ApproverError(TypeError)           .approver .reason     internal            tools: an approver misbehaved
    ├── GraderNotFoundError(LookupError)   .name .suggestions     tool_not_found      evals: no such grader
    ├── OutcomeFileError(ValueError)       .path .reason          invalid_arguments   evals: not a file of outcomes
    ├── DoubleAnsweredError                .reason                internal            evals: as the case prescribes
    ├── NoResponseError                    .tool .arguments       internal            evals: the case has no answer
    ├── FunctionFailedError                .tool .text            internal            tools: a function raised
    ├── FunctionTimeoutError(TimeoutError) .tool .limit           timeout             tools: a function took too long
    ├── UnsupportedFunctionError(ValueError)                      internal            tools: it cannot be a tool
    ├── NotJsonValueError(TypeError)       .where .kind           internal            tools: a value without a JSON form
    ├── NotThroughExecutorError(RuntimeError) .tool                internal            tools: not called by the executor
    ├── ExecutionError
    │   ├── ScriptUnsupportedError         .path .reason          script_unsupported  this file cannot be run
    │   ├── SandboxUnavailableError        .backend .hint         sandbox_unavailable did not start, fails closed
    │   ├── StageError                     .directory .hint       sandbox_unavailable execution: copying failed
    │   └── ExecTimeoutError(TimeoutError) .limit .what .rest     timeout
    ├── AuditError                         .path .reason          unavailable         the log cannot be written
    │   └── AuditReadError                 .path .reason          unavailable         the log cannot be read
    ├── StoreError                         .url .reason           store_unavailable
    ├── ServerAnswerError                  .status .sent_code     unavailable         or the code that was sent
    ├── DistributionError                                        unavailable         see the message
    │   ├── LockfileError(ValueError)      .location .reason      invalid_arguments   not a valid lock
    │   ├── IntegrityError                 .what .expected .actual digest_changed     other bytes than recorded
    │   ├── SignatureError                 .what .reason          policy_denied       missing or not valid
    │   │   └── SigningKeyError            .what .reason          policy_denied       this machine cannot sign
    │   ├── SeveralSkillsError             .source .names         invalid_arguments   distribution: name one of them
    │   ├── ResolutionError                .conflict              skill_conflict      no versions fit all demands
    │   └── ConsentRequiredError           .words .skills .lines  approval_required   an update has to be accepted
    ├── NotShownError                      .skill .path           script_unsupported  cli: scripts are run, not shown
    ├── ParseError                                                skill_invalid       compat: as the reference library
    └── ValidationError                    .errors                skill_invalid       compat: as the reference library

    ImportError
    ├── LibyamlMissingError                                       _internal: PyYAML was built without libyaml
    └── GrammarMissingError                                       _internal: the extra `shell` is not installed
    ValueError
    ├── NotJsonError                                              _internal: a value without a canonical JSON form
    ├── StrictJsonError                                           _internal: the bytes are not one JSON value
    ├── UnreadableAnswerError                                     runtime: unreadable output of a hook
    ├── BadHeadError                                              audit: the head file of the log is damaged
    ├── BadLineError                                              audit: a line of the log is not a record
    ├── ChangedRecordError                 .record                audit: the hash does not fit the record
    ├── NotAnExportError                                          audit: the file is no export of a log
    ├── FaultyLineError                                           evals: a line of a transcript is no record
    ├── RefusedEventError                                         audit: the machine does not record this event
    └── UnknownOrderError                                         lockfile: `localeCompare` has no known order for it
    OSError
    └── ChangedMeanwhileError                                     _internal: the file changed after it was read
    PermissionError
    └── NotPrivateError                    .filename .strerror    _internal: other users could change the file
    Exception
    ├── ChangesDoNotFitError                                      format: made for other data
    ├── NewerSchemaError                   .found                 store: written by a newer version
    ├── UnusableIndexError                                        store: the skills are read instead
    │   ├── MissingIndexError                                     store: there is no file
    │   └── BusyIndexError                                        store: another process writes
    ├── ScenarioFailedError                                       evals: the text that pytest prints
    ├── StoppedError                   .reason .signalled         evals: inside of a search for descriptions
    ├── AssertionUndecidedError                                   evals: neither true nor false
    ├── LockReplacedError                                         distribution: planned from an older lock
    ├── LoginRefusedError              .reason .detail            http_server: a login is refused
    ├── LookInFullError                                           catalog: one name needs a look at all skills
    └── NoNotificationsError               .is_limit              catalog: the skills are polled
    BaseException
    └── SignalledError                     .number .name          cli: the process received a signal to end

If a class is defined in a subpackage and not in this module, the name of the subpackage comes before the meaning.
Classes below a built-in exception are caught inside Prowess or end the process. Private classes are control flow inside
one module and are not listed.

An error carries facts and builds its message from them. `args` mirror the constructor, so errors survive pickling.
Models and hosts in other languages see `code`, a closed list (docs/reference/command-line.md). `suggestions` are
existing names close to the one that was given. A script's exit status is a result, not an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from typing import dataclass_transform as constructor_from_annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic, Location


@constructor_from_annotations()  # for type checkers only; it does not create a dataclass
class SkillError(Exception):
    """Base class of all errors that Prowess raises deliberately.

    A subclass declares its facts as annotated attributes, as in a dataclass. The facts are the constructor's arguments,
    in this order, and fill the placeholders of `sentence`. Without facts, the only argument is the message.
    """

    code: ClassVar[str] = "internal"
    sentence: ClassVar[str] = ""
    suggestions = tuple[str, ...]()
    tool_facts: ClassVar[tuple[str, ...]] = ()  # names of the facts that hold tool names
    _facts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" not in vars(cls):
            own = (name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind))
            cls._facts = tuple(dict.fromkeys((*cls._facts, *own)))

    def __init__(self, *facts: object, **named: object) -> None:
        if self._facts:
            rest = self._facts[len(facts) :]
            facts += tuple(named.pop(name) if name in named else getattr(type(self), name) for name in rest)
            if named or len(facts) > len(self._facts):
                raise TypeError(f"{type(self).__name__} takes {', '.join(self._facts)}")
            vars(self).update(zip(self._facts, facts, strict=True))
        super().__init__(*facts)

    def __str__(self) -> str:
        return self.sentence.format_map(vars(self)) if self.sentence else super().__str__()


def file_of(skill: str | None, path: str) -> str:
    """Return a file's name for messages: a file of the skill, or an artifact of the session if `skill` is None."""
    return f"artifact {path!r}" if skill is None else f"{path!r} of skill {skill!r}"


def _did_you_mean(suggestions: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(repr(text) for text in suggestions)}?" if suggestions else ""


class SkillParseError(SkillError, ValueError):
    """This directory or text cannot be read as a skill."""

    code = "skill_invalid"
    message: str
    location: Location
    diagnostics: tuple[Diagnostic, ...] = ()
    sentence = "{location}: {message}"


class InvalidSkillError(SkillError, ValueError):
    """The skill is readable but breaks the specification; `diagnostics` holds every fault."""

    code = "skill_invalid"
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        return "\n".join(f"{fault.location}: {fault.rule}: {fault.message}" for fault in self.diagnostics)


class RemoteSkillError(SkillError, ValueError):
    """A skill of another server does not match the server's description, or the description is invalid.

    No part of the skill was kept. `origin` is this host's label for the server. `skill` is a URI, or None if the server
    itself is at fault.
    """

    code = "skill_invalid"
    origin: str
    skill: str | None
    reason: str

    def __str__(self) -> str:
        what = f"skill {self.skill!r} of server {self.origin!r}" if self.skill else f"server {self.origin!r}"
        return f"{what} is refused: {self.reason}"


class InvalidArgumentsError(SkillError, ValueError):
    """The arguments of a call are invalid; `problems` has one sentence for each fault."""

    code = "invalid_arguments"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.problems)


class SkillNotFoundError(SkillError, LookupError):
    """The catalog offers no skill of this name. If a copy was skipped or is not trusted yet, `reason` states why."""

    code = "skill_not_found"
    name: str
    suggestions: tuple[str, ...] = ()
    reason: str | None = None

    def __str__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"no skill is called {self.name!r}{why}{_did_you_mean(self.suggestions)}"


class SkillNotActiveError(SkillError, LookupError):
    """The skill is known, but this session has not loaded it. `name` is None if no skill is loaded."""

    code = "skill_not_active"
    tool_facts = ("load_tool",)
    name: str | None
    load_tool: str = "skills.load"

    def __str__(self) -> str:
        if self.name is None:
            return f"no skill is loaded; call {self.load_tool} with the name of one first"
        return f"skill {self.name!r} is not loaded; call {self.load_tool} with names [{self.name!r}] first"


class SkillConflictError(SkillError):
    """Two skills cannot be active together: the manifest of `name` lists `other` as a conflict."""

    code = "skill_conflict"
    name: str
    other: str

    def __str__(self) -> str:
        both = f"skills {self.name!r} and {self.other!r} cannot be active at once"
        return f"{both}: {self.name!r} names the other as a conflict; load only one of them"


class RequiredToolError(SkillError, LookupError):
    """A skill requires a tool that is missing or has the wrong version; `reason` names the fault."""

    code = "tool_not_found"
    skill: str
    tool: str
    reason: str
    sentence = "skill {skill!r} cannot be loaded, because it requires {tool!r}: {reason}"


class SessionNotFoundError(SkillError, LookupError):
    """The session expired, was closed, or never existed."""

    code = "session_not_found"
    session_id: str
    sentence = "session {session_id!r} does not exist or has expired; open a new one"


class ToolNotFoundError(SkillError, LookupError):
    """No tool of this name is registered."""

    code = "tool_not_found"
    tool_facts = ("suggestions",)
    name: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        meant = _did_you_mean(self.suggestions) or "; call one of the tools that were offered"
        return f"no tool is called {self.name!r}{meant}"


class ResourceNotFoundError(SkillError, LookupError):
    """The skill has no file at this path. `skill` is None if an artifact of the session was requested."""

    code = "resource_not_found"
    skill: str | None
    path: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        nothing = (
            "no script of this session left an artifact" if self.skill is None else f"skill {self.skill!r} has no file"
        )
        return f"{nothing} {self.path!r}{_did_you_mean(self.suggestions)}"


class NotAFileError(SkillError, LookupError):
    """The path is a directory of the skill. `entries` is a capped list of its contents; directories end in `/`."""

    code = "not_a_file"

    def __init__(self, skill: str, path: str, entries: tuple[str, ...] = ()) -> None:
        super().__init__(skill, path, entries)
        self.skill, self.path, self.entries = skill, path, entries
        self.suggestions = entries

    def __str__(self) -> str:
        holds = f"; it holds {', '.join(self.entries)}" if self.entries else ""
        return f"{self.path!r} of skill {self.skill!r} is a directory, not a file{holds}"


class NotTextError(SkillError, ValueError):
    """The file is not UTF-8 text; `skill` is None for an artifact of the session."""

    code = "not_text"
    skill: str | None
    path: str

    def __str__(self) -> str:
        return f"{file_of(self.skill, self.path)} is not UTF-8 text; read it with encoding 'binary'"


class UnsafePathError(SkillError, ValueError):
    """The path must not be used. No file was opened and no link was followed."""

    code = "unsafe_path"
    path: str
    reason: str
    sentence = "path {path!r} is refused: {reason}"


class DigestChangedError(SkillError):
    """A file was edited after its skill was loaded. Loading the skill again accepts the edit."""

    code = "digest_changed"
    skill: str
    path: str

    def __str__(self) -> str:
        changed = f"{self.path!r} of skill {self.skill!r} changed after the skill was loaded"
        return f"{changed}; load {self.skill!r} again to use the new text"


class UnavailableError(SkillError):
    """The requested object may exist but cannot be reached now. `retry_after` is in seconds, None if unknown.

    `advice` is given if another attempt alone does not help.
    """

    code = "unavailable"
    what: str
    retry_after: float | None = None
    reason: str | None = None
    advice: str | None = None

    def __str__(self) -> str:
        later = "later" if self.retry_after is None else f"in {self.retry_after:g} s"
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.what}{why} cannot be reached now; {self.advice or f'try again {later}'}"


class LimitExceededError(SkillError):
    """A limit was exceeded. `actual` is None if counting stopped at the limit; `advice` states how to stay below."""

    code = "limit_exceeded"
    what: str
    limit: float
    actual: float | None
    advice: str | None = None

    def __str__(self) -> str:
        advice = f"; {self.advice}" if self.advice else ""
        over = "more than" if self.actual is None else f"{self.actual:.15g} is over"
        return f"{self.what}: {over} the limit of {self.limit:.15g}{advice}"


class PolicyDeniedError(SkillError, PermissionError):
    """A policy rule forbids the call."""

    code = "policy_denied"
    rule: str
    reason: str
    sentence = "denied by {rule}: {reason}"


class ToolNotAllowedError(SkillError, PermissionError):
    """The `allowed-tools` of an active skill do not permit the call. Unloading the skill removes this restriction."""

    code = "tool_not_allowed"
    tool_facts = ("tool",)
    tool: str
    skill: str
    reason: str

    def __str__(self) -> str:
        refused = f"Tool {self.tool!r} not allowed by active skill {self.skill!r}"
        return f"{refused}: {self.reason}. Unload {self.skill!r} to lift this."


class ApprovalRequiredError(SkillError):
    """The call needs a person's approval, and no person could be asked. `request` is the id of the approval request.

    `instead` is advice for the case that no person can be asked later.
    """

    code = "approval_required"
    tool_facts = ("tool",)
    tool: str
    request: str
    reason: str
    instead: str | None = None

    def __str__(self) -> str:
        way = self.instead or f"Approve request {self.request!r}, then send the call again."
        return f"Tool {self.tool!r} needs the approval of a person: {self.reason}. {way}"


class SkillApprovalRequiredError(ApprovalRequiredError):
    """A policy demands that people approve the skill of the call, and not enough have.

    `digest` is the tree digest that they have to approve, None if the skill has none. `needed` and `given` are numbers
    of people, `instead` states how to approve.
    """

    skill: str = ""
    digest: str | None = None
    needed: int = 1
    given: int = 0

    @property
    def how(self) -> str:
        """What people have to do, as a sentence."""
        return self.instead or ""

    def __str__(self) -> str:
        return f"{self.reason}. {self.how}"


class PolicyError(SkillError, ValueError):
    """A policy file cannot be read, so every call is denied; `problems` has one sentence for each fault."""

    code = "policy_invalid"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ConfigurationError(SkillError, ValueError):
    """Settings in a file, a variable or a flag cannot be read; `problems` has one sentence for each fault."""

    code = "invalid_arguments"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ExecutionError(SkillError):
    """Base class of errors that prevent a script from running to its end."""


class ScriptUnsupportedError(ExecutionError):
    """The file cannot be run as a script: wrong directory, no interpreter configured, or none installed."""

    code = "script_unsupported"
    path: str
    reason: str
    sentence = "{path!r} cannot be run: {reason}"


class SandboxUnavailableError(ExecutionError):
    """No sandbox can be started on this machine, so the script was not run."""

    code = "sandbox_unavailable"
    backend: str
    hint: str
    sentence = "sandbox {backend!r} is not available, nothing was run: {hint}"


class ExecTimeoutError(ExecutionError, TimeoutError):
    """A script or call (`what`) was ended at its limit of `limit` seconds. `rest` is appended to the message."""

    code = "timeout"
    limit: float
    what: str = "it"
    rest: str = ""
    sentence = "Timeout exceeded: {what} was ended after {limit:g} s{rest}"


class AuditError(SkillError):
    """The audit log cannot be written; `path` is None if the session has no log."""

    code = "unavailable"
    path: str | None
    reason: str

    def __str__(self) -> str:
        return f"audit log {self.path or 'of this session'}: {self.reason}"


class AuditReadError(AuditError):
    """The audit log cannot be shown or verified, because it cannot be read. Recording is not affected."""


class StoreError(SkillError):
    """Session state cannot be stored or found. `url` is the store without credentials, None if unknown."""

    code = "store_unavailable"
    url: str | None
    reason: str

    def __str__(self) -> str:
        return f"store {self.url or 'of this session'}: {self.reason}"


class ServerAnswerError(SkillError):
    """The server of an organisation answered with an error: its HTTP status, its code, and its sentence.

    `code` of an instance is the code that was sent.
    """

    code = "unavailable"
    status: int
    sent_code: str
    message: str
    suggestions: tuple[str, ...] = ()

    def __init__(self, status: int, sent_code: str, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(status, sent_code, message, suggestions)
        self.status, self.sent_code, self.message, self.suggestions = status, sent_code, message, suggestions
        self.code = sent_code  # type: ignore[misc]  # the code of the error that the server had

    def __str__(self) -> str:
        return self.message


class MissingExtraError(SkillError, ImportError):
    """A part of Prowess cannot be used, because its library is missing or unsuitable.

    `what` is the module or the work that needs it and `extra` the extra of Prowess to install. `why` is the message of
    Python's ImportError.
    """

    code = "unavailable"
    what: str
    extra: str
    why: str
    sentence = "{what} needs a library that cannot be imported ({why}): pip install 'prowess[{extra}]'"


class DistributionError(SkillError):
    """A package cannot be found, fetched, installed or published."""

    code = "unavailable"


class LockfileError(DistributionError, ValueError):
    """A lock file is not what Prowess writes; `location` names the file and the line."""

    code = "invalid_arguments"
    location: Location
    reason: str
    sentence = "{location}: {reason}"


class IntegrityError(DistributionError):
    """Bytes differ from the recorded digest. `expected` and `actual` are `sha256:<64 hex>`."""

    code = "digest_changed"
    what: str
    expected: str
    actual: str
    sentence = "{what} has the digest {actual}, but {expected} was recorded; nothing was written"


class SignatureError(DistributionError):
    """A signature is missing, or it is not valid for these bytes or this signer."""

    code = "policy_denied"
    what: str
    reason: str
    sentence = "the signature of {what} is not accepted: {reason}"


class SigningKeyError(SignatureError):
    """The private key that should sign is missing, not private, or another one."""

    sentence = "{what} cannot be used: {reason}"


class ResolutionError(DistributionError):
    """No choice of versions fits all demands; `conflict` names each demand and who makes it."""

    code = "skill_conflict"
    conflict: str
    sentence = "{conflict}"


class ConsentRequiredError(DistributionError):
    """Installed skills would change in ways that nobody has accepted.

    `words` are what `--accept` needs, `skills` the names, and `lines` the differences as they are shown.
    """

    code = "approval_required"
    words: tuple[str, ...]
    skills: tuple[str, ...]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{', '.join(self.skills)}: the change needs your consent; nothing was changed"
        return "\n".join((head, *self.lines, f"to accept it, add: --accept {','.join(self.words)}"))
