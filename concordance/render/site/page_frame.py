"""The frame around a page of the site: head, file tree on the left, outline on the right, search field.

In: the content of a page. Out: the whole HTML document. Nothing is loaded from elsewhere, and the page contains no
inline script or style, so that the strictest content security policy can be used. The page also works without scripts:
path, views and outline are plain links, and the search field is a form. Scripts add the tree, the hover cards and
results while you type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from concordance.base.blocks import TO_FILES, TO_FOLDERS, Ref, To
from concordance.base.characters import escape_hidden
from concordance.base.version import VERSION
from concordance.query.answers import split_key
from concordance.render.site.addresses import SiteAddresses
from concordance.render.site.html import SORTS, OutlineHeading

Links = list[tuple[str, str]]  # name, address relative to the page
_OF_FILE = (("Documentation", To.FILE), ("Source", To.SOURCE), ("Keywords", To.KEYWORDS))
_OF_FOLDER = (
    ("Contents", To.INDEX), ("About", To.FOLDER), ("Keywords", To.SUBTREE), ("Map", To.MAP), ("History", To.HISTORY)
)  # fmt: skip
_OF_WHOLE = (
    ("Contents", To.INDEX), ("Book", To.BOOK), ("Keywords", To.LETTERS), ("Map", To.MAP), ("Checks", To.REPORT),
)  # fmt: skip
SEARCH = "search.html"
_SCRIPTS = ("site", "tree", "outline", "search", "cards")  # loaded by every page, in this order
_DEEPEST = 3  # lowest heading level in the outline
_LONGEST = 400  # most entries of an outline; with more, only the top level is shown


@dataclass(frozen=True)
class Window:
    """One page, and everything in the frame around it."""

    repository: str  # name of the repository
    address: str  # of the page in the site
    title: str
    main: str  # HTML
    outline: Sequence[OutlineHeading] = field(default_factory=list)
    kind: str = ""  # of the page: file, source, folder_index ...
    path: str = ""  # file or folder that the page is about
    views: Sequence[tuple[str, str]] = field(default_factory=list)  # pages on the same subject: name, relative address
    folders: Sequence[tuple[str, str]] = field(default_factory=list)  # from the root down: name, relative address
    live: bool = False  # a server announces changes
    api: bool = False  # a server answers commands
    pages: Sequence[tuple[str, str]] = field(default_factory=list)  # about the whole repository: name, relative address
    blame: str = ""  # relative address of the commits of a source's lines; "" without a server
    name: str = ""  # last element of the breadcrumb: a file's name; "" if the page is that of the last folder
    around: str = ""  # the name of the page about the whole repository that the page belongs to
    reading: bool = False  # the repository is still being read: the page is loaded again when that has ended


def render_document(window: Window, root: str = "") -> str:
    """Return the HTML document; `root` is the address of the site, if not relative to the page."""
    up = root or "../" * window.address.count("/")
    server = (" data-api" if window.api or window.live else "") + (" data-live" if window.live else "")
    server += " data-reading" if window.reading else ""
    own = [name for name, kind in (("lines", "source"), ("map", "map")) if kind == window.kind]
    scripts = [*_SCRIPTS, *own, *(["reading"] if window.reading else []), *(["live"] if window.live else [])]
    loaded = "\n".join(f'<script defer src="{up}assets/{name}.js"></script>' for name in scripts)
    if window.kind != "source":
        loaded = f'<link rel="stylesheet" href="{up}assets/drawings.css">\n{loaded}'
    if f'<table class="{SORTS}' in window.main:
        loaded += f'\n<link rel="stylesheet" href="{up}assets/sorting.css">'
        loaded += f'\n<script defer src="{up}assets/sorting.js"></script>'
    repository = escape(escape_hidden(window.repository))
    if window.reading:
        loaded += f'\n<link rel="stylesheet" href="{up}assets/reading.css">'
        loaded += '\n<noscript><meta http-equiv="refresh" content="5"></noscript>'
    shown = f"{escape(escape_hidden(window.title))} · {repository}"
    return f"""<!doctype html>
<html lang="en" data-up="{up}" data-kind="{escape(window.kind)}" data-path="{escape(window.path)}"{server}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Concordance {VERSION}">
<title>{shown}</title>
<link rel="icon" type="image/svg+xml" href="{up}assets/icon.svg">
<link rel="stylesheet" href="{up}assets/site.css">
<link rel="stylesheet" href="{up}assets/page.css">
<script src="{up}assets/theme.js"></script>
{loaded}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
{_header(repository, up)}
<div class="window">
<nav class="tree" id="tree" aria-label="Files of the repository" tabindex="-1">{_whole(window)}{_above(window)}</nav>
<div class="content">
{_path(window)}{_views(window)}<main id="main" tabindex="-1">
{window.main}
</main>
<footer>Generated by Concordance {VERSION}</footer>
</div>
{outline(window.outline)}
</div>
<div id="said" role="status" aria-live="polite"></div>
</body>
</html>
"""


def error_document(title: str, why: str, root: str, sought: str = "") -> str:
    """Return the document of an address that has no page: the header with the search, what happened, and with
    `sought`, where else to look. Its links begin at the root of the server, because such an address may be of any
    depth."""
    shown = f"<h1>{escape(title)}</h1>\n<p>{escape(why)}</p>"
    if sought:
        name = f"<code>{escape(escape_hidden(sought))}</code>"
        search = f'<a href="{root}{SEARCH}?q={quote(sought, errors="surrogateescape")}">Search for {name}</a>'
        shown += f'\n<p>{search}, or go to the <a href="{root}index.html">front page</a>.</p>'
    window = Window("Front page", "", title, shown, kind="error", api=True)
    return render_document(window, root)


def _header(repository: str, up: str) -> str:
    return f"""<header class="top">
{_button("tree", "Files", "M3 6h18M3 12h18M3 18h18", "only-narrow", opens=True)}
<a class="home" href="{up}index.html">{MARK}<span>{repository}</span></a>
<form class="search" role="search" action="{up}{SEARCH}" method="get">
<input id="search" name="q" type="search" placeholder="Search names and words" aria-label="Search"
 autocomplete="off" autocapitalize="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div id="found" hidden></div>
</form>
{_button("outline", "On this page", "M4 6h10M8 12h12M8 18h8", "only-narrow", opens=True)}
{_button("theme", "Theme: as the system", "M12 3a9 9 0 0 0 0 18zM12 3a9 9 0 0 1 0 18")}
{_button("keys", "Keys", "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 17.5v.5", "only-wide")}
</header>"""


# The logo: the middle of a page of a concordance, where each line has the word that was looked up in the same column.
MARK = (
    '<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">'
    '<path class="rule" d="M2 6h5M17 6h5M4 12h3M17 12h3M2 18h5M17 18h3"/>'
    '<path class="word" d="M9 6h6M9 12h6M9 18h6"/></svg>'
)


def _button(does: str, label: str, path: str, where: str = "", opens: bool = False) -> str:
    """Return a button of the header, with an icon of one path; `opens`: it shows or hides the element with its name."""
    what = f' aria-controls="{does}" aria-expanded="false"' if opens else ""
    drawn = f'<path d="{path}"/></svg>'
    sign = f'<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">{drawn}'
    shown = f"icon {where}".strip()
    return f'<button type="button" class="{shown}" data-does="{does}"{what} aria-label="{label}">{sign}</button>'


def _whole(window: Window) -> str:
    """Return links to the pages about the whole repository."""
    up = "../" * window.address.count("/")
    rows = []
    for name, to in window.pages:
        now = ' aria-current="page"' if to == window.address and not up else ""
        now = now or (' aria-current="true"' if name == window.around else "")
        rows.append(f'<li><a href="{escape(to)}"{now}>{escape(name)}</a></li>')
    return f'<ul class="pages">{"".join(rows)}</ul>' if rows else ""


def _above(window: Window) -> str:
    """Return the folders above, which the tree shows until (or without) its script."""
    rows = "".join(f'<li><a href="{escape(to)}">{escape(escape_hidden(name))}</a></li>' for name, to in window.folders)
    return f'<ul class="plain">{rows}</ul>' if rows else ""


def _path(window: Window) -> str:
    """Return the breadcrumb: the folders from the root down to the page's subject."""
    if not window.folders:
        return ""
    last = len(window.folders) - 1 if not window.name else -1
    rows = []
    for place, (name, to) in enumerate(window.folders):
        now = ' aria-current="page"' if place == last else ""
        rows.append(f'<li><a href="{escape(to)}"{now}>{escape(escape_hidden(name))}</a></li>')
    if window.name:
        rows.append(f'<li aria-current="page">{escape(escape_hidden(window.name))}</li>')
    return f'<nav class="path" aria-label="Path"><ol>{"".join(rows)}</ol></nav>\n'


def _views(window: Window) -> str:
    """Return links to all pages about the same file or folder."""
    if len(window.views) < 2 or window.kind == "search":
        return ""
    here = window.address.rpartition("/")[2]
    rows = []
    for name, to in window.views:
        now = ' aria-current="page"' if to in ("", here) else ""
        rows.append(f'<li><a href="{escape(to or here)}"{now}>{escape(name)}</a></li>')
    return f'<nav class="views" aria-label="Views"><ul>{"".join(rows)}</ul>{_history(window)}</nav>\n'


def _history(window: Window) -> str:
    """Return the button that shows the commits beside the lines of a source."""
    if not window.blame:
        return ""
    asks = f'data-does="history" data-from="{escape(window.blame)}" aria-pressed="false"'
    return f'<button type="button" {asks}>History</button>'


def outline(entries: Sequence[OutlineHeading]) -> str:
    """Return the outline of a page."""
    shown = [entry for entry in entries if 1 < entry.level <= _DEEPEST]
    if len(shown) > _LONGEST:
        shown = [entry for entry in shown if entry.level == 2]
    rows = "".join(
        f'<li class="level{entry.level}"><a href="#{escape(entry.anchor)}">{escape(escape_hidden(entry.text))}</a></li>'
        for entry in shown
    )
    inner = f'<p class="caption" id="outline-title">On this page</p><ul>{rows}</ul>' if rows else ""
    return f'<nav class="outline" id="outline" aria-label="On this page" tabindex="-1">{inner}</nav>'


def search_page() -> str:
    """Return the content of the results page, which a script fills."""
    return """<h1>Search</h1>
<div class="kinds" role="group" aria-label="Kinds"></div>
<p id="count" role="status">Type in the field above: a name, parts of it (<code>batch norm</code>), its initials
(<code>FSDP</code>) or some words.</p>
<div id="results"></div>
<section class="how">
<h2 id="how">Search syntax</h2>
<dl>
<dt><code>DataLoader</code></dt><dd>a name, its beginning, or parts of it; spelling mistakes are tolerated</dd>
<dt><code>"exact words"</code></dt><dd>exactly these words, in this order</dd>
<dt><code>class: fn: file: kw:</code></dt><dd>only classes, functions, files, keywords: <code>fn:forward</code></dd>
<dt><code>in:folder</code></dt><dd>only below a folder: <code>in:docs index</code></dd>
</dl>
</section>
<noscript><p>The search needs JavaScript. Without it, use the keyword index, linked from the front page: it lists every
name.</p></noscript>"""


# --- The links in the frame: the folders above a page, other pages on the same subject, pages about the repository.


class FrameLinks(NamedTuple):
    """The links in the frame of a page."""

    folders: Links  # from the root down
    views: Links  # pages on the same file or folder
    pages: Links  # pages about the whole repository
    name: str  # what follows the folders in the breadcrumb; "" if the page is that of the last folder
    around: str = ""  # the name of the page about the whole repository that the page is, or belongs to


def frame_links(
    addresses: SiteAddresses, repository: str, address: str, ref: Ref, title: str, more: Sequence[tuple[str, str]] = (),
    has_history: bool = True,
) -> FrameLinks:  # fmt: skip
    """Return the links in the frame of a page; `more` are further kinds of pages about the whole repository, each as
    the text of its link and the kind."""

    def to(kind: str, path: str) -> str:
        return addresses.to(address, addresses.page(Ref(kind, path)))

    of_file, of_folder = ref.to in TO_FILES, ref.to in TO_FOLDERS
    folder = ref.path.rpartition("/")[0] if of_file else ref.path if of_folder else ""
    steps = folder.split("/") if folder else []
    folders = [(repository, to(To.INDEX, ""))]
    folders += [(name, to(To.INDEX, "/".join(steps[: place + 1]))) for place, name in enumerate(steps)]
    if ref.to == To.DEFINITION:
        folders.append((ref.path.rpartition("/")[2], to(To.FILE, ref.path)))
    around = next((name for name, kind in (*_OF_WHOLE, *more) if kind == ref.to and not of_folder), "")
    if around and ref.path:
        folders.append((around, to(ref.to, "")))
    views: Links = []
    if of_file or of_folder:
        kinds = _OF_FILE if of_file else [row for row in _OF_FOLDER if has_history or row[1] != To.HISTORY]
        views = [(name, to(kind, ref.path)) for name, kind in kinds]
    here = addresses.to(address, address)
    views = [*(views or [("Page", here)]), ("Markdown", f"{here.removesuffix('.html')}.md")]
    pages = [(name, to(kind, "")) for name, kind in (*_OF_WHOLE, *more)]
    return FrameLinks(folders, views, pages, ref.path if around and ref.path else _last_breadcrumb(ref, title), around)


def _last_breadcrumb(ref: Ref, title: str) -> str:
    """Return what follows the folders in the breadcrumb."""
    if ref.to == To.DEFINITION:
        return ".".join(split_key(ref.at))
    return ref.path.rpartition("/")[2] if ref.to in TO_FILES else "" if ref.to in TO_FOLDERS else title
