"""Words that look like the path, the name or the dotted name of a file, wherever they are written.

In: any file that was read as text. Out: an end for each such word, at its first place in the file: `how` says how to
read it. Compilers and build tools do not follow these references: templates, test data and shaders that a program opens
by name, modules that settings name in a string, lists of sources, documents that point at a file. Which words name a
file is only known after all files have been read. Imports and includes are left out: they are resolved as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Category
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.registry import language_of

LANGUAGES = ()
WORDS = (b".", b"/", b"(")
_EXTENSIONS = (
    b"py pyi pyx pxd ipynb c cc cpp cxx cu cuh h hh hpp hxx inl inc def m mm S s asm hip metal glsl comp frag vert "
    b"hlsl cl proto fbs thrift js mjs cjs jsx ts tsx vue svelte css scss sass less html htm xhtml xml xsl svg j2 "
    b"jinja jinja2 tmpl tpl mustache hbs ejs erb md rst txt adoc tex yaml yml json jsonl toml ini cfg conf csv tsv "
    b"sql graphql sh bash zsh fish ps1 bat cmd cmake bzl bazel mk mak gradle kts kt java go rs rb pl pm php lua r "
    b"R jl swift scala clj ex exs erl hs ml fs cs vb f f90 png gif jpg jpeg ico webp pdf zip gz tgz tar whl egg po "
    b"pot mo geojson dbf shp prj shx pt pth pkl npz npy onnx lock in patch diff service plist xcconfig podspec ld "
    b"lds map dot puml woff woff2 ttf otf eot env example sample stub template supp expect"
).split()
_ENDING = re.compile(rb"\.(?:" + b"|".join(_EXTENSIONS) + rb")(?![\w(/-])(?!\.\w)")
_PATH_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.@/-"
_QUOTED = re.compile(rb"[\"'`]((?:\.{0,2}/)?[\w+@-]+(?:[./][\w+@-]+)+)(?=[\"'`:])")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+\Z")  # modules that are loaded by name may begin with a digit
_MIGRATION = re.compile(rb"\(\s*[\"'](\w+)[\"'],\s*[\"'](\d{4}_\w+)[\"'],?\s*\)")  # Django: `("shop", "0001_initial")`
# `MACRO(name)`. The bracket is searched first: a pattern that begins with a fixed byte is searched fast.
_ONE_ARGUMENT = re.compile(rb"\((?<=[A-Z0-9_]\()\s*([A-Za-z_]\w{2,80})\s*\)")
_MACRO_NAME = re.compile(rb"(?<!\w)[A-Z][A-Z0-9_]{2,60}\Z")
_LONGEST_MACRO_NAME = 61
_LABEL = re.compile(rb"(?<=[\"'])(?:@\w*)?//([\w./-]+)(?=[\"':])")
_TOCTREE = re.compile(rb"^([ \t]*+)\.\. toctree::[^\n]*+\n((?:\1[ \t]++[^\n]*+\n|[ \t]*+\n)++)", re.M)
_ENTRY = re.compile(rb"^[ \t]++(?:[^<:\n]*+<)?(/?[\w+./-]++)>?[ \t]*+$", re.M)
_DOC_ROLE = re.compile(rb":doc:`(?:[^`<\n]*<)?(/?[\w+./-]+)>?`")
_LISTED = re.compile(rb"^[ \t]+\"?([A-Za-z]\w+(?:[-/]\w+)*)\"?[ \t]*\)?$", re.M)  # an argument alone on its line
# `add_my_test(name …)`: the first argument of a command that is not one of CMake's own, by their names.
_FIRST_ARGUMENT = re.compile(
    rb"^[ \t]*+(?!(?:target|set|get|cmake|ctest|find|try|separate|mark|enable|define)_|(?:add_(?:compile_definitions"
    rb"|compile_options|custom_command|custom_target|definitions|dependencies|executable|library|link_options"
    rb"|subdirectory|test)|set|get|if|elseif|else|foreach|while|function|macro|project|include|message|string|list"
    rb"|file|option|unset|return|configure_file|execute_process|install|export|math|end\w+)\b)"
    rb"\w+[ \t]*\([ \t]*\"?([A-Za-z]\w+(?:[-/]\w+)*)\"?(?=[\s)])", re.M | re.I
)  # fmt: skip
# `res.render("show")`, and in the view itself `include("header")`: neither folder nor extension are written.
_RENDERED = re.compile(rb"\.render\(\s*[\"'`]([\w-]+)[\"'`]")
_INCLUDED = re.compile(rb"\binclude\(\s*[\"']([\w-]+)[\"']")
_VIEWS = {"javascript": (_RENDERED,), "typescript": (_RENDERED,), "ejs": (_INCLUDED,)}
# `"tests/ui/*.rs"`: the files of one folder; `"crates/*"`, in a manifest: the packages in it.
_PATTERN = re.compile(rb"[\"'`]((?:\.{0,2}/)?[\w+@-][\w+@./-]*/\*(?:\.\w+)*)[\"'`]")
_END_OF_PATTERN = re.compile(rb"/\*(?:\.\w+)*[\"'`]")  # few files have one, and it is found fast
_MANIFESTS = (("toml", b"[workspace"), ("json", b'"workspaces"'))
_NOT_FOLLOWED = (b"<svg", b'{"version":3,')  # the words in a picture are shown; a source map is of generated code
_LONGEST_WORD = 200
_LONGEST_FILE = 2_000_000  # bytes; longer files hold data
_MANIFEST = 500  # a file with more of these words lists files, and says nothing about them; build files aside


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the words that may name a file, each once."""
    if len(context.data) > _LONGEST_FILE or context.data.lstrip(b"\xef\xbb\xbf \n").startswith(_NOT_FOLLOWED):
        return
    imports = {row.line for row in context.imports}
    places: dict[tuple[str, str], int] = {}
    for at, word, how in _words(context):
        if (word, how) not in places and context.source.line(at) not in imports:
            places[word, how] = at
    if len(places) <= _MANIFEST or language_of(context.language).category is Category.BUILD:
        for (word, how), at in places.items():
            name = word.rpartition("/")[2] if how == "migration" else word
            yield BridgeEnd(at, "names", name, word, (("how", how),))


def _words(context: RuleContext) -> Iterator[tuple[int, str, str]]:
    """Yield each word with its offset, and how it is to be read."""
    data = context.data
    path_ends: set[int] = set()  # of the words that are paths
    for match in _ENDING.finditer(data):
        before = data[max(0, match.start() - _LONGEST_WORD) : match.start()]
        start = match.start() - len(before) + len(before.rstrip(_PATH_BYTES))
        start += data.startswith(b"%s/", start - 1)  # the folder is filled in at run time
        if start < match.start():
            is_address = data.startswith(b"//", start)
            path_ends.add(match.end())
            yield start, data[start : match.end()].decode(), "address" if is_address else "path"
    for match in _QUOTED.finditer(data):
        word = match[1].decode()
        if _DOTTED.match(word) or match.end(1) not in path_ends:
            yield match.start(1), word, "dotted" if _DOTTED.match(word) else "stem"
    is_manifest = any(context.language == language and mark in data for language, mark in _MANIFESTS)
    if is_manifest or not language_of(context.language).is_keyed:
        for match in _PATTERN.finditer(data) if _END_OF_PATTERN.search(data) else ():
            if not match[1].endswith(b"*") or is_manifest:
                yield match.start(1), match[1].decode(), "pattern"
    if context.language == "python":
        for match in _MIGRATION.finditer(data):
            yield match.start(2), f"{match[1].decode()}/migrations/{match[2].decode()}", "migration"
    if context.language in C_FAMILY:
        for match in _ONE_ARGUMENT.finditer(data):
            if _MACRO_NAME.search(data, max(0, match.start() - _LONGEST_MACRO_NAME), match.start()):
                yield match.start(1), match[1].decode(), "macro"
    for pattern in _VIEWS.get(context.language, ()):
        for match in pattern.finditer(data):
            yield match.start(1), match[1].decode(), "view"
    if context.language == "cmake":
        for pattern in (_LISTED, _FIRST_ARGUMENT):
            for match in pattern.finditer(data):
                yield match.start(1), match[1].decode(), "listed"
    if context.language == "starlark":
        for match in _LABEL.finditer(data):
            yield match.start(1), match[1].decode(), "label"
    if context.language in ("text", "rst", "markdown"):
        for block in _TOCTREE.finditer(data):
            for match in _ENTRY.finditer(data, *block.span(2)):
                yield match.start(1), match[1].decode(), "stem"
        for match in _DOC_ROLE.finditer(data):
            yield match.start(1), match[1].decode(), "stem"
