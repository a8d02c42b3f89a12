"""Claude Code: `claude -p` with `stream-json`."""

from __future__ import annotations

from prowess.evals.hosts.host_program import HostCommand, HostInvocation, HostProgram

_CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")


def _command(invocation: HostInvocation) -> HostCommand:
    limits, arguments = invocation.limits, ["-p", "--output-format", "stream-json", "--verbose"]
    arguments += ["--permission-mode", "bypassPermissions"]
    if invocation.model is not None:
        arguments += ["--model", invocation.model]
    if limits.turns is not None:
        arguments += ["--max-turns", str(limits.turns)]
    environment = {
        **invocation.credentials,
        "ANTHROPIC_BASE_URL": invocation.provider,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # as root it refuses `bypassPermissions` without
    }
    if limits.max_output_tokens is not None:
        environment["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(limits.max_output_tokens)
    return HostCommand(arguments=tuple(arguments), stdin=invocation.prompt, environment=environment)


CLAUDE = HostProgram(
    name="claude",
    agent="claude-code",
    program="claude",
    package="@anthropic-ai/claude-code",
    skills=".claude/skills",
    project_skills=".claude/skills",
    sessions=(".claude/projects/*/*.jsonl", ".claude/projects/*/*/subagents/*.jsonl"),
    upstream="https://api.anthropic.com",
    provider="anthropic",
    upstream_variable="ANTHROPIC_BASE_URL",
    credentials=_CREDENTIALS,
    command=_command,
)
