"""A plot made fit for a page: colours that follow light and dark, ids of its own, words for those
who do not see it.

Colours are attributes, and a style sheet exchanges them in the dark; so a page may forbid inline
styles.
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

PAPER: Final = "#ffffff"
INK: Final = "#1f2733"
LINE: Final = "#d9dee5"
REFERENCE: Final = "#b0b0b0"
SERIES: Final = (
    *("#1f6fb4", "#c0392b", "#2e7d32", "#8a5a00"),
    *("#7b3fa0", "#00798a", "#c2185b", "#5b6573"),
)
DARK: Final = dict(
    zip(
        (PAPER, INK, LINE, REFERENCE, *SERIES),
        (
            *("#151a21", "#e4e8ee", "#333c48", "#7d8794"),
            *("#6db3f2", "#ff8a7a", "#7ccf80", "#e0b050"),
            *("#c79bf0", "#4dd0e1", "#f48fb1", "#b0bac5"),
        ),
        strict=True,
    )
)
"""Colour → the one for it in the dark."""
_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_USE = re.compile(r"#(?=[A-Za-z])")
_FACE = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def style() -> str:
    """The style sheet that all plots share."""
    rules = "\n".join(
        f'  svg [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    face = f"svg text {{ font-family: {_FACE}; }}"
    return f"{face}\n@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n"


def tidy(text: str, name: str, alt: str) -> str:
    """A plot of matplotlib's as one element of a page.

    Args:
        name: its ids begin with it, so that several plots may stand on one page.
        alt: what it shows, in words.
    """
    root = ElementTree.fromstring(text)
    root.attrib |= {"role": "img", "aria-label": alt, "stroke-linejoin": "round"}
    for gone in ("width", "height", "version"):
        root.attrib.pop(gone, None)
    for child in [each for each in root if each.tag in (_tag("metadata"), _tag("defs"))]:
        if child.tag == _tag("metadata") or child.find(_tag("style")) is not None:
            root.remove(child)
    for each in root.iter():
        each.tag = each.tag.removeprefix(f"{{{_SVG}}}")
        _flatten(each, name)
    return ElementTree.tostring(root, encoding="unicode").strip() + "\n"


def alone(svg: str) -> str:
    """The same as a file of its own."""
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]
    head = f'<svg xmlns="{_SVG}" width="{width}pt" height="{height}pt" '
    opened, rest = svg.replace("<svg ", head, 1).split(">", 1)
    return f"{opened}>\n<style>\n{style()}</style>{rest}"


def _tag(name: str) -> str:
    return f"{{{_SVG}}}{name}"


def _flatten(each: ElementTree.Element, name: str) -> None:
    for rule in filter(None, map(str.strip, each.attrib.pop("style", "").split(";"))):
        key, _, value = rule.partition(":")
        if key != "font-family":
            each.set(key, value.strip())
    if _HREF in each.attrib:
        each.set("href", each.attrib.pop(_HREF))
    if "id" in each.attrib:
        each.set("id", f"{name}-{each.attrib['id']}")
    for key in ("href", "clip-path"):
        if key in each.attrib:
            each.set(key, _USE.sub(f"#{name}-", each.attrib[key], count=1))
