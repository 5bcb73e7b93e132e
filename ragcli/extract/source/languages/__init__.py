"""The one table of languages: names, extensions, shebangs, grammar, comment style; and which language a file is in.

Light on purpose, since format detection imports it: no parser, no extractor, no input or output. A language is added by
a row here and, where a grammar exists, a query file `<name>.scm` beside this module.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

UNKNOWN = "source"
HEAD_CHARS = 8_192  # how much of a file content rules look at


class Language(NamedTuple):
    """A row of the table; the string columns are blank-separated words.

    `grammar` is `module.function` of a tree-sitter wheel ('' without one), `query` the query file's stem where it is
    not the name, `family` the structural adapter's pattern row, `comment` the line comment marks, and `/*` for blocks.
    """

    name: str
    extensions: str
    names: str = ""
    shebangs: str = ""
    grammar: str = ""
    query: str = ""
    family: str = "keyword"
    comment: str = "// /*"


_L = Language
LANGUAGES: tuple[Language, ...] = (
    _L("java", "java", grammar="tree_sitter_java.language", family="c"),
    _L("kotlin", "kt kts", shebangs="kotlin kotlinc", grammar="tree_sitter_kotlin.language"),
    _L("javascript", "js mjs cjs jsx es6 jsm", "Jakefile", "node nodejs bun", "tree_sitter_javascript.language",
       family="script"),
    _L("typescript", "ts mts cts tsx", "", "deno ts-node tsx", "tree_sitter_typescript.language_typescript",
       family="script"),
    _L("python", "py pyi pyw py3 gyp gypi wsgi", "SConstruct SConscript wscript", "python pypy uv",
       "tree_sitter_python.language", comment="#"),
    _L("go", "go", grammar="tree_sitter_go.language", family="go"),
    _L("rust", "rs", shebangs="rust-script cargo", grammar="tree_sitter_rust.language"),
    _L("ruby", "rb rake gemspec ru podspec rbw rbi jbuilder thor",
       "Rakefile Gemfile Guardfile Vagrantfile Podfile Fastfile Brewfile Capfile Berksfile Dangerfile",
       "ruby jruby rake", "tree_sitter_ruby.language", comment="#"),
    _L("php", "php phtml php3 php4 php5 php7 php8 phps inc", shebangs="php", grammar="tree_sitter_php.language_php",
       family="script", comment="// # /*"),
    _L("scala", "scala sc sbt", shebangs="scala amm scala-cli", grammar="tree_sitter_scala.language"),
    _L("c", "c h", shebangs="tcc", grammar="tree_sitter_c.language", family="c"),
    _L("cpp", "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp txx ino cppm ixx",
       grammar="tree_sitter_cpp.language", family="c"),
    _L("cuda", "cu cuh", grammar="tree_sitter_cpp.language", query="cpp", family="c"),
    _L("csharp", "cs csx cake", shebangs="dotnet-script", grammar="tree_sitter_c_sharp.language", family="c"),
    _L("swift", "swift", shebangs="swift", grammar="tree_sitter_swift.language"),
    _L("shell", "sh bash zsh ksh bats ebuild eclass command profile",
       ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .kshrc PKGBUILD APKBUILD",
       "sh bash zsh ksh dash ash bats mksh", "tree_sitter_bash.language", family="shell", comment="#"),
    _L("sql", "sql ddl dml pgsql psql plsql pls pkb pks tsql mysql", grammar="tree_sitter_sql.language",
       family="sql", comment="-- # /*"),
    _L("css", "css", grammar="tree_sitter_css.language", family="css", comment="/*"),
    _L("lua", "lua luau rockspec wlua", shebangs="lua luajit luau", grammar="tree_sitter_lua.language", comment="--"),
    _L("elixir", "ex exs", shebangs="elixir", grammar="tree_sitter_elixir.language", comment="#"),
    _L("haskell", "hs hsc lhs hs-boot", shebangs="runhaskell runghc stack", grammar="tree_sitter_haskell.language",
       family="equation", comment="-- {-"),
    _L("zig", "zig zon", grammar="tree_sitter_zig.language", comment="//"),
    _L("starlark", "bzl star bazel", "BUILD WORKSPACE Tiltfile", grammar="tree_sitter_python.language",
       query="python", comment="#"),
    # Without a grammar: the structural adapter reads these.
    _L("ada", "adb ads ada", family="basic", comment="--"),
    _L("applescript", "applescript scpt", shebangs="osascript", family="basic", comment="-- # (*"),
    _L("assembly", "asm s nasm yasm a51", family="label", comment="; # // @ /*"),
    _L("autohotkey", "ahk au3", family="script", comment="; /*"),
    _L("awk", "awk gawk", shebangs="awk gawk mawk nawk", comment="#"),
    _L("ballerina", "bal"),
    _L("batch", "bat cmd", family="label", comment="rem REM :: @rem"),
    _L("bicep", "bicep", family="schema"),
    _L("clojure", "clj cljs cljc edn bb", shebangs="bb clojure clj", family="lisp", comment=";"),
    _L("cmake", "cmake", "CMakeLists.txt", family="call", comment="#"),
    _L("cobol", "cob cbl cpy cobol", family="cobol", comment="*>"),
    _L("coffeescript", "coffee cjsx", "Cakefile", "coffee", family="script", comment="#"),
    _L("commonlisp", "lisp lsp cl asd", shebangs="sbcl clisp", family="lisp", comment=";"),
    _L("crystal", "cr", shebangs="crystal", comment="#"),
    _L("cython", "pyx pxd pxi", family="keyword", comment="#"),
    _L("d", "d di", shebangs="rdmd dmd", family="c"),
    _L("dart", "dart", shebangs="dart", family="c"),
    _L("elm", "elm", family="equation", comment="-- {-"),
    _L("emacslisp", "el", ".emacs", "emacs", family="lisp", comment=";"),
    _L("erlang", "erl hrl escript", "rebar.config", "escript", family="erlang", comment="%"),
    _L("fennel", "fnl", shebangs="fennel", family="lisp", comment=";"),
    _L("fish", "fish", shebangs="fish", family="shell", comment="#"),
    _L("fortran", "f f77 f90 f95 f03 f08 for ftn fpp", family="basic", comment="! C c *"),
    _L("fsharp", "fs fsi fsx", shebangs="dotnet", family="equation", comment="// (*"),
    _L("gdscript", "gd", comment="#"),
    _L("gleam", "gleam"),
    _L("glsl", "glsl vert frag geom comp tesc tese hlsl fx wgsl metal shader", family="c"),
    _L("graphql", "graphql gql graphqls", family="schema", comment="#"),
    _L("groovy", "groovy gradle gvy gsh", "Jenkinsfile", "groovy", family="c"),
    _L("hack", "hack hh_client hhi", shebangs="hhvm", family="script"),
    _L("haxe", "hx", family="script"),
    _L("hcl", "tf tfvars hcl nomad", family="schema", comment="# // /*"),
    _L("julia", "jl", shebangs="julia", comment="#"),
    _L("less", "less", family="css"),
    _L("liquid", "liquid", comment="<!--"),
    _L("logtalk", "lgt", family="erlang", comment="%"),
    _L("matlab", "mlx matlab", family="keyword", comment="%"),
    _L("move", "move"),
    _L("nim", "nim nims nimble", shebangs="nim", comment="#"),
    _L("nix", "nix", family="equation", comment="# /*"),
    _L("nushell", "nu", shebangs="nu", family="script", comment="#"),
    _L("objectivec", "m mm", family="objc"),
    _L("ocaml", "ml mli mll mly", shebangs="ocaml", family="equation", comment="(*"),
    _L("octave", "octave", shebangs="octave", comment="% #"),
    _L("odin", "odin", family="equation"),
    _L("pascal", "pas pp dpr dpk lpr", family="basic", comment="// { (*"),
    _L("perl", "pl pm t pod6 psgi", "cpanfile", "perl", comment="#"),
    _L("powershell", "ps1 psm1 psd1", shebangs="pwsh powershell", family="script", comment="# <#"),
    _L("prisma", "prisma", family="schema"),
    _L("prolog", "prolog", shebangs="swipl", family="erlang", comment="%"),
    _L("protobuf", "proto", family="schema"),
    _L("puppet", "epp", "Puppetfile", comment="#"),
    _L("purescript", "purs", family="equation", comment="-- {-"),
    _L("qml", "qml", family="script"),
    _L("r", "r rprofile", ".Rprofile", "Rscript", family="assign", comment="#"),
    _L("racket", "rkt rktl", shebangs="racket", family="lisp", comment=";"),
    _L("raku", "raku rakumod p6 pm6", shebangs="raku perl6", comment="#"),
    _L("reason", "re rei res resi", family="equation"),
    _L("rego", "rego", family="equation", comment="#"),
    _L("sas", "sas", family="basic", comment="* /*"),
    _L("scheme", "scm ss sld", shebangs="guile scheme chibi", family="lisp", comment=";"),
    _L("scss", "scss sass", family="css"),
    _L("smalltalk", "st", comment='"'),
    _L("solidity", "sol", family="keyword"),
    _L("stan", "stan", family="c"),
    _L("stata", "do ado", family="basic", comment="* //"),
    _L("standardml", "sml sig fun", family="equation", comment="(*"),
    _L("stylus", "styl", family="css"),
    _L("svelte", "svelte", family="script", comment="// /* <!--"),
    _L("systemverilog", "sv svh", family="hardware"),
    _L("tcl", "tcl tk itcl exp", shebangs="tclsh wish expect", comment="#"),
    _L("thrift", "thrift avdl capnp fbs", family="schema", comment="// # /*"),
    _L("vala", "vala vapi", family="c"),
    _L("verilog", "v vh", family="hardware"),
    _L("vhdl", "vhd vhdl", family="hardware", comment="--"),
    _L("vim", "vim", ".vimrc .gvimrc _vimrc vimrc", "vim nvim", comment='"'),
    _L("visualbasic", "vb bas cls frm vbs vba", family="basic", comment="'"),
    _L("vue", "vue astro", family="script", comment="// /* <!--"),
    _L("wasm", "wat wast", family="lisp", comment=";;"),
    _L("xquery", "xq xql xqm xquery xqy", family="script", comment="(:"),
    _L("yacc", "y yy l ll", family="c"),
)  # fmt: skip

BY_NAME: Mapping[str, Language] = {row.name: row for row in LANGUAGES}
EXTENSIONS: Mapping[str, str] = {word: row.name for row in LANGUAGES for word in row.extensions.split()}
NAMES: Mapping[str, str] = {word: row.name for row in LANGUAGES for word in row.names.split()}
SHEBANGS: Mapping[str, str] = {word: row.name for row in LANGUAGES for word in row.shebangs.split()}
DIALECTS: Mapping[str, str] = {"tsx": "tree_sitter_typescript.language_tsx"}  # extension -> grammar of its own
ALIASES: Mapping[str, str] = {
    "bash": "shell", "sh": "shell", "zsh": "shell", "shellscript": "shell", "js": "javascript", "jsx": "javascript",
    "ts": "typescript", "tsx": "typescript", "py": "python", "python3": "python", "golang": "go", "rb": "ruby",
    "rs": "rust", "c++": "cpp", "cxx": "cpp", "c#": "csharp", "cs": "csharp", "kt": "kotlin", "hs": "haskell",
    "objective-c": "objectivec", "objc": "objectivec", "f#": "fsharp", "emacs-lisp": "emacslisp", "lisp": "commonlisp",
    "elisp": "emacslisp", "terraform": "hcl", "asm": "assembly", "vb": "visualbasic", "ps1": "powershell",
}  # fmt: skip

_TEMPLATE_SUFFIXES = frozenset({"in", "tmpl", "template", "tpl", "j2", "jinja", "jinja2", "erb", "dist", "orig", "bak"})
_CASED = {"C": "cpp", "H": "cpp", "CPP": "cpp", "S": "assembly", "R": "r"}  # upper case that means something
_SHEBANG = re.compile(r"#![ \t]*(\S+)(.*)")
_MODELINE = re.compile(
    r"-\*-(?:.*?mode:)?[ \t]*([\w+#-]+)[ \t]*(?:;.*?)?-\*-|\bvim?:.*?\b(?:ft|filetype|syntax)=([\w+#-]+)"
)
_SKIPPED_HEAD = re.compile(r"(?:\s+|//[^\n]*|#(?![!\[]|include|define|if)[^\n]*|/\*.*?\*/)+", re.DOTALL)
_FIRST_CODE = (  # a first code line that leaves no doubt
    (re.compile(r"<\?(?:php\b|=)"), "php"),
    (re.compile(r"package [a-z]\w*\n"), "go"),
    (re.compile(r"(?:package|import(?: static)?) [\w.]+(?:\.\*)?;"), "java"),
    (re.compile(r"(?:from [\w.]+ import [\w(*]|import \w+\n(?:import|from) \w)"), "python"),
    (re.compile(r"use (?:strict|warnings);"), "perl"),
    (re.compile(r"using [\w.]+;\s"), "csharp"),
    (re.compile(r"[\"']use strict[\"'];|(?:const|var|let) \w+ = require\("), "javascript"),
    (re.compile(r"#include[ \t]*[<\"]\w"), "c"),
    (re.compile(r"(?i)create (?:table|or replace|database|view) "), "sql"),
)
_CPP = re.compile(
    r"^[ \t]*(?:class[ \t]+\w|namespace[ \t]+\w|namespace[ \t]*\{|template[ \t]*<|using[ \t]+\w"
    r"|(?:public|private|protected)[ \t]*:|#[ \t]*include[ \t]*<(?:c?\w+)>)"
    r"|\bstd::|\bconstexpr\b|\bnullptr\b|\boperator[ \t]*[=<>+*!\[(]",
    re.MULTILINE,
)
_OBJC = re.compile(
    r"^[ \t]*(?:@(?:interface|implementation|protocol|class|import|property)\b|#import[ \t])", re.MULTILINE
)
_OF_EXTENSION: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {  # extensions that several languages share
    "h": ((_OBJC, "objectivec"), (_CPP, "cpp")),
    "m": (
        (_OBJC, "objectivec"),
        (re.compile(r"^[ \t]*(?:function\b|classdef\b|%)|^[ \t]*\w+[ \t]*=.*;[ \t]*(?:%.*)?$", re.MULTILINE), "matlab"),
    ),
    "pl": ((re.compile(r"^[ \t]*:-[ \t]|^[a-z]\w*\(.*\)[ \t]*(?::-|\.)[ \t]*$", re.MULTILINE), "prolog"),),
    "pp": ((re.compile(r"^[ \t]*(?:class|define|node)[ \t]+[\w:'\"]+.*\{|=>", re.MULTILINE), "puppet"),),
    "cls": ((re.compile(r"^[ \t]*\\", re.MULTILINE), UNKNOWN),),
    "v": ((re.compile(r"^[ \t]*(?:Theorem|Lemma|Definition|Proof|Require)\b", re.MULTILINE), UNKNOWN),),
    "inc": (
        (re.compile(r"<\?(?:php|=)"), "php"),
        (re.compile(r"^[ \t]*#[ \t]*(?:include|define|if)", re.MULTILINE), "c"),
    ),
    "ts": ((re.compile(r"<\?xml|<!DOCTYPE TS>"), UNKNOWN),),
}  # fmt: skip


def language_for(path: str, head: str) -> str:
    """Name the language of a file by its name, then by how its text begins; `source` when nothing tells.

    `head` is the beginning of the text, '' when it is not known.
    """
    head = head[:HEAD_CHARS]
    return _by_name(path, head) or _by_shebang(head) or _by_content(head) or UNKNOWN


def language_named(hint: str) -> str:
    """Resolve a language name or a usual alias to a name of the table, '' when there is none."""
    key = hint.strip().lower()
    key = ALIASES.get(key, key)
    return key if key in BY_NAME else ""


def grammar_for(language: str, path: str) -> str:
    """Name the grammar that reads a file of the language, as `module.function`; '' when there is none."""
    row = BY_NAME.get(language)
    if row is None or not row.grammar:
        return ""
    extension = path.rsplit("/", 1)[-1].rpartition(".")[2].lower()
    dialect = DIALECTS.get(extension, "")
    return dialect if dialect.partition(".")[0] == row.grammar.partition(".")[0] else row.grammar


def _by_name(path: str, head: str) -> str:
    name = path.rsplit("/", 1)[-1]
    if name in NAMES:
        return NAMES[name]
    stem, dot, extension = name.rpartition(".")
    if dot and extension.lower() in _TEMPLATE_SUFFIXES and "." in stem.lstrip("."):
        stem, dot, extension = stem.rpartition(".")
    if not dot or not stem:
        return ""
    if extension in _CASED:
        return _CASED[extension]
    extension = extension.lower()
    for pattern, language in _OF_EXTENSION.get(extension, ()):
        if pattern.search(head):
            return language
    return EXTENSIONS.get(extension, "")


def _by_shebang(head: str) -> str:
    found = _SHEBANG.match(head)
    if not found:
        return ""
    words = [found[1], *found[2].split()]
    if words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return ""
    interpreter = words[0].rsplit("/", 1)[-1]
    return SHEBANGS.get(interpreter) or SHEBANGS.get(interpreter.rstrip("0123456789.-"), "")


def _by_content(head: str) -> str:
    for line in head.split("\n", 5)[:5]:
        found = _MODELINE.search(line[:400])
        if found:
            return language_named(found[1] or found[2])
    skipped = _SKIPPED_HEAD.match(head)
    start = skipped.end() if skipped else 0
    return next((language for pattern, language in _FIRST_CODE if pattern.match(head, start)), "")
