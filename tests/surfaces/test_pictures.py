"""``engram graph`` and ``engram report``: files, their limits, and text that tries to run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from engram_graph.errors import MissingExtraError
from engram_graph.pictures import parts
from engram_graph.pictures.page import page

Engram = Callable[..., Any]
HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='hacked=1'> $x_1^2$ \u2028 &amp;"
)
PNG = b"\x89PNG\r\n\x1a\n"


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open == "script":
            self.scripts[-1] += data

    def check(self, scripts: int) -> None:
        """It has these scripts only, and names nothing outside itself."""
        names = [tag for tag, _ in self.tags]
        assert names.count("script") == scripts
        assert not {"img", "iframe", "link", "object", "embed", "base"} & set(names)
        for _, attributes in self.tags:
            assert not any(name.startswith("on") for name in attributes)
            assert "src" not in attributes
            assert (attributes.get("href") or "#").startswith("#")


@pytest.fixture
def moved(sync_memory: Any) -> Any:
    """A home that ended, one that holds, one to come, a denial, and hostile text everywhere."""
    sync_memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    sync_memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    sync_memory.remember("Ann", "plans", "a party", valid_from="2999-01-01")
    sync_memory.remember("Ann", "allergic_to", "nuts", negated=True, valid_from="2021-05-01")
    sync_memory.remember(
        "Ann", "prefers", "<b>bold</b>", text=HOSTILE, valid_from="2021-06-01", speaker="<i>Bo</i>"
    )
    return sync_memory


def data_of(path: Path) -> dict[str, Any]:
    scripts = Page(path.read_text(encoding="utf-8")).scripts
    found: dict[str, Any] = json.loads(scripts[0])
    return found


def test_html_holds_everything_and_runs_only_its_own(
    maya: Engram, moved: Any, tmp_path: Path
) -> None:
    out = tmp_path / "graph.html"
    done = maya("graph", "--out", str(out))
    assert (done.code, done.out) == (0, f"5 facts, {out}\n")
    text = out.read_text(encoding="utf-8")
    found = Page(text)
    found.check(3)
    assert "d3js.org" in found.scripts[1][:100]  # its notice stays with it
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy

    data = data_of(out)
    facts = {fact["text"]: fact for fact in data["facts"]}
    stories = {fact.id: moved.explain(fact).text for fact in moved.facts().facts}
    assert {fact["id"]: fact["story"] for fact in data["facts"]} == stories
    now = data["at"]
    bonn, cork = facts["Ann lives in Bonn"], facts["Ann lives in Cork"]
    assert bonn["from"] < bonn["until"] == cork["from"] < now
    assert cork["until"] is None
    assert facts["Ann plans a party"]["from"] > now
    assert "plans" in facts["Ann plans a party"]["label"]


def test_as_of_moves_the_slider(maya: Engram, moved: Any, tmp_path: Path) -> None:
    out = tmp_path / "graph.html"
    assert maya("graph", "--out", str(out), "--as-of", "2020-07-01").code == 0
    data = data_of(out)
    assert data["moments"][data["at"]]["label"] == "2020-07-01 00:00 UTC"
    assert len(data["facts"]) == 5  # the slider goes on from there


def test_svg_shows_one_moment(maya: Engram, moved: Any, tmp_path: Path) -> None:
    drawn = {}
    for day in ("2020-07-01", "2022-01-01"):
        out = tmp_path / f"{day}.svg"
        assert maya("graph", "--out", str(out), "--as-of", day).code == 0
        root = ElementTree.fromstring(out.read_bytes())
        drawn[day] = [
            "".join(text.itertext()).strip()
            for text in root.iter("{http://www.w3.org/2000/svg}text")
        ]
    first, second = drawn.values()
    assert "as of 2020-07-01 00:00 UTC: 1 fact holds, 0 have ended" in first
    assert ("Bonn" in first, "Cork" in first) == (True, False)
    assert ("Bonn" in second, "Cork" in second) == (True, True)
    assert "as of 2022-01-01 00:00 UTC: 3 facts hold, 1 has ended" in second
    assert {"has ended", "not: denied", "<b>bold</b>", "lives in"} <= set(second)
    assert "a party" not in second


def test_the_same_moment_gives_the_same_picture(maya: Engram, moved: Any, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.svg", "b.svg", "c.png")]
    for each in files:
        assert maya("graph", "--out", str(each), "--as-of", "2022-01-01").code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[2].read_bytes().startswith(PNG)
    assert len(files[2].read_bytes()) > 10_000


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_nothing_is_a_picture_too(maya: Engram, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"empty.{kind}"
    done = maya("graph", "--out", str(out))
    assert (done.code, done.out) == (0, f"0 facts, {out}\n")
    assert "no facts" in done.err
    assert out.stat().st_size > 500


def test_a_limit_says_so(maya: Engram, moved: Any, tmp_path: Path) -> None:
    out = tmp_path / "graph.html"
    done = maya("graph", "--out", str(out), "--limit", "2")
    assert done.out == f"the latest 2 of 5 facts, {out}\n"
    assert "--limit" in done.err
    assert len(data_of(out)["facts"]) == 2
    assert "the latest 2 of 5 facts" in out.read_text(encoding="utf-8")
    machine = maya("graph", "--out", str(out), "--limit", "2", "--overwrite", "--json")
    assert machine.json == {"path": str(out), "facts": 2, "of": 5}


def test_a_part_of_it(maya: Engram, moved: Any, tmp_path: Path) -> None:
    out = tmp_path / "graph.html"
    assert maya("graph", "--out", str(out), "--predicate", "lives_in").code == 0
    assert [fact["label"] for fact in data_of(out)["facts"]] == ["lives in"] * 2
    known = moved.facts().facts[0].recorded_at.isoformat()
    assert maya("graph", "--out", str(out), "--known-at", known, "--overwrite").code == 0
    (only,) = data_of(out)["facts"]
    assert (only["text"], only["until"]) == ("Ann lives in Bonn", None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["graph", "--out", "graph.gif"], "graph.gif"),
        (["graph", "--out", "graph"], "graph"),
        (["report", "--out", "report.svg"], "report.svg"),
        (["graph", "--out", "g.html", "--limit", "301"], "limit"),
        (["graph", "--out", "g.html", "--as-of", "last spring"], "as_of"),
        (["graph", "--out", "g.html", "--predicate", "flies_to"], "flies_to"),
        (["graph", "--out", "no/such/folder/g.svg"], "no/such/folder"),
    ],
)
def test_bad_input_leaves_nothing_behind(
    maya: Engram,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = maya(*arguments)
    assert done.code == 2
    assert words in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["graph", "report"])
def test_a_file_is_not_overwritten_unasked(engram: Engram, tmp_path: Path, command: str) -> None:
    out = tmp_path / "mine.html"
    out.write_text("mine")
    done = engram("-n", "anything", command, "--out", str(out))  # refused before any server starts
    assert done.code == 2
    assert "--overwrite" in done.err
    assert out.read_text() == "mine"


def test_report_tells_facts_chains_belief_decisions_and_cost(
    maya: Engram, moved: Any, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    done = maya("report", "--out", str(out))
    assert (done.code, done.out) == (0, f"5 facts, {out}\n")
    text = out.read_text(encoding="utf-8")
    found = Page(text)
    found.check(0)
    ids = {a.get("id") for _, a in found.tags}
    assert {"facts", "chains", "belief", "decisions", "cost"} <= ids
    assert "&lt;/script&gt;&lt;script&gt;window.hacked = 1" in text
    chain = re.search(r'<ol class="chain">(.*?)</ol>', text, re.S)
    assert chain is not None
    assert re.findall(r"<li>Ann lives in (\w+)", chain[1]) == ["Cork", "Bonn"]
    belief = re.search(r"<div>Ann lives in Bonn</div>\s*<svg.*?</ul>", text, re.S)
    assert belief is not None
    assert "starts at 0.98" in belief[0]
    assert "0.98 → 0.02: update" in belief[0]
    for row in moved.query("cost_by_question"):
        assert f">{row['question']}</td>" in text
    (closed,) = moved.query("why_closed", subject="Ann")
    assert f">{closed['fact']}</td>" in text


def test_report_of_an_empty_namespace(maya: Engram, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert maya("report", "--out", str(out), "--json").json == {"path": str(out), "facts": 0}
    text = out.read_text(encoding="utf-8")
    Page(text).check(0)
    for words in ("No facts.", "Nothing was superseded.", "No belief has moved.", "was asked."):
        assert words in text


@pytest.mark.parametrize(
    ("out", "package"),
    [("g.html", "jinja2"), ("g.html", "mpld3"), ("g.svg", "matplotlib"), ("r.html", "jinja2")],
)
def test_a_missing_package_is_named_before_the_work(
    maya: Engram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, package: str
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    command = "report" if out.startswith("r") else "graph"
    done = maya(command, "--out", str(tmp_path / out))
    assert done.code == 1
    assert package in done.err
    assert "engram-graph[pictures]" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_is_there_is_found() -> None:
    assert parts.need("json", "json.decoder").__name__ == "json.decoder"
    with pytest.raises(MissingExtraError, match="no_such_package"):
        parts.need("no_such_package.part")


def test_values_of_a_page_are_escaped_and_code_is_not() -> None:
    code = "if (1 < 2) {}"
    text = page(
        "graph.html",
        css="graph.css",
        scripts={"d3": code, "code": code},
        title=HOSTILE,
        about="a & b",
        data={"text": HOSTILE},
    )
    found = Page(text)
    found.check(3)
    assert found.scripts[1:] == [code, code]
    assert json.loads(found.scripts[0]) == {"text": HOSTILE}
