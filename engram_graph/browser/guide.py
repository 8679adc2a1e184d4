"""The guide for Neo4j Browser's sidebar: slides with a query each, made for one namespace.

Browser takes an HTML page with ``<slide>`` elements. A ``<pre class="runnable">`` gets a sign that
runs it; what is clicked with ``data-exec`` runs as a command of Browser's, with ``data-populate``
goes into its editor. Values stand in the queries as they are: each slide works by itself.
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator
from datetime import datetime, time
from html.parser import HTMLParser
from importlib import resources
from string import Template

from engram_graph.browser.tour import Tour
from engram_graph.graph import analyst

_SLIDES = (
    ("start", False),
    ("graph", False),
    ("then", False),
    ("history", False),
    ("chain", True),
    ("why", True),
    ("decision", True),
    ("belief", False),
    ("changes", False),
    ("more", False),
)
"""Files in their order, and whether they need a fact that a decision closed."""


_SHOWN = """<slide>
<style>
.engram {{ padding: 0 18px 60px }}
.engram pre.runnable {{ padding: 6px 6px 6px 34px !important }}
.engram pre.runnable i {{ float: left; margin-left: -26px; font-size: 20px; color: #5dade2 }}
</style>
<div class="engram">
{}
</div>
</slide>"""


class _Slide(Template):
    """A file of a slide: ``%{name}`` stands for a value, for Cypher has use for the dollar."""

    delimiter = "%"


def render(tour: Tour, *, style_url: str, username: str, password_in: str) -> str:
    """The guide as an HTML page; whatever a memory holds is text in it, never markup.

    Args:
        style_url: where Browser finds ``style.grass``.
        password_in: says where the password is; it is not in the guide itself.
    """
    values = _texts(tour) | {
        "style_url": style_url,
        "username": username,
        "password_in": password_in,
    }
    filled = {name: escape(text) for name, text in values.items()}
    filled["library"] = "\n".join(_library())
    parts = [_SHOWN.format(_Slide(text).substitute(filled)) for text in _files(tour)]
    # Browser takes the title of its sidebar from the first heading; what is no slide is not shown.
    return "\n".join([f"<h1>{filled['name']} in {filled['namespace']}</h1>", *parts, ""])


def escape(text: str) -> str:
    """Text for HTML that Browser leaves as it is.

    Browser takes out what looks like ``onclick=…``, also where it is no markup: no equals sign is
    left to look like one.
    """
    return html.escape(text).replace("=", "&#61;")


def queries(tour: Tour) -> list[tuple[str, str]]:
    """(heading, Cypher) of each slide that has a query."""
    found = []
    filled = {name: escape(text) for name, text in _texts(tour).items()}
    for text in _files(tour):
        reader = _Reader()
        reader.feed(_Slide(text).safe_substitute(filled))
        if reader.query:
            found.append((" ".join(reader.heading.split()), reader.query.strip()))
    return found


def parameters(tour: Tour) -> str:
    """Lines that set every parameter of ``cypher/analyst`` in Browser, as this guide needs them.

    One script: Browser runs it at a click, unless it ended in ``null``; hence the last semicolon.
    """
    own = {
        analyst.NAMESPACE: tour.namespace,
        "subject": tour.subject,
        "entity": tour.subject,
        "predicate": tour.predicate.name,
        "after": tour.since,
        "before": tour.until,
        "limit": 100,
    }
    values: dict[str, str] = {}
    for query in analyst.library().values():
        for each in query.params:
            unset = each.example if each.required else analyst.as_cypher(each.default)
            known = analyst.as_cypher(own[each.name]) if each.name in own else unset
            if values.setdefault(each.name, known) == "null":
                values[each.name] = known
    return "\n".join(f":param {name} => {value};" for name, value in values.items())


def _files(tour: Tour) -> list[str]:
    folder = resources.files(__package__).joinpath("slides")
    return [
        folder.joinpath(f"{name}.html").read_text(encoding="utf-8")
        for name, needs_end in _SLIDES
        if tour.ended is not None or not needs_end
    ]


def _texts(tour: Tour) -> dict[str, str]:
    """What a slide may say, as text; names that begin with ``c_`` are written as in Cypher."""
    return {
        "namespace": tour.namespace,
        "name": tour.subject,
        "facts": f"{tour.facts} fact{'s' * (tour.facts != 1)}",
        "type": tour.predicate.neo4j_type,
        "means": tour.predicate.help,
        "month": f"{tour.as_of:%B %Y}",
        "since": _date(tour.since),
        "until": _date(tour.until),
        "ended": tour.ended.text if tour.ended is not None else "",
        "shell_namespace": shlex.quote(tour.namespace),
        "c_namespace": analyst.as_cypher(tour.namespace),
        "c_name": analyst.as_cypher(tour.subject),
        "c_predicate": analyst.as_cypher(tour.predicate.name),
        "c_as_of": _moment(tour.as_of),
        "c_since": _moment(tour.since),
        "c_until": _moment(tour.until),
        "parameters": parameters(tour).removeprefix(":"),
    }


def _library() -> Iterator[str]:
    for query in analyst.library().values():
        yield f'<li><a data-populate="{escape(query.query.text)}">{escape(query.title)}</a></li>'


def _date(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _moment(moment: datetime) -> str:
    """As it is written in Cypher; a day without its midnight."""
    if moment.timetz() == time(tzinfo=moment.tzinfo):
        return f"datetime('{moment.date().isoformat()}')"
    return analyst.as_cypher(moment)


class _Reader(HTMLParser):
    """Heading and query of a slide."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = self.query = ""
        self._within: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "h3" or (tag == "pre" and ("class", "runnable") in attrs):
            self._within = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            self._within = None

    def handle_data(self, data: str) -> None:
        if self._within == "h3":
            self.heading += data
        elif self._within == "pre":
            self.query += data
