"""Every exception that Prowess raises on purpose, in one tree.

    SkillError                                                    code
    ├── SkillParseError(ValueError)        .location .diagnostics skill_invalid       cannot be read as a skill
    ├── InvalidSkillError(ValueError)      .diagnostics           skill_invalid       readable, but against the spec
    ├── InvalidArgumentsError(ValueError)  .problems              invalid_arguments   a call whose arguments do not fit
    ├── InvalidRequestError(ValueError)    .reason                invalid_request     runtime: a line that is no request
    ├── RemoteSkillError(ValueError)       .origin .skill .reason skill_invalid       not what its server describes
    ├── SkillNotFoundError(LookupError)    .name .suggestions     skill_not_found     absent, stop asking
    ├── SkillNotActiveError(LookupError)   .name                  skill_not_active    load it first
    ├── SkillConflictError                 .name .other           skill_conflict      one of two excludes the other
    ├── SkillExistsError                   .name .location        skill_conflict      agent: it is not overwritten
    ├── RequiredToolError(LookupError)     .skill .tool .reason   tool_not_found      a skill needs it, nobody has it
    ├── SessionNotFoundError(LookupError)  .session_id            session_not_found   expired, evicted or never there
    ├── ToolNotFoundError(LookupError)     .name .suggestions     tool_not_found
    ├── ResourceNotFoundError(LookupError) .skill .path           resource_not_found
    │   └── UnknownScriptError             .skill .path           resource_not_found  cli: lists those that there are
    │   └── SectionNotFoundError           .slug .suggestions     resource_not_found  runtime: the file lacks it
    ├── NoSuchFileError(LookupError)       .path .suggestions     resource_not_found  tools: not in the workspace
    ├── NotAFileError(LookupError)         .skill .path .entries  not_a_file          a directory, but a file is wanted
    ├── WrongKindError(ValueError)         .path .kind .advice    not_a_file          tools: file instead of directory
    ├── NotTextError(ValueError)           .skill .path           not_text            bytes that are not UTF-8
    ├── NoTextError(ValueError)            .path .encoding        not_text            tools: not in this encoding
    ├── UnsafePathError(ValueError)        .path .reason          unsafe_path
    │   └── OutsideWorkspaceError          .path .reason          unsafe_path         tools: not in the workspace
    ├── AccessRefusedError(PermissionError) .path .reason         policy_denied       tools: read-only, or not readable
    ├── DigestChangedError                 .skill .path           digest_changed      edited since it was loaded
    ├── ChangedError                       .path                  digest_changed      tools: changed while it was edited
    ├── UnavailableError                   .what .retry_after     unavailable         may exist, ask again later
    │   └── WorkingDirectoryError                                 unavailable         _internal: it was deleted
    ├── ModelError                         .model .reason         unavailable         agent: the model did not answer
    ├── SubAgentError                      .skill .reason         unavailable         agent: a sub-agent did not answer
    ├── TranscriptError                    .path .reason          unavailable         agent: a line cannot be written
    ├── MissingExtraError(ImportError)     .adapter .extra .why   unavailable         adapters: a library is missing
    ├── LimitExceededError                 .what .limit .actual   limit_exceeded      too many, too deep, too large
    ├── ActivationCycleError               .cycle                 activation_cycle    runtime: it would contain itself
    ├── ForkUnavailableError               .skill .reason         fork_unavailable    runtime: there is no sub-agent
    ├── HookFailedError                    .hook .reason .output  hook_failed         runtime: a hook refused or failed
    ├── PolicyDeniedError(PermissionError) .rule .reason          policy_denied
    ├── ToolNotAllowedError(PermissionError) .tool .skill .reason tool_not_allowed    an active skill restricts it
    ├── ApprovalRequiredError              .tool .request .reason approval_required   a person has to decide, none did
    ├── PolicyError(ValueError)            .problems              policy_invalid      a policy file that cannot be read
    ├── ConfigurationError(ValueError)     .problems              invalid_arguments   settings that cannot be read
    ├── ApproverError(TypeError)           .approver .reason     internal            tools: the host's own mistake
    ├── FunctionFailedError                .tool .text            internal            tools: a function raised
    ├── FunctionTimeoutError(TimeoutError) .tool .limit           timeout             tools: a function did not return
    ├── UnsupportedFunctionError(ValueError)                      internal            tools: it cannot be a tool
    ├── NotJsonValueError(TypeError)       .where .kind           internal            tools: a value without a JSON form
    ├── NotThroughExecutorError(RuntimeError) .tool                internal            tools: not called by the executor
    ├── ExecutionError
    │   ├── ScriptUnsupportedError         .path .reason          script_unsupported  no way to run this file
    │   ├── SandboxUnavailableError        .backend .hint         sandbox_unavailable could not start; fail closed
    │   ├── StageError                     .directory .hint       sandbox_unavailable execution: no copy can be made
    │   ├── ExecTimeoutError(TimeoutError) .limit .what .rest     timeout
    │   └── OutputLimitError               .limit .partial        limit_exceeded
    ├── AuditError                         .path .reason          unavailable         the log cannot be written
    │   └── AuditReadError                 .path .reason          unavailable         it cannot be shown or verified
    ├── StoreError                         .url .reason           store_unavailable
    ├── NotShownError                      .skill .path           script_unsupported  cli: scripts are run, not shown
    ├── ParseError                                                skill_invalid       compat: as the reference library
    └── ValidationError                    .errors                skill_invalid       compat: as the reference library

    ImportError
    ├── LibyamlMissingError                                       _internal: PyYAML was built without libyaml
    └── GrammarMissingError                                       _internal: the extra `shell` is not installed
    ValueError
    ├── NotJsonError                                              _internal: a value without a canonical JSON form
    ├── StrictJsonError                                           _internal: bytes that are not one JSON value
    ├── UnreadableAnswerError                                     runtime: output of a hook that cannot be read
    ├── BadHeadError                                              audit: the head of the audit log is damaged
    ├── BadLineError                                              audit: a line of the audit log is no record
    └── ChangedRecordError                 .record                audit: the hash is not that of the record
    OSError
    └── ChangedMeanwhileError                                     _internal: the file is not the one that was read
    PermissionError
    └── NotPrivateError                    .filename .strerror    _internal: somebody else could change what is there
    Exception
    └── NewerSchemaError                   .found                 store: the file is of a newer version
    BaseException
    └── SignalledError                     .number .name          cli: the process was asked to end

A class that is not defined in this module has its room before the meaning. What is below a built-in exception is
caught inside Prowess, or ends the process; private classes are control flow inside one module and are not drawn.

An error carries facts and builds its sentence from them; `args` mirror the constructor, so it survives pickling.
`code` is what a model or a host in another language sees (docs/command-line.md documents the closed list), and
`suggestions` are the spellings that may have been meant. A script's exit status is a result, not an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from typing import dataclass_transform as constructor_from_annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic, Location


@constructor_from_annotations()  # for type checkers; it makes no dataclass
class SkillError(Exception):
    """The root: catching it catches everything that Prowess raises on purpose.

    A subclass declares its facts as annotated attributes, as in a dataclass: they are the arguments of the constructor,
    in their order, and what the sentence is built from. One without facts takes the sentence itself.
    """

    code: ClassVar[str] = "internal"
    sentence: ClassVar[str] = ""
    suggestions = tuple[str, ...]()
    tool_facts: ClassVar[tuple[str, ...]] = ()  # the facts that are names of tools
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
    """Return what messages call a file of a skill, or an artifact of the session, which has no skill."""
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
    """The skill can be read, but it breaks the specification; `diagnostics` holds every fault."""

    code = "skill_invalid"
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        return "\n".join(f"{fault.location}: {fault.rule}: {fault.message}" for fault in self.diagnostics)


class RemoteSkillError(SkillError, ValueError):
    """A skill of another server is not what that server says of it, or says what it may not; nothing was kept of it.

    `origin` is the label that this host gave the server, `skill` a URI, None if the server itself is at fault.
    """

    code = "skill_invalid"
    origin: str
    skill: str | None
    reason: str

    def __str__(self) -> str:
        what = f"skill {self.skill!r} of server {self.origin!r}" if self.skill else f"server {self.origin!r}"
        return f"{what} is refused: {self.reason}"


class InvalidArgumentsError(SkillError, ValueError):
    """The arguments of a call do not fit; `problems` has one sentence for each."""

    code = "invalid_arguments"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.problems)


class SkillNotFoundError(SkillError, LookupError):
    """No skill of this name is in the catalog. `reason` says why, where a skipped or held-back copy is known."""

    code = "skill_not_found"
    name: str
    suggestions: tuple[str, ...] = ()
    reason: str | None = None

    def __str__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"no skill is called {self.name!r}{why}{_did_you_mean(self.suggestions)}"


class SkillNotActiveError(SkillError, LookupError):
    """The skill is known but this session has not loaded it; `name` is None where nothing at all is loaded."""

    code = "skill_not_active"
    tool_facts = ("load_tool",)
    name: str | None
    load_tool: str = "skills.load"

    def __str__(self) -> str:
        if self.name is None:
            return f"no skill is loaded; call {self.load_tool} with the name of one first"
        return f"skill {self.name!r} is not loaded; call {self.load_tool} with names [{self.name!r}] first"


class SkillConflictError(SkillError):
    """Two skills may not be active at once: the manifest of `name` says that it conflicts with `other`."""

    code = "skill_conflict"
    name: str
    other: str

    def __str__(self) -> str:
        both = f"skills {self.name!r} and {self.other!r} cannot be active at once"
        return f"{both}: {self.name!r} names the other as a conflict; load one of them without the other"


class RequiredToolError(SkillError, LookupError):
    """A skill requires a tool that is not there, or not in the version it needs; `reason` says which of both."""

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
    """The skill ships no file at this path; `skill` is None if an artifact of the session was asked for."""

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
    """The path is a directory of the skill; `entries` is a capped list of what it holds, directories with a `/`."""

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
    """The path may not be used; nothing was opened or followed."""

    code = "unsafe_path"
    path: str
    reason: str
    sentence = "path {path!r} is refused: {reason}"


class DigestChangedError(SkillError):
    """A file was edited after its skill was loaded; loading the skill again accepts the edit."""

    code = "digest_changed"
    skill: str
    path: str

    def __str__(self) -> str:
        changed = f"{self.path!r} of skill {self.skill!r} changed after the skill was loaded"
        return f"{changed}; load {self.skill!r} again to use the new text"


class UnavailableError(SkillError):
    """It may exist but cannot be reached now; `retry_after` is in seconds, None if nobody knows."""

    code = "unavailable"
    what: str
    retry_after: float | None = None
    reason: str | None = None

    def __str__(self) -> str:
        later = "later" if self.retry_after is None else f"in {self.retry_after:g} s"
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.what}{why} cannot be reached now; try again {later}"


class LimitExceededError(SkillError):
    """A bound was reached; `actual` is None if no more was counted, `advice` tells how to stay below the bound."""

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
    """The `allowed-tools` of an active skill do not permit the call; unloading the skill lifts that."""

    code = "tool_not_allowed"
    tool_facts = ("tool",)
    tool: str
    skill: str
    reason: str

    def __str__(self) -> str:
        refused = f"Tool {self.tool!r} not allowed by active skill {self.skill!r}"
        return f"{refused}: {self.reason}. Unload {self.skill!r} to lift this."


class ApprovalRequiredError(SkillError):
    """A person has to approve the call and nobody could be asked; `request` names it for whoever can.

    `instead` is the way out where nobody can approve it later either.
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


class PolicyError(SkillError, ValueError):
    """A policy file cannot be read, so nothing is permitted; `problems` has one sentence for each fault."""

    code = "policy_invalid"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ConfigurationError(SkillError, ValueError):
    """Settings cannot be read, in a file, a variable or a flag; `problems` has one sentence for each fault."""

    code = "invalid_arguments"
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ExecutionError(SkillError):
    """A script could not be run to its end."""


class ScriptUnsupportedError(ExecutionError):
    """This file cannot be run as a script: wrong place, no interpreter configured, or none installed."""

    code = "script_unsupported"
    path: str
    reason: str
    sentence = "{path!r} cannot be run: {reason}"


class SandboxUnavailableError(ExecutionError):
    """No sandbox can be started here, so nothing was run."""

    code = "sandbox_unavailable"
    backend: str
    hint: str
    sentence = "sandbox {backend!r} is not available, nothing was run: {hint}"


class ExecTimeoutError(ExecutionError, TimeoutError):
    """Something was ended at its time limit; `limit` is in seconds, `rest` tells what is known all the same."""

    code = "timeout"
    limit: float
    what: str = "it"
    rest: str = ""
    sentence = "Timeout exceeded: {what} was ended after {limit:g} s{rest}"


class OutputLimitError(ExecutionError):
    """More output than a caller that wants all of it allows; `partial` is what came before, `limit` is in bytes."""

    code = "limit_exceeded"
    limit: int
    partial: bytes
    sentence = "output is over the limit of {limit} bytes"


class AuditError(SkillError):
    """The audit log cannot be written; `path` is None if the session has no log."""

    code = "unavailable"
    path: str | None
    reason: str

    def __str__(self) -> str:
        return f"audit log {self.path or 'of this session'}: {self.reason}"


class AuditReadError(AuditError):
    """The audit log cannot be read by whoever wants to show or verify it; nothing is kept from being recorded."""


class StoreError(SkillError):
    """Session state cannot be kept or found; `url` names the store without credentials, None if it is not known."""

    code = "store_unavailable"
    url: str | None
    reason: str

    def __str__(self) -> str:
        return f"store {self.url or 'of this session'}: {self.reason}"
