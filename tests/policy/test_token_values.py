"""Values of variables in tokens, and hosts of URLs, against values that hold signs of a pattern."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.text.url_host import fits_host, host_of_url, host_pattern
from prowess.policy.decision import Allow, Deny, RuleOrigin
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile
from prowess.policy.restriction import Restriction, decide
from prowess.policy.rule import PolicyCall, PolicyRule


def _permits(field: str, root: str, tool: str, **arguments: object) -> bool:
    restriction = Restriction.of_properties("s", {"allowed-tools": field}, root_dir=root)
    return isinstance(decide(tool, arguments, [restriction], "/work"), Allow)


def _refuses(field: str, root: str, tool: str, **arguments: object) -> bool:
    restriction = Restriction.of_properties("s", {"disallowed-tools": field}, root_dir=root)
    return not isinstance(decide(tool, arguments, [restriction], "/work"), Allow)


@pytest.mark.parametrize(
    ("field", "line", "permitted"),
    [
        ("Bash(python3 ${CLAUDE_SKILL_DIR}/a.py:*)", "python3 /p/skills/s/a.py -x", True),
        ("Bash(python3 $CLAUDE_SKILL_DIR/a.py:*)", "python3 /p/skills/s/a.py", True),
        ("Bash(python3 ${SKILL_DIR}/a.py)", "python3 /p/skills/s/a.py", True),
        ('Bash(python3 "${CLAUDE_SKILL_DIR}/a.py" *)', "python3 '/p/skills/s/a.py' x", True),
        ("Bash(${CLAUDE_PLUGIN_ROOT}/run.sh:*)", "/p/run.sh 1", True),
        ("Bash(${CLAUDE_PROJECT_DIR}/run.sh:*)", "/work/run.sh 1", True),
        ("Bash(python3 ${CLAUDE_SKILL_DIR}/*)", "python3 /p/skills/s/x/y.py", True),
        ("Bash(python3 ${CLAUDE_SKILL_DIR}/a.py:*)", "python3 /p/skills/t/a.py", False),
        ("Bash(python3 ${CLAUDE_SKILL_DIR}/a.py:*)", "python3 ${CLAUDE_SKILL_DIR}/a.py", False),
        ("Bash(python3 ${CLAUDE_SKILL_DIRX}/a.py:*)", "python3 /p/skills/s/a.py", False),
        ("Bash(python3 $CLAUDE_SKILL_DIRX/a.py:*)", "python3 /p/skills/sX/a.py", False),
    ],
)
def test_a_variable_is_a_value(field: str, line: str, permitted: bool) -> None:  # noqa: FBT001 -- a column of a table
    assert _permits(field, "/p/skills/s", "Bash", command=line) is permitted


def test_a_denial_has_the_values_too() -> None:
    field = "Bash(python3 ${CLAUDE_SKILL_DIR}/a.py:*)"
    assert _refuses(field, "/p/skills/s", "Bash", command="env python3 /p/skills/s/a.py")
    assert not _refuses(field, "/p/skills/s", "Bash", command="python3 /p/skills/t/a.py")


def test_a_directory_with_a_blank_is_one_word() -> None:
    assert _permits(
        "Bash(python3 ${CLAUDE_SKILL_DIR}/a.py)", "/p/my skills", "Bash", command="python3 '/p/my skills/a.py'"
    )
    assert not _permits(
        "Bash(python3 ${CLAUDE_SKILL_DIR}/a.py)", "/p/my skills", "Bash", command="python3 /p/my skills/a.py"
    )


def test_a_star_in_a_directory_lets_nothing_fit_for_certain_and_refuses_all_the_same() -> None:
    field = "Bash(python3 ${CLAUDE_SKILL_DIR}/a.py)"
    for line in ("python3 '/p/*/a.py'", "python3 /p/x/a.py"):
        assert not _permits(field, "/p/*", "Bash", command=line)
    assert _refuses(field, "/p/*", "Bash", command="python3 '/p/*/a.py'")


@pytest.mark.parametrize("root", ["/p/skills/s", "/p/[s]", "/p/*", "/p/{a,b}", "/p/?"])
def test_in_a_pattern_of_paths_no_sign_of_the_directory_means_anything(root: str) -> None:
    field = "Read(${CLAUDE_SKILL_DIR}/references/**)"
    assert _permits(field, root, "Read", file_path=f"{root}/references/a.md")
    for path in ("/p/s/references/a.md", "/p/x/references/a.md", f"{root}/scripts/a.py", f"{root}/references/../x"):
        assert not _permits(field, root, "Read", file_path=path), path
    assert _refuses(field, root, "Read", file_path=f"{root}/references/a.md")


@pytest.mark.proves("runtime.restrict.domain")
@given(st.text(alphabet="ahtps:/@\\.%[]?#-_ \n1xEµ。", max_size=24))
def test_a_url_whose_host_is_told_has_that_host_for_other_readers_too(text: str) -> None:
    url = f"https://{text}"
    host = host_of_url(url)
    if host is None:
        return
    assert fits_host(host, "*")
    split = urlsplit(url)
    assert split.username is None
    named = split.hostname or ""
    assert host.strip("[]") == named.encode("idna").decode().rstrip(".") if ":" not in named else host


@pytest.mark.proves("runtime.restrict.domain")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Docs.Example.com.:8443/a?b#c", "docs.example.com"), ("http://127.0.0.1:65535", "127.0.0.1"),
        ("http://[::0001]:80/", "[::1]"), ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        # What some programs take for another host, and some for none.
        ("https://example.com:65536/", None), ("https://example.com:99999", None), ("https://example.com:1a/", None),
        ("http://0x7f000001/", None), ("http://127.0.0.0x1/", None), ("http://127.1/", None),
        ("http://2130706433/", None),
        ("https://me@example.com/", None), ("https://example.com\\@other.example/", None), ("//example.com/", None),
        ("https:example.com", None), ("ftp://example.com/", None), ("https://fa\u00df.example/", None),
    ],
)  # fmt: skip
def test_a_url_has_a_host_if_every_program_reads_the_same(url: str, host: str | None) -> None:
    assert host_of_url(url) == host


@pytest.mark.proves("runtime.restrict.domain")
@pytest.mark.parametrize(
    ("host", "pattern", "fits"),
    [
        ("a.example.com", "*.example.com", True), ("a.b.example.com", "*.example.com", True),
        ("example.com", "*.example.com", False), ("evilexample.com", "*.example.com", False),
        ("example.com.evil.org", "*.example.com", False), ("example.com", "example.*", True),
        ("example.co.uk", "example.*", False), ("a.example.com", "example.com", False),
        ("api-1.example.com", "api-*.example.com", True), ("x.api-1.example.com", "api-*.example.com", False),
    ],
)  # fmt: skip
def test_a_star_at_the_beginning_is_any_depth_and_elsewhere_one_part(host: str, pattern: str, *, fits: bool) -> None:
    assert host_pattern(pattern) == pattern
    assert fits_host(host, pattern) is fits


@pytest.mark.parametrize("url", ["http://[::ffff:127.0.0.1]/", "http://[::FFFF:7f00:1]:80/", "http://127.0.0.1"])
def test_an_address_within_an_ipv6_address_is_the_same_host(url: str) -> None:
    assert host_of_url(url) == "127.0.0.1"
    assert host_pattern("[::ffff:127.0.0.1]") == "127.0.0.1"
    assert _refuses("WebFetch(domain:127.0.0.1)", "/p", "WebFetch", url=url)


@given(st.text(max_size=20))
def test_no_text_is_too_strange_for_a_pattern_of_hosts(text: str) -> None:
    pattern = host_pattern(text)
    if pattern is not None and "*" not in pattern:
        assert host_pattern(pattern) == pattern
        assert fits_host(pattern, pattern)


@pytest.mark.proves("runtime.restrict.servers")
@pytest.mark.parametrize(("tool", "denied"), [("mcp__git__push", True), ("mcp__github__push", False), ("Bash", False)])
@pytest.mark.parametrize("written", ["mcp__git", "mcp__git__*"])
def test_a_rule_of_a_policy_names_a_server_as_a_skill_does(written: str, tool: str, *, denied: bool) -> None:
    rule = PolicyRule(effect="deny", tool=written, matches=(), reason=None, origin=RuleOrigin(path="p", line=1))
    policy = Policy(files=(PolicyFile(path="p", rules=(rule,), default="allow"),))
    assert isinstance(policy.decide(PolicyCall(tool=tool, arguments={})), Deny) is denied


@pytest.mark.proves("runtime.restrict.servers")
def test_a_name_before_two_underscores_may_be_a_server_to_what_refuses_alone() -> None:
    for tool, permitted in (("mcp__git__log", True), ("mcp__git__log__all", False), ("mcp__git__logs", False)):
        assert _permits("mcp__git__log", "/p/s", tool) is permitted
    assert _refuses("mcp__git__log", "/p/s", "mcp__git__log__all")
    assert not _refuses("mcp__git__log", "/p/s", "mcp__git__logs")
