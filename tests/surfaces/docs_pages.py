"""A page of the docs as its reader meets it: every block is run in turn, or says why not.

One page has one folder, one Python namespace and namespaces of its own in the database: ``demo``
holds what ``engram demo`` writes, ``friends`` and ``first-steps`` are empty.

==========  ====================================================================================
``python``  runs; what it prints is what a ``text`` block right behind it shows
``bash``    runs: ``engram …``, also with ``> FILE``; ``export NAME=VALUE`` holds from there on
``console`` ``$ engram …`` runs, and prints what stands below it
``text``    what the block before printed
``cypher``  runs, and finds something; its rows are what a ``text`` block right behind it shows
``json``    parsed
==========  ====================================================================================

``…`` in what is shown stands for anything. A comment right in front of a block, invisible on the
page, says what else is done with it: ``<!-- not run: REASON -->``: only checked, as far as that
goes without running it; ``<!-- file: NAME -->``: it is what that file holds; ``<!-- output of:
COMMAND -->``: it is what the command prints.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import io
import json
import re
import shlex
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j
import typer
from markdown_it import MarkdownIt

import engram_graph
from docs._build import hooks
from engram_graph.cli import app

ROOT = Path(engram_graph.__file__).parents[1]
GENERATED = {ROOT / "docs" / name for name in ("cli.md", "settings.md")}
"""Made from the code; a test compares them with it."""
PAGES = sorted({*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in hooks.PAGES)} - GENERATED)
REASONS = (
    "installs",
    "starts or stops a server",
    "needs a key",
    "needs a server",
    "needs a file of yours",
    "opens a window",
    "sets up the whole process",
    "takes minutes",
)
"""Why a block may be only checked."""

_MARK = re.compile(r"<!-- (not run|file|output of): (.+) -->\s*")
_NAMESPACE = re.compile(r"(?<!engram )(?<![\w.])(demo|friends|first-steps)(?![\w.])")
_KNOWN_PROGRAMS = {"docker", "export", "ollama", "pip", "python", "python3", "source"}


@dataclass(frozen=True)
class Block:
    """A fenced block; ``line`` is that of its first line, ``mark`` the comment in front of it."""

    language: str
    text: str
    line: int
    mark: tuple[str, str] | None

    @property
    def not_run(self) -> str | None:
        """Why it is only checked."""
        return self.mark[1] if self.mark and self.mark[0] == "not run" else None


def blocks(page: Path) -> list[Block]:
    """All code blocks of a page; one that is indented rather than fenced fails."""
    found: list[Block] = []
    mark: tuple[str, str] | None = None
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{token.map[0] + 1 if token.map else '?'}"
        assert token.type != "code_block", f"{where}: fence this block and name its language"
        if token.type == "fence":
            assert token.info, f"{where}: a block without a language"
            assert token.map is not None
            found.append(Block(token.info, token.content, token.map[0] + 1, mark))
        else:
            assert mark is None, f"{where}: no block behind {mark}"
        matched = _MARK.fullmatch(token.content) if token.type == "html_block" else None
        mark = (matched[1], matched[2]) if matched else None
    assert mark is None, f"{page.name}: no block behind {mark}"
    return found


def shows(shown: str, printed: str) -> bool:
    """Whether ``shown``, where ``…`` stands for anything, is all of ``printed``."""
    shown, printed = (
        "\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, printed)
    )
    pattern = ".*?".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def words(line: str) -> list[str]:
    """The words of a line of shell; ``>``, ``|``, ``&&`` and the like are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def lines(text: str) -> Iterator[str]:
    """The commands of a block, those that go on in the next line joined."""
    yield from (line for line in text.replace("\\\n", " ").splitlines() if words(line))


def parse(arguments: list[str]) -> None:
    """Let the command line read ``arguments`` as it does before it runs a command.

    Raises:
        click.UsageError: no such command, option or value.
    """
    command: Any = typer.main.get_command(app.app)
    context = None
    rest = list(arguments)
    while hasattr(command, "commands"):
        context = command.context_class(command, info_name="engram", parent=context)
        name, command, rest = command.resolve_command(context, rest)
    command.make_context(name, rest, parent=context)


class Reader:
    """Somebody who follows a page to the letter.

    Args:
        engram: runs the command line; gives what it did.
        rows: runs Cypher.
        prefix: of the namespaces that are this page's.
        export: a file of ``engram export`` with what ``engram demo`` wrote.
        demo: what ``engram demo`` printed then.
        setenv: sets a variable until the page ends.
    """

    def __init__(
        self,
        *,
        engram: Callable[..., Any],
        rows: Callable[[str], list[neo4j.Record]],
        prefix: str,
        export: Path,
        demo: str,
        setenv: Callable[[str, str], None],
    ) -> None:
        self._engram = engram
        self._rows = rows
        self._prefix = prefix
        self._export = export
        self._demo = demo
        self._setenv = setenv
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed: str | None = None
        self._page = ROOT

    def read(self, page: Path) -> None:
        """Run every block of a page; the current folder is written to."""
        self._page = page
        found = blocks(page)
        if any("demo" in _NAMESPACE.findall(block.text) for block in found):
            self._command(["engram", "import", str(self._export), "-n", "demo"])
        for block in found:
            try:
                self._block(block)
            except Exception as error:
                error.add_note(f"in {page.name}, line {block.line}: {block.language}")
                raise
        _close_loop()

    def _block(self, block: Block) -> None:
        kind, what = block.mark or ("", "")
        if kind == "not run":
            assert what in REASONS, f"no reason of ours: {what}"
            self._check(block)
            self._printed = None
            return
        if kind == "file":
            Path(what).write_text(self._own(block.text), encoding="utf-8")
        elif kind == "output of":
            self._printed = self._command(words(what))
        match block.language:
            case "python":
                self._printed = self._python(block)
            case "bash":
                self._printed = "".join(self._command(words(line)) for line in lines(block.text))
            case "console":
                self._console(block.text)
            case "cypher":
                self._printed = self._cypher(block.text)
            case "text":
                assert self._printed is not None, "nothing before it prints anything"
                self._compare(block.text, self._printed)
                self._printed = None
            case "json":
                for line in block.text.splitlines() if kind == "file" else [block.text]:
                    json.loads(line)
            case other:
                raise AssertionError(f"nobody knows what to do with {other!r}")

    def _own(self, text: str) -> str:
        return _NAMESPACE.sub(rf"{self._prefix}-\1", text)

    def _plain(self, text: str) -> str:
        return text.replace(f"{self._prefix}-", "")

    def _compare(self, shown: str, printed: str) -> None:
        assert shown.strip() != "…", "nothing is shown"
        assert shows(shown, printed), f"shown:\n{shown}\nprinted:\n{printed}"

    def _python(self, block: Block) -> str:
        source = "\n" * block.line + self._own(block.text)
        code = compile(source, str(self._page), "exec", dont_inherit=True)
        with redirect_stdout(io.StringIO()) as out:
            exec(code, self._names)
        return self._plain(out.getvalue())

    def _console(self, text: str) -> None:
        assert text.startswith("$ "), "a console block begins with a command"
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.replace("\\\n", " ").partition("\n")
            self._compare(shown, self._command(words(command)))

    def _command(self, command: list[str]) -> str:
        """What the command prints, unless it is led into a file."""
        target = None
        if ">" in command:
            assert command.index(">") == len(command) - 2, command
            *command, _, target = command
        assert not {"|", "&&", "||", ";", "<", "&", "(", ")"} & set(command), command
        program, *arguments = command
        if program == "export":
            name, _, value = arguments[0].partition("=")
            self._setenv(name, self._own(value))
            return ""
        assert program == "engram", f"{program!r} is not run here"
        if arguments == ["demo"]:
            return self._demo
        done = self._engram(*map(self._own, arguments))
        assert done.code == 0, done.out + done.err
        printed = self._plain(done.out)
        if target is None:
            return printed
        Path(target).write_text(printed, encoding="utf-8")
        return ""

    def _cypher(self, text: str) -> str:
        assert _NAMESPACE.search(text), "a statement without a namespace"
        found = self._rows(self._own(text))
        assert found, "no rows"
        table = [list(found[0].keys()), *([_value(one) for one in row] for row in found)]
        return self._plain("\n".join(", ".join(row) for row in table))

    def _check(self, block: Block) -> None:
        """All that can be said of a block without running it."""
        if block.language == "python":
            tree = ast.parse(block.text)
            imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
            assert imports, "nothing is imported"
            exec(compile(ast.Module(imports, []), str(self._page), "exec"), {})
            return
        assert block.language == "bash", f"{block.language} is run or left out"
        for line in lines(block.text):
            for command in _split(words(line)):
                _check_command(command)


def _split(command: list[str]) -> Iterator[list[str]]:
    """The commands joined by ``&&`` or ``|``."""
    part: list[str] = []
    for word in [*command, "&&"]:
        if word in ("&&", "|"):
            yield part
            part = []
        else:
            part.append(word)


def _close_loop() -> None:
    """Close the thread's event loop: PydanticAI leaves one for its next call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it may make one, to be closed at once
        try:
            asyncio.get_event_loop().close()
        except RuntimeError:  # there is none
            return
    asyncio.set_event_loop(None)


def _check_command(command: list[str]) -> None:
    while "=" in command[0]:  # a variable for this command alone
        command = command[1:]
    if command[:2] == ["uvx", "--from"]:  # what it runs is checked
        command = command[3:]
    program = Path(command[0]).name
    if program == "engram":
        parse(command[1:])
        return
    assert program in _KNOWN_PROGRAMS, f"what is {program}?"
    if program in ("python", "python3"):
        assert command[1] == "-m"
        assert importlib.util.find_spec(command[2]), command
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in command:
        for extras in re.findall(r"\[([a-z,]+)\]$", word):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), word


def _value(value: object) -> str:
    if isinstance(value, neo4j.time.DateTime):
        return value.to_native().date().isoformat()
    return "null" if value is None else str(value)
