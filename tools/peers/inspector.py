"""The MCP inspector's command line asks our server for everything that it knows how to ask for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

INSPECTOR, PROWESS, ROOT = sys.argv[1:4]
FOLDERS = sorted(path.parent for path in Path(ROOT).glob("*/SKILL.md"))
SERVE = ["serve", "--root", ROOT, "--workspace", ROOT]


def ask(method: str, *arguments: str, target: tuple[str, ...] = (PROWESS, *SERVE)) -> Any:  # noqa: ANN401 -- JSON
    """Return what the inspector prints for one request."""
    command = [INSPECTOR, "--cli", *target, "--method", method, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (method, done.stdout, done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    """Ask over stdio, then over HTTP."""
    names = [folder.name for folder in FOLDERS]
    tools = [tool["name"] for tool in ask("tools/list")["tools"]]
    assert {"skills_list", "skills_load", "skills_read"} <= set(tools), tools
    called = ask("tools/call", "--tool-name", "skills_load", "--tool-arg", f'names=["{names[0]}"]')
    assert called["content"][0]["text"].startswith(f'<skill_content name="{names[0]}"'), called
    refused = ask("tools/call", "--tool-name", "skills_read", "--tool-arg", "path=SKILL.md")
    assert refused["isError"], refused
    resources = [one["uri"] for one in ask("resources/list")["resources"]]
    assert resources == ["skill://index.json", *(f"skill://{name}/SKILL.md" for name in names)], resources
    (read,) = ask("resources/read", "--uri", resources[1])["contents"]
    assert read["text"] == (FOLDERS[0] / "SKILL.md").read_text(encoding="utf-8")
    assert ask("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == "skill://{skill}/{+path}"
    assert [prompt["name"] for prompt in ask("prompts/list")["prompts"]] == names
    prompt = ask("prompts/get", "--prompt-name", names[0])
    assert prompt["messages"][0]["content"]["text"].startswith("<skill_content"), prompt
    print(f"   stdio: {len(tools)} tools, {len(resources)} resources, {len(names)} prompts; called, read, got")
    with subprocess.Popen([PROWESS, *SERVE, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = next(line.split()[3].rstrip(";") for line in server.stderr if "Serving MCP at" in line)
            over_http = [tool["name"] for tool in ask("tools/list", target=(url, "--transport", "http"))["tools"]]
            assert over_http == tools
        finally:
            server.terminate()
    print(f"   HTTP: {len(tools)} tools")


main()
