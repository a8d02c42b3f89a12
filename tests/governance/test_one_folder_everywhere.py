"""One folder of a skill behaves alike in every layer, from a store with a database, and through a server."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from prowess import Catalog
from prowess.catalog import DirectorySource, Layer
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.distribution.deployment.replica import ReplicaDeployment
from prowess.format import read_skill, validate_skill
from prowess.governance.organisation import found_organisation
from prowess.mcp_server.http import PATH, http_app
from prowess.mcp_server.served_session import SessionTable
from prowess.runtime import SessionOptions, SyncSession
from prowess.store import SharedDatabase, open_store
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("skills.list", {}),
    ("skills.load", {"names": ["report"]}),
    ("skills.read", {"skill": "report", "path": "references/a.md"}),
    ("skills.read", {"skill": "report", "path": "assets/b.bin", "encoding": "binary"}),
    ("skills.read", {"skill": "report", "path": "references/missing.md"}),
    ("skills.read", {"skill": "report", "path": "../other/SKILL.md"}),
    ("skills.run_script", {"skill": "report", "path": "scripts/a.py", "args": ["x"]}),
    ("skills.run_script", {"skill": "report", "path": "scripts/b.sh"}),
    ("skills.run_script", {"skill": "report", "path": "references/a.md"}),
    ("publish", {"text": "x"}),  # what `allowed-tools` does not name
    ("skills.list", {}),
    ("skills.unload", {"names": ["report"]}),
    ("skills.read", {"skill": "report", "path": "references/a.md"}),
)
_OF_ONE_CALL = r'(mark=[\\"]*)[0-9a-f]+|(duration_ms[\\"]*: )\d+'
_SCRIPT = "import os, sys\nprint(sys.argv[1:], sorted(os.listdir(os.environ['SKILL_DIR'])))\n"


def publish(text: str) -> str:
    """Publish a text."""
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_skill(
        tmp_path / "made",
        "report",
        description="Writes reports. Use it when a report is wanted.",
        body="# Report\n\nRead [the rules](references/a.md), then run `scripts/a.py`.\n",
        files={
            "references/a.md": "# Rules\n\nBe brief: \N{LATIN SMALL LETTER E WITH ACUTE}.\n",
            "assets/b.bin": bytes(range(256)),
            "scripts/a.py": _SCRIPT,
            "scripts/b.sh": "echo failed >&2\nexit 3\n",
        },
        extra='license: MIT\nallowed-tools: Read Glob\nmetadata:\n  version: "1.2.0"\n',
    )
    (made / "scripts" / "b.sh").chmod(0o755)
    return made


@pytest.fixture
def url(tmp_path: Path, own_home: Path) -> str:
    del own_home
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    found_organisation(url, "acme.example", "ann")
    return url


@pytest.fixture
def deployed(url: str, folder: Path) -> Iterator[Path]:
    """The folder after it was deployed into the database, and brought here from there."""
    assert run(["deploy", str(folder), "--store", url]) == exit_codes.OK
    with closing(SharedDatabase(url)) as database, closing(ReplicaDeployment(database, None, print)) as replica:
        replica.start()
        (place,) = [path for path in replica.directories if os.path.isdir(os.path.join(path, "report"))]
        yield Path(place)


def _without_place(found: object, root: Path) -> Any:  # noqa: ANN401 -- a JSON document
    """Return a document without the place of the skill, and without what differs from call to call."""
    text = re.sub(_OF_ONE_CALL, r"\g<1>\g<2>0", json.dumps(found, default=str))
    for path in (os.path.realpath(root / "report"), str(root / "report")):
        text = text.replace(path, "PLACE")
    return json.loads(text)


def _in_python(catalog: Catalog, root: Path, **given: Any) -> list[Any]:  # noqa: ANN401 -- options of a session
    with SyncSession(catalog, extra_tools=[FunctionTool(publish)], **given) as session:
        found: list[Any] = []
        for tool, arguments in _CALLS:
            answer = session.call(tool, arguments)
            found.append((tool, answer.success, answer.result, answer.error_detail, session.instructions()))
        entry = session.catalog.get("report")
        found.append((entry.name, entry.description, dict(entry.properties)))
    return _without_place(found, root)  # type: ignore[no-any-return]  # a list, as it was given


def _document(root: Path) -> object:
    skill = read_skill(root / "report")
    files = [(one.path, one.size, one.sha256, one.executable) for one in skill.manifest.files]
    faults = [(one.rule, one.message) for one in validate_skill(root / "report")]
    return skill.frontmatter.properties(), skill.body, skill.digest, files, faults


@pytest.mark.proves("governance.layers.identical")
def test_a_folder_gives_the_same_results_in_every_layer_and_from_a_database(
    folder: Path, deployed: Path, url: str
) -> None:
    assert _document(deployed) == _document(folder.parent)
    local = _in_python(Catalog(folder.parent), folder.parent)
    assert [one[1] for one in local[:-1]] == [
        True, True, True, True, False, False, True, True, False, False, True, True, False,
    ]  # fmt: skip
    for layer in Layer:
        source = DirectorySource(str(folder.parent), layer=layer, named=True)
        assert _in_python(Catalog(source), folder.parent) == local
    empty = folder.parents[1] / "empty"
    empty.mkdir()
    assert _in_python(Catalog(empty, deployed=(str(deployed),)), deployed, store=open_store(url)) == local


@pytest.mark.proves("governance.layers.identical")
def test_the_command_line_gives_the_same_results_in_every_layer_and_from_a_database(
    folder: Path, deployed: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project, plugin = folder.parents[1] / "project", folder.parents[1] / "plugin"
    (project / ".git").mkdir(parents=True)
    (folder.parents[1] / "away").mkdir()
    places = {
        "personal": (own_home / ".prowess" / "skills", folder.parents[1] / "away", ()),
        "project": (project / ".prowess" / "skills", project, ("--trust-project",)),
        "plugin": (plugin / "skills", folder.parents[1] / "away", ("--plugin", str(plugin))),
        "root": (folder.parent, project, ("--root", str(folder.parent))),
        "deployed": (deployed, project, ("--root", str(deployed))),
    }
    found = {}
    for name, (root, here, options) in places.items():
        copied = not root.exists() or not (root / "report").exists()
        if copied:
            shutil.copytree(folder, root / "report")
        monkeypatch.chdir(here)
        outcomes: list[Any] = []
        for words in (
            ("load", "report", "--json"),
            ("read", "report", "references/a.md"),
            ("read", "report", "references/missing.md"),
            ("read", "report", "scripts/a.py"),
            ("run", "report", "scripts/a.py", "--", "x"),
            ("run", "report", "scripts/b.sh"),
            ("check", str(root / "report"), "--json"),
        ):
            at = words.index("--") if "--" in words else len(words)
            more = () if words[0] == "check" else options
            capfd.readouterr()
            code = run([*words[:at], *more, *words[at:]])
            printed = capfd.readouterr()
            outcomes.append((words[:2], code, printed.out, printed.err))
        found[name] = _without_place(outcomes, root)
        if copied:
            shutil.rmtree(root / "report")
    assert [one[1] for one in found["root"]] == [0, 0, 1, 1, 0, 1, 0]
    for name, outcomes in found.items():
        assert outcomes == found["root"], name


@asynccontextmanager
async def _client(table: SessionTable) -> AsyncIterator[Client]:
    async with http_app(table) as app:
        transport = httpx2.ASGITransport(app=app, client=("127.0.0.1", 123))
        async with httpx2.AsyncClient(transport=transport) as http:
            server = streamable_http_client(f"http://127.0.0.1:8000{PATH}", http_client=http)
            async with Client(server, mode="auto") as client:
                yield client


async def _served(table: SessionTable, root: Path) -> list[Any]:
    found: list[Any] = []
    async with _client(table) as client:
        for tool, arguments in _CALLS:
            if tool == "publish":
                continue  # a tool of a Python program
            answer = await client.call_tool(tool.replace(".", "_"), arguments)
            meta: Mapping[str, Any] = answer.meta or {}
            error = (meta.get("prowess/error") or {}).get("code")
            found.append((tool, answer.structured_content, [one.model_dump() for one in answer.content], error))
        found.append([one.model_dump() for one in (await client.list_prompts()).prompts])
    return _without_place(found, root)  # type: ignore[no-any-return]  # a list, as it was given


@pytest.mark.anyio
@pytest.mark.proves("governance.layers.identical")
async def test_clients_of_a_server_get_the_same_results_from_a_folder_and_from_a_database(
    folder: Path, deployed: Path, url: str
) -> None:
    local = await _served(SessionTable(Catalog(folder.parent)), folder.parent)
    empty = folder.parents[1] / "empty"
    empty.mkdir()
    store = open_store(url)
    catalog = Catalog(empty, deployed=(str(deployed),))
    assert await _served(SessionTable(catalog, SessionOptions(store=store)), deployed) == local
    await store.close()
    in_python = [one for one in _in_python(Catalog(folder.parent), folder.parent)[:-1] if one[0] != "publish"]
    for (tool, content, _, error), (_, success, result, detail, _) in zip(local, in_python, strict=False):
        assert error == (None if success else detail["code"]), tool
        if success and tool in {"skills.read", "skills.run_script"}:
            assert {key: content[key] for key in result if key in content} == {
                key: value for key, value in result.items() if key in content
            }
