"""Gemini CLI: `gemini -p` with `stream-json`."""

from __future__ import annotations

import json

from prowess.evals.hosts.host_program import HostCommand, HostInvocation, HostProgram


def _command(invocation: HostInvocation) -> HostCommand:
    arguments = [f"--prompt={invocation.prompt}", "--output-format", "stream-json", "--approval-mode", "yolo"]
    if invocation.model is not None:
        arguments += ["--model", invocation.model]
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    if invocation.limits.turns is not None:
        settings["model"] = {"maxSessionTurns": invocation.limits.turns}
    environment = {
        **invocation.credentials,
        "GOOGLE_GEMINI_BASE_URL": invocation.provider,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return HostCommand(
        arguments=tuple(arguments),
        environment=environment,
        files={".gemini/settings.json": json.dumps(settings)},
    )


GEMINI = HostProgram(
    name="gemini",
    agent="gemini-cli",
    program="gemini",
    package="@google/gemini-cli",
    skills=".gemini/skills",
    project_skills=".agents/skills",
    sessions=(".gemini/tmp/*/chats/*.json*", ".gemini/tmp/*/chats/*/*.json*"),
    upstream="https://generativelanguage.googleapis.com",
    provider="google",
    upstream_variable="GOOGLE_GEMINI_BASE_URL",
    credentials=("GEMINI_API_KEY",),
    command=_command,
    judges_session=True,
)
