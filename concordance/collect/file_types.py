"""The file types that no language plug-in claims: how they are recognised and named.

In: nothing. Out: tables from which the classifier builds its look-ups. Files of these types are later read as plain
text; they are distinguished so that a page says "Kotlin", not "text". A plug-in that claims a name or an extension
takes precedence over this table, so adding a language does not require editing it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from concordance.base.model import Category, Language

SOURCE, BUILD, SETTINGS = Category.SOURCE, Category.BUILD, Category.CONFIGURATION
PROSE, DATA = Category.DOCUMENTATION, Category.DATA


class FileType(NamedTuple):
    """A language as the classifier sees it."""

    name: str  # as stored
    title: str  # as people write it
    kind: Category  # the usual purpose of such files
    extensions: str = ""  # with the dot, lower case, separated by blanks
    filenames: str = ""  # whole names or globs
    interpreters: str = ""  # of a "#!" line


TEXT = FileType(
    "text", "Plain text", PROSE, ".txt .text",
    "LICENSE LICENCE COPYING NOTICE README AUTHORS CONTRIBUTORS MAINTAINERS CREDITS CHANGES ChangeLog INSTALL NEWS TODO"
    " THANKS CITATION",
)  # fmt: skip
UNKNOWN_TEXT = FileType("text", "Plain text", DATA)

# Extensions for which case matters.
CASED_EXTENSIONS = MappingProxyType({".C": "cpp", ".H": "cpp", ".F": "fortran"})

# After a known name or extension, these say only that the file is a template or a copy.
TEMPLATE_SUFFIXES = (
    ".in", ".j2", ".jinja", ".jinja2", ".template", ".tmpl", ".tpl", ".mustache", ".erb", ".ejs", ".cmakein",
    ".dist", ".example", ".sample", ".default", ".orig", ".bak", ".old", ".tmp", ".oss", ".src", "-tpl", "_shipped",
)  # fmt: skip

# Names in modelines for languages without a plug-in, if they are not the language's own name.
ALIASES = MappingProxyType(
    {
        "asm": "assembly",
        "cperl": "perl",
        "dosbatch": "batch",
        "gas": "assembly",
        "latex": "tex",
        "nxml": "xml",
        "plaintex": "tex",
        "sgml": "xml",
    }
)

# fmt: off
OTHERS: tuple[FileType, ...] = (
    # programming languages
    FileType("actionscript", "ActionScript", SOURCE, ".as"),
    FileType("ada", "Ada", SOURCE, ".adb .ads"),
    FileType("agda", "Agda", SOURCE, ".agda"),
    FileType("apex", "Apex", SOURCE, ".apex .trigger"),
    FileType("applescript", "AppleScript", SOURCE, ".applescript .scpt", "", "osascript"),
    FileType("asn1", "ASN.1", SOURCE, ".asn1 .asn"),
    FileType("assembly", "Assembly", SOURCE, ".s .asm .nasm .ppc .fuc .fuc3 .fuc5"),
    FileType("awk", "AWK", SOURCE, ".awk .gawk", "", "awk gawk mawk"),
    FileType("batch", "Batch", SOURCE, ".bat .cmd"),
    FileType("bpftrace", "bpftrace", SOURCE, ".bt", "", "bpftrace"),
    FileType("clojure", "Clojure", SOURCE, ".clj .cljs .cljc .edn", "", "clojure bb"),
    FileType("cobol", "COBOL", SOURCE, ".cob .cbl .cpy"),
    FileType("coccinelle", "Coccinelle semantic patch", SOURCE, ".cocci", "", "spatch"),
    FileType("coffeescript", "CoffeeScript", SOURCE, ".coffee", "", "coffee"),
    FileType("common_lisp", "Common Lisp", SOURCE, ".lisp .lsp .asd", "", "sbcl clisp"),
    FileType("coq", "Coq", SOURCE, ".coq"),
    FileType("crystal", "Crystal", SOURCE, ".cr", "", "crystal"),
    FileType("csharp", "C#", SOURCE, ".cs .csx"),
    FileType("cython", "Cython", SOURCE, ".pyx .pxd .pxi"),
    FileType("d", "D", SOURCE, ".d .di"),
    FileType("dart", "Dart", SOURCE, ".dart", "", "dart"),
    FileType("elisp", "Emacs Lisp", SOURCE, ".el", ".emacs"),
    FileType("elixir", "Elixir", SOURCE, ".ex .exs", "", "elixir"),
    FileType("elm", "Elm", SOURCE, ".elm"),
    FileType("erlang", "Erlang", SOURCE, ".erl .hrl .escript", "rebar.config", "escript"),
    FileType("f2py", "f2py signature", SOURCE, ".pyf"),
    FileType("forth", "Forth", SOURCE, ".fth .4th .forth"),
    FileType("fortran", "Fortran", SOURCE, ".f .f77 .f90 .f95 .f03 .f08 .for .ftn .fpp"),
    FileType("fsharp", "F#", SOURCE, ".fs .fsi .fsx"),
    FileType("gdscript", "GDScript", SOURCE, ".gd"),
    FileType("gherkin", "Gherkin", SOURCE, ".feature"),
    FileType("glsl", "GLSL", SOURCE, ".glsl .vert .frag .geom .comp .tesc .tese .glslh .vsh .fsh .rgen .rchit"),
    FileType("groovy", "Groovy", SOURCE, ".groovy .gvy", "Jenkinsfile", "groovy"),
    FileType("hack", "Hack", SOURCE, ".hack .hhi", "", "hhvm"),
    FileType("haskell", "Haskell", SOURCE, ".hs .lhs .hsc", "", "runhaskell runghc"),
    FileType("haxe", "Haxe", SOURCE, ".hx"),
    FileType("hlsl", "HLSL", SOURCE, ".hlsl .fx .fxh .hlsli"),
    FileType("idl", "Interface definition", SOURCE, ".idl .webidl .thrift .fbs .capnp .avdl"),
    FileType("idris", "Idris", SOURCE, ".idr"),
    FileType("janet", "Janet", SOURCE, ".janet"),
    FileType("julia", "Julia", SOURCE, ".jl", "", "julia"),
    FileType("kotlin", "Kotlin", SOURCE, ".kt .kts"),
    FileType("lean", "Lean", SOURCE, ".lean"),
    FileType("less", "Less", SOURCE, ".less"),
    FileType("lex", "Lex", SOURCE, ".l .ll .lex .flex"),
    FileType("linker_script", "Linker script", SOURCE, ".ld .lds .lds.s .ldscript"),
    FileType("litmus", "Litmus test", SOURCE, ".litmus"),
    FileType("llvm", "LLVM assembly", SOURCE, ".llvm"),
    FileType("lua", "Lua", SOURCE, ".lua .rockspec", "", "lua luajit"),
    FileType("m4", "M4", SOURCE, ".m4"),
    FileType("mathematica", "Mathematica", SOURCE, ".wl .wls .nb .mathematica"),
    FileType("matlab", "MATLAB", SOURCE, ".matlab .mlx", "", "octave"),
    FileType("mercury", "Mercury", SOURCE, ".moo"),
    FileType("metal", "Metal", SOURCE, ".metal"),
    FileType("mlir", "MLIR", SOURCE, ".mlir"),
    FileType("mojo", "Mojo", SOURCE, ".mojo .🔥"),
    FileType("module_definition", "Module definition", BUILD, ".def"),
    FileType("nim", "Nim", SOURCE, ".nim .nims .nimble"),
    FileType("nix", "Nix", SOURCE, ".nix", "", "nix-shell"),
    FileType("nushell", "Nushell", SOURCE, ".nu", "", "nu"),
    FileType("ocaml", "OCaml", SOURCE, ".ml .mli .mll .mly", "", "ocaml ocamlrun"),
    FileType("opencl", "OpenCL", SOURCE, ".cl .clh .opencl"),
    FileType("openscad", "OpenSCAD", SOURCE, ".scad"),
    FileType("pascal", "Pascal", SOURCE, ".pas .pp .dpr .lpr"),
    FileType("perl", "Perl", SOURCE, ".pl .pm .pod .t .psgi", "cpanfile", "perl"),
    FileType("php", "PHP", SOURCE, ".php .php3 .php4 .php5 .phtml", "", "php"),
    FileType("pony", "Pony", SOURCE, ".pony"),
    FileType("postscript", "PostScript", DATA, ".ps .eps"),
    FileType("powershell", "PowerShell", SOURCE, ".ps1 .psm1 .psd1", "", "pwsh powershell"),
    FileType("prolog", "Prolog", SOURCE, ".prolog .plt", "", "swipl"),
    FileType("purescript", "PureScript", SOURCE, ".purs"),
    FileType("qml", "QML", SOURCE, ".qml"),
    FileType("r", "R", SOURCE, ".r", ".Rprofile", "Rscript"),
    FileType("racket", "Racket", SOURCE, ".rkt", "", "racket"),
    FileType("raku", "Raku", SOURCE, ".raku .rakumod .p6", "", "raku"),
    FileType("reason", "Reason", SOURCE, ".re .rei"),
    FileType("ruby", "Ruby", SOURCE, ".rb .rake .gemspec .podspec .ru",
             "Rakefile Gemfile Podfile Fastfile Vagrantfile Brewfile Appfile Matchfile", "ruby jruby"),
    FileType("sass", "Sass", SOURCE, ".sass .scss"),
    FileType("scala", "Scala", SOURCE, ".scala .sc", "", "scala"),
    FileType("scheme", "Scheme", SOURCE, ".scm .ss .sld", "", "guile"),
    FileType("sed", "sed", SOURCE, ".sed", "", "sed"),
    FileType("slang", "Slang", SOURCE, ".slang"),
    FileType("smalltalk", "Smalltalk", SOURCE, ".st"),
    FileType("smt", "SMT-LIB", SOURCE, ".smt2 .smt"),
    FileType("solidity", "Solidity", SOURCE, ".sol"),
    FileType("sql", "SQL", SOURCE, ".sql .ddl .pgsql .psql"),
    FileType("standard_ml", "Standard ML", SOURCE, ".sml .sig"),
    FileType("stylus", "Stylus", SOURCE, ".styl"),
    FileType("svelte", "Svelte", SOURCE, ".svelte"),
    FileType("swift", "Swift", SOURCE, ".swift", "", "swift"),
    FileType("swig", "SWIG", SOURCE, ".i .swg"),
    FileType("systemtap", "SystemTap", SOURCE, ".stp", "", "stap"),
    FileType("systemverilog", "SystemVerilog", SOURCE, ".sv .svh"),
    FileType("tablegen", "TableGen", SOURCE, ".td"),
    FileType("tcl", "Tcl", SOURCE, ".tcl .tk", "", "tclsh wish"),
    FileType("tla", "TLA+", SOURCE, ".tla"),
    FileType("vala", "Vala", SOURCE, ".vala .vapi"),
    FileType("verilog", "Verilog", SOURCE, ".v .vh"),
    FileType("vhdl", "VHDL", SOURCE, ".vhd .vhdl"),
    FileType("vim", "Vim script", SOURCE, ".vim", ".vimrc .gvimrc _vimrc"),
    FileType("visual_basic", "Visual Basic", SOURCE, ".vb .bas .vbs"),
    FileType("vue", "Vue", SOURCE, ".vue"),
    FileType("webassembly", "WebAssembly text", SOURCE, ".wat .wast"),
    FileType("wgsl", "WGSL", SOURCE, ".wgsl"),
    FileType("yacc", "Yacc", SOURCE, ".y .yy .yacc"),
    FileType("zig", "Zig", SOURCE, ".zig .zon"),
    # the web, templates and mark-up
    FileType("asciidoc", "AsciiDoc", PROSE, ".adoc .asciidoc .asc"),
    FileType("bibtex", "BibTeX", PROSE, ".bib .bst"),
    FileType("css", "CSS", SOURCE, ".css .pcss"),
    FileType("docbook", "DocBook", PROSE, ".docbook .dbk"),
    FileType("dot", "Graphviz", PROSE, ".dot .gv"),
    FileType("freemarker", "FreeMarker", SOURCE, ".ftl"),
    FileType("haml", "Haml", SOURCE, ".haml"),
    FileType("slim", "Slim", SOURCE, ".slim"),
    FileType("pug", "Pug", SOURCE, ".pug .jade"),
    FileType("handlebars", "Handlebars", SOURCE, ".hbs .handlebars"),
    FileType("html", "HTML", SOURCE, ".html .htm .xhtml .shtml"),
    FileType("jinja", "Jinja template", SOURCE, ".j2 .jinja .jinja2"),
    FileType("jupyter", "Jupyter notebook", PROSE, ".ipynb"),
    FileType("liquid", "Liquid", SOURCE, ".liquid"),
    FileType("mdx", "MDX", PROSE, ".mdx"),
    FileType("mermaid", "Mermaid", PROSE, ".mmd .mermaid"),
    FileType("mustache", "Mustache template", SOURCE, ".mustache"),
    FileType("org", "Org", PROSE, ".org"),
    FileType("plantuml", "PlantUML", PROSE, ".puml .plantuml"),
    FileType("roff", "Manual page", PROSE, ".1 .2 .3 .4 .5 .6 .7 .8 .9 .man .roff .mdoc .ms"),
    FileType("erb", "ERB", SOURCE, ".erb"),
    FileType("ejs", "EJS", SOURCE, ".ejs"),
    FileType("template", "Template", SOURCE, ".template .tmpl .tpl .eex .heex"),
    FileType("tex", "LaTeX", PROSE, ".tex .ltx .sty .cls .dtx .latex"),
    FileType("texinfo", "Texinfo", PROSE, ".texi .texinfo"),
    FileType("textile", "Textile", PROSE, ".textile .mediawiki .wiki .creole"),
    FileType("typst", "Typst", PROSE, ".typ"),
    FileType("webvtt", "Subtitles", DATA, ".vtt .srt"),
    FileType("xml", "XML", DATA, ".xml .xsd .xsl .xslt .rng .dtd .wsdl .rss .atom .kml .gml .tei .xmi .qrc .ui"
             " .storyboard .xib .xaml .resx .gpx .xcscheme .xcworkspacedata .graphml .vrt"),
    # building and settings
    FileType("ant", "Ant", BUILD, "", "build.xml ivy.xml"),
    FileType("apparmor", "AppArmor profile", SETTINGS, ".apparmor"),
    FileType("autoconf", "Autoconf", BUILD, ".ac", "configure.ac configure.in"),
    FileType("automake", "Automake", BUILD, ".am"),
    FileType("bitbake", "BitBake", BUILD, ".bb .bbappend .bbclass"),
    FileType("buck", "Buck", BUILD, ".buck", "BUCK BUCK.* TARGETS .buckconfig*"),
    FileType("cabal", "Cabal", BUILD, ".cabal"),
    FileType("caddy", "Caddyfile", SETTINGS, "", "Caddyfile"),
    FileType("codeowners", "Code owners", SETTINGS, "", "CODEOWNERS OWNERS"),
    FileType("cue", "CUE", SETTINGS, ".cue"),
    FileType("desktop", "Desktop entry", SETTINGS, ".desktop .service .socket .timer .mount .target .rules"),
    FileType("device_tree", "Device tree", SOURCE, ".dts .dtsi .dtso"),
    FileType("doxyfile", "Doxygen configuration", SETTINGS, ".doxyfile .doxygen", "Doxyfile* .Doxyfile*"),
    FileType("editor_settings", "Editor settings", SETTINGS, "", ".editorconfig"),
    FileType("environment", "Environment variables", SETTINGS, ".env .envrc", ".env .env.* .envrc"),
    FileType("git_settings", "Git settings", SETTINGS, "", ".gitattributes .gitmodules .gitconfig .mailmap"
             " .git-blame-ignore-revs .git-blame-ignore"),
    FileType("gn", "GN", BUILD, ".gn .gni"),
    FileType("go_module", "Go module", BUILD, "", "go.mod go.work"),
    FileType("go_sum", "Checksums of Go modules", BUILD, "", "go.sum go.work.sum"),
    FileType("gradle", "Gradle", BUILD, ".gradle .gradle.kts"),
    FileType("graphql", "GraphQL", SOURCE, ".graphql .gql .graphqls"),
    FileType("hcl", "Terraform", SETTINGS, ".tf .tfvars .hcl .nomad"),
    FileType("hocon", "HOCON", SETTINGS, ".hocon"),
    FileType("htaccess", "Web server configuration", SETTINGS, ".htaccess .vcl .nginx", "nginx.conf httpd.conf"),
    FileType("ignore_list", "Ignore list", SETTINGS, ".gitignore .dockerignore", ".*ignore"),
    FileType("imake", "Imake", BUILD, "", "Imakefile"),
    FileType("java_properties", "Java properties", SETTINGS, ".properties"),
    FileType("jsonnet", "Jsonnet", SETTINGS, ".jsonnet .libsonnet"),
    FileType("just", "Justfile", BUILD, ".just", "justfile Justfile .justfile"),
    FileType("kconfig", "Kconfig", BUILD, "", "Kconfig Kconfig.* Kconfig-* *_defconfig defconfig .kunitconfig"),
    FileType("manifest", "Python manifest", BUILD, "", "MANIFEST.in MANIFEST"),
    FileType("maven", "Maven", BUILD, ".pom", "pom.xml"),
    FileType("meson", "Meson", BUILD, "", "meson.build meson_options.txt meson.options"),
    FileType("msbuild", "MSBuild project", BUILD, ".csproj .vcxproj .vbproj .fsproj .props .targets .sln .nuspec"),
    FileType("ninja", "Ninja", BUILD, ".ninja"),
    FileType("plist", "Property list", SETTINGS, ".plist .entitlements .xcprivacy .strings .stringsdict"),
    FileType("proguard", "ProGuard rules", BUILD, "", "proguard*.txt proguard-*.pro *-rules.pro"),
    FileType("python_requirements", "Python requirements", BUILD, "",
             "requirements*.txt *-requirements.txt *_requirements.txt *requirements*.in"),
    FileType("qmake", "qmake", BUILD, ".pro .pri .prf"),
    FileType("rpm_spec", "RPM spec", BUILD, ".spec"),
    FileType("runtime_version", "Version pin", SETTINGS, "",
             ".python-version .ruby-version .nvmrc .node-version .bazelversion .tool-versions .java-version"),
    FileType("sanitizer_list", "Sanitizer suppressions", SETTINGS, ".sup .supp .suppressions"),
    FileType("scons", "SCons", BUILD, "", "SConstruct SConscript wscript"),
    FileType("settings", "Settings", SETTINGS, ".conf .config .cnf .prefs .rc",
             ".*rc .bazelrc .inputrc .flowconfig .watchmanconfig .clang-format* .clang-tidy .clangd *_conf"),
    FileType("xcode", "Xcode project", BUILD, ".pbxproj .xcconfig"),
    # data
    FileType("antlr", "ANTLR grammar", SOURCE, ".g4 .antlr"),
    FileType("csv", "CSV", DATA, ".csv"),
    FileType("diff", "Patch", DATA, ".diff .patch .rej"),
    FileType("ebnf", "Grammar", SOURCE, ".ebnf .bnf .abnf .peg .pest .lark .gram"),
    FileType("geojson", "GeoJSON", DATA, ".geojson .topojson"),
    FileType("gettext", "Translation catalogue", DATA, ".po .pot"),
    FileType("intel_hex", "Hexadecimal firmware", DATA, ".hex .ihex .srec"),
    FileType("json_lines", "JSON lines", DATA, ".jsonl .ndjson"),
    FileType("json_with_comments", "JSON with comments", SETTINGS, ".jsonc .json5 .code-workspace"),
    FileType("pem", "Certificate or key", DATA, ".pem .crt .cer .csr .key .pub .gpg"),
    FileType("source_map", "Source map", DATA, ".map"),
    FileType("stl", "3D model", DATA, ".obj .stl .ply .gltf .mtl"),
    FileType("svg", "SVG image", DATA, ".svg"),
    FileType("tsv", "TSV", DATA, ".tsv .tab"),
    FileType("textproto", "Protocol buffer text", DATA, ".pbtxt .textproto .prototxt .textpb"),
    FileType("text", "Plain text", DATA, ".expect .expected .golden .snap .snapshot .approved .out .output .log .lst"
             " .dat .data .exceptions .stdout .stderr .lock .sum .sha256 .md5 .tbl .wkt .prj"),
)
# fmt: on


def from_plugin(language: Language) -> FileType:
    """Return a plug-in's language as a `FileType`."""
    return FileType(language.name, language.title, language.category)
