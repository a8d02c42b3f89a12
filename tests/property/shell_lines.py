"""Command lines from a grammar of what models, authors and attackers write, then bent by small mutations.

The same seed gives the same lines. No line names a program by a real absolute path, so that a fault that a test finds
starts a stub and nothing else.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = (
    "git", "ls", "head", "rm", "id", "env", "xargs", "gitx", "git-x", "sudo", "make", "cat", "a=b", "é", "git\u00a0x",
    "git x", "x", "-", "2", "if", "time", "exec", "[", "]]", "in", "}", "%1", "~", "*", "!x", "^x", "git#", "git;",
)  # fmt: skip

_NAMES = (
    *("git",) * 12, *("ls", "head", "rm", "id", "cat") * 2, "echo", "printf", "test", "cd", "pwd", ":", "true",
    "false", "gitx", "git-x", "./git", "sub/git", "'git'", '"git"', "g'i't", "g\\it", "\\git", 'g"i"t', "gi\\\nt",
    "env", "sudo", "exec", "command", "eval", "builtin", "source", ".", "export", "trap", "hash", "set", "read",
    "declare", "type", "if", "then", "time", "!", "[", "[[", "{", "}", "coproc", "function", "select", "until", "in",
    "do", "'if'", "\\time", "a=b", "A=b git", "PATH=/x git", "a[0]=b", "a+=b", "~", "~/git", "*", "g?t", "[g]it",
    "{git,rm}", "g{i,x}t", "$x", "é", "git\u00a0x", "\u00a0git", "git\u3000", "git\f", "\vgit", "git\r", "%1", "-",
    "-c", "''", '""', "!x", "^x", "2", "2x", "printf -v a", "printf %n PATH", "printf -- x", "printf '%s %d'",
    "test -v a", "test -f", "pushd", "popd", "cd sub &&", "cd sub;", "kill -l", "ulimit -n", "umask", "exit", "return",
    "shift", "break", "git#", "a\\=b", "git x", "git\\ x", "logout", "times", "dirs", "hash -p x", "jobs", "wait",
    "let", "unset PATH;", "git\x01", "git\x7f",
)  # fmt: skip
# What the shell's own commands do to what follows them; each would start a stub that no simple command names.
_TRICKS = (
    "exec rm", "command rm", "eval rm", "builtin eval rm", "eval 'rm x'", "trap rm EXIT;", "trap 'rm x' EXIT; git",
    "hash -p sub/stub git; git", "export PATH=sub; stub", "PATH=sub; stub", "PATH=sub stub", "declare PATH=sub; stub",
    "printf -v PATH sub; stub", "read PATH </dev/null; sub/stub", "unset PATH; git", "printf '%n' PATH; git",
    "cd sub && ./stub", "cd sub; ./stub", "pushd sub; ./stub", "cd sub\n./stub", "cd sub | ./stub",
    "test -v 'a[$(id)]'", "declare -i a='b[$(id)]'", "let 'a[$(id)]'", "wait -p 'a[$(id)]' 1", "unset 'a[$(id)]'",
    "read 'a[$(id)]' </dev/null", "mapfile -C rm -c 1 a </dev/null", "compgen -C rm x", "compgen -W '$(id)'",
    "jobs -x rm", "fc -s rm", "complete -C rm x", "alias git=rm\ngit", "shopt -s expand_aliases\nalias git=rm\ngit",
    "shopt -s extglob\ngit @(a|b)", "set -k; git PATH=sub", "time rm", "! rm", "coproc rm", "{ rm; }",
    "if rm; then git; fi", "while rm; do break; done", "git() { rm; }; git", "function git { rm; }; git",
    "enable -n echo; echo", "set -- rm; $1", "getopts a PATH; git", "source git", ". ./git", "bind -x '\"a\":rm'",
    "exec 3>&1 rm", "command -p rm", "command -- rm", "'exec' rm", "\\eval rm", "ex\\ec rm", "history -a x",
    "git | exec rm", "git && command rm", "git;eval rm", "2>&1 exec rm", ">/dev/null eval rm", "test -f a && exec rm",
)  # fmt: skip
_WORDS = (
    "status", "log", "-1", "--oneline", "-m", "'a; b'", '"a b"', "'a\nb'", '"a\nb"', "a\\ b", "a\\;b", "\\&", "\\|",
    "\\#", "a#b", "#a", "'#'", "\\\n", " \\\n ", "\\\n\\\n", "a\\\nb", "a\\\n", "''", '""', '"\\""', '"\\$x"', '"\\`"',
    '"\\a"', "'\\'", '"\\\\"', "\\\\", "\\'", '\\"', "'it'\\''s'", "\"it's\"", "'x'\"y\"z", "*", "*.md", "a?", "[ab]",
    "[!a]*", "\\*", "'*'", '"*"', "[", "]", "[a", "~", "~/x", "~+", "a~", "a=~", "a:~", "HEAD~1", "HEAD^", "HEAD@{1}",
    "{}", "{a", "a}", "{a}", "{a,b}", "{1..3}", "a{b,c}d", "'{a,b}'", "\\{a,b}", "{'a',b}", "{a\\,b}", "$", '"$"',
    '"a$"', "a$", "$x", "${x}", "$(id)", "`id`", "$'a'", '$"a"', '"$x"', '"$(id)"', '"`id`"', "'$x'", "'`id`'",
    "$((1))", "$[1]", "<(id)", ">(id)", "<<<a", "<<a", "2>&1", ">&2", "2>&1-", ">&-", "<&0", ">/dev/null",
    "2>/dev/null", "&>/dev/null", "&>>/dev/null", ">&/dev/null", "2>&/dev/null", ">|/dev/null", "<>/dev/null",
    "</dev/null", "> /dev/null", ">> /dev/null", ">x", ">>x", "<x", "> '/dev/null'", ">/dev/nul", "{v}>/dev/null",
    "{v}>&1", "12>&1", "2 >&1", "2\\\n>&1", "a2>&1", "'2'>&1", "\\2>&1", ">& 1", "2>& 1 x", ">&1x", ">&1 x", "!x", "!",
    "!!", "^a^b", "%1", "@", "+", ",", ":", "=", "a=b", "a=(b)", "(a)", "a()", "()", "()a", "é", "'é'", "\\é",
    "\u00a0", "a\u00a0b", "'\u00a0'", "\u3000", "\u2028", "\u0085", "a\u0085b", "\f", "\v", "\r", "a\rb", "'\r'",
    "'\f'", "\x01", "'\x01'", '"\x01"', "'\x7f'", '"\x7f\x01"', "\\\x01", "\x1b", "\x00", "-exec", "{} \\;", "--", "-",
    "\t", "\t \t", "if", "then", "fi", "time", "do", "done", "in", "esac", "function", "x" * 50, "'", '"', "\\", "`",
    "1", "2", "007", "0x1f", "-3", "+3", "a'b", 'a"b', "#", "# x", "#'", "a,b", "a..b", "a|b", "a&b", "a;b", "'a|b'",
    '"a&b"', "@(a|b)", "?(a)", "!(a)", "%s", "%d%%", "%n", "%*d", "🙂", "'🙂", "\udcff",
)  # fmt: skip
_SEPARATORS = (
    *(";", " ; ", " && ", "&&", " || ", "||", " | ", "|", " |& ", "\n", " \n ") * 3, "\n\n", ";\n", "|\n", "&&\n\n",
    " | \\\n ", "&", " & ", "&\n", ";;", ";&", "; ;", "| |", "&& &&", "|&&", "&&&", "|||", "& &", "&\\\n&", "|\\\n|",
    "\n;", "\n|", "#;", " #x\n", "# x\n", ")", "(", ";(", "\r\n", "\f", "\v", "\u2028", "\u0085", "\x00",
)  # fmt: skip
_BLANKS = (*(" ",) * 20, "  ", "\t", " \\\n", "\\\n ", "\f", "\v", "\r", "\u00a0", "", "\\\n", " \\\n\\\n")
_ENDS = (
    *("",) * 12, " ", ";", "\n", " # x", "#x", " &", "&&", "|", "\\", "\\\n", " \\\n", "; }", " )", "\n\n# x\n",
    "\r\n",
)  # fmt: skip
_BENDING = "".join(
    sorted({*" \t\n\\'\"`$&|;<>(){}[]*?~#!=^%@+,.:-/", *"0129ax", *"\f\v\r\x01\x7f\x1b\u00a0\u3000\u2028é"})
)
_PLAIN = (" status", " log", " -m 'a b'", ' "x y"', " a\\ b", " *.md", " HEAD~1", " 2>&1", " 2>/dev/null", " é", " a=b")


def lines(seed: int) -> Iterator[str]:
    """Yield lines for ever: a third plain, a third strange, the rest tricks and noise; half of them bent."""
    random_ = random.Random(seed)
    kinds: tuple[Callable[[random.Random], str], ...] = (_plain, _plain, _strange, _strange, _trick, _noise)
    while True:
        line = random_.choice(kinds)(random_)
        if random_.random() < 0.5:
            line = _bent(line, random_)
        yield line


def _plain(random_: random.Random) -> str:
    names = ("git", "git", "ls", "head", "echo", "rm")
    commands = (
        random_.choice(names) + "".join(random_.choices(_PLAIN, k=random_.randrange(4)))
        for _ in range(random_.randrange(1, 4))
    )
    return random_.choice((" | ", "; ", " && ", " || ", "\n", " |& ")).join(commands)


def _strange(random_: random.Random) -> str:
    text = ""
    for place in range(random_.choice((1, 1, 1, 2, 2, 3))):
        if place:
            text += random_.choice(_SEPARATORS)
        text += random_.choice(_NAMES if random_.random() < 0.6 else ("git", "ls"))
        for _ in range(random_.choice((0, 1, 1, 2, 3))):
            text += random_.choice(_BLANKS) + random_.choice(_WORDS)
    return text + random_.choice(_ENDS)


def _trick(random_: random.Random) -> str:
    before, after = (
        random_.choice(("", "", "", "git; ", "cd ; ", "ls | ", " ")),
        random_.choice(("", "", "", " x", "; git", " | ls")),
    )
    return before + random_.choice(_TRICKS) + after


def _noise(random_: random.Random) -> str:
    pool = (*_WORDS, *_SEPARATORS, *_BLANKS, *_NAMES[:30])
    return "git" + "".join(random_.choices(pool, k=random_.randrange(1, 7)))


def _bent(line: str, random_: random.Random) -> str:
    for _ in range(random_.choice((1, 1, 1, 2, 4))):
        at = random_.randrange(len(line) + 1)
        char = random_.choice(_BENDING)
        match random_.randrange(5):
            case 0 | 1:
                line = line[:at] + char + line[at:]
            case 2:
                line = line[:at] + line[at + 1 :]
            case 3:
                line = line[:at] + char + line[at + 1 :]
            case _:
                to = random_.randrange(len(line) + 1)
                line = line[:to] + line[at : at + 3] + line[to:]
    return line
