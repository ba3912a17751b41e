"""Classifying files by name and content: language, category, encoding, binary types."""

from __future__ import annotations

import codecs
import io
import pickle
import struct
import time
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concordance.base.model import Category, Language, Skip
from concordance.collect.classify import Classifier, header_language
from concordance.collect.encoding import decode
from concordance.extract.registry import languages

LANGUAGES = (Language("declarations", "TypeScript declarations", (".d.ts",)), *languages())
LIMIT = 1_000_000
CLASSIFIER = Classifier(LANGUAGES, LIMIT)


def language(path: str, text: str = "x\n") -> str:
    return CLASSIFIER.form(path, text.encode()).language


# Languages


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("torch/nn/modules/conv.py", "python"),
        ("torch/_C/__init__.pyi.in", "python"),
        ("cmake/TorchConfig.cmake.in", "cmake"),
        ("setup.py.in", "python"),
        ("conf/project_template/manage.py-tpl", "python"),
        ("index.d.ts", "declarations"),
        ("INDEX.D.TS", "declarations"),
        ("a.b.ts", "typescript"),
        ("CMakeLists.txt", "cmake"),
        ("x/CMakeLists.txt.in", "cmake"),
        ("notes.txt", "text"),
        ("Dockerfile", "dockerfile"),
        ("docker/Dockerfile.rocm", "dockerfile"),
        ("Makefile.in", "make"),
        ("BUILD", "starlark"),
        ("BUILD.bazel", "starlark"),
        ("tools/rules.bzl", "starlark"),
        (".bashrc", "shell"),
        (".gitignore", "ignore_list"),
        (".env.production", "environment"),
        ("x.C", "cpp"),
        ("x.c", "c"),
        ("kernel.cu", "cuda"),
        ("kernel.hip", "cuda"),
        ("Fuse.mm", "objcpp"),
        ("x.tpp", "cpp"),
        ("x.inc", "cpp"),
        ("fast.pyx", "cython"),
        ("fast.pxd", "cython"),
        ("Main.kt", "kotlin"),
        ("build.gradle", "gradle"),
        ("app.swift", "swift"),
        ("head.S", "assembly"),
        ("shader.glsl", "glsl"),
        ("page.html", "html"),
        ("a.css", "css"),
        ("board.dts", "device_tree"),
        ("vmlinux.lds", "linker_script"),
        ("vmlinux.lds.S", "linker_script"),
        ("drivers/net/Kconfig", "kconfig"),
        ("arch/arm/configs/multi_v7_defconfig", "kconfig"),
        ("book.ipynb", "jupyter"),
        ("fix.patch", "diff"),
        ("t.csv", "csv"),
        ("logo.svg", "svg"),
        ("pom.xml", "maven"),
        ("x.xml", "xml"),
        ("a.f90", "fortran"),
        ("a.R", "r"),
        ("paper.tex", "tex"),
        ("x.ps1", "powershell"),
        ("x.bat", "batch"),
        ("query.sql", "sql"),
        ("git.1", "roff"),
        ("requirements-dev.txt", "python_requirements"),
        ("locale/de/django.po", "gettext"),
        ("page.j2", "jinja"),
        ("page.html.j2", "html"),
        ("aic7xxx_reg.h_shipped", "c"),
        ("noextension", "text"),
        ("strange.zzz", "text"),
        (".hidden", "text"),
        ("LICENSE", "text"),
        ("ends.with.dot.", "text"),
        (".py", "text"),
    ],
)  # fmt: skip
def test_language_by_name(path: str, expected: str) -> None:
    assert language(path) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#!/usr/bin/python", "python"),
        ("#!/usr/bin/python3.11", "python"),
        ("#! /usr/bin/env python3", "python"),
        ("#!/usr/bin/env -S python3 -u", "python"),
        ("#!/usr/bin/env -Spython3 -u", "python"),
        ("#!/usr/bin/env -i A=1 bash -e", "shell"),
        ("#!/bin/sh -e", "shell"),
        ("#!/usr/bin/perl -w", "perl"),
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/env Rscript", "r"),
        ("#!/opt/unknown/thing", "text"),
        ("#!", "text"),
        ("#!/usr/bin/env", "text"),
    ],
)
def test_language_by_shebang(line: str, expected: str) -> None:
    assert language("bin/tool", f"{line}\nx\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# -*- python -*-\n", "python"),
        ("# -*- mode: Python; coding: utf-8 -*-\n", "python"),
        ("// -*- C++ -*-\n", "cpp"),
        ("a\n" * 50 + "# vim: set ft=sh ts=4:\n", "shell"),
        ("# vim: filetype=make\n", "make"),
        ("a\n" * 50 + "# vim: ft=sh\n" + "a\n" * 50, "text"),
        ('<?xml version="1.0"?>\n<a/>', "xml"),
        ("<!DOCTYPE html>\n<html>", "html"),
        ('<?xml version="1.0"?>\n<!-- x -->\n<svg width="1">', "svg"),
        ('{"a": [1, 2]}', "json"),
        ("[1, 2]", "json"),
        ("diff --git a/x b/x\n", "diff"),
        ("--- a/x\n+++ b/x\n", "diff"),
        ("FROM debian:12\nRUN x\n", "dockerfile"),
        ("From PyTorch:\n\nCopyright\n", "text"),
        ("-----BEGIN CERTIFICATE-----\n", "pem"),
        ("just words\n", "text"),
    ],
)
def test_language_by_content(text: str, expected: str) -> None:
    assert language("no_extension_here", text) == expected


GUARDED = """
#ifdef __cplusplus
extern "C" {
namespace not_counted { class Foo; }
#endif
int f(const char* s);
#if defined(__cplusplus)
}
#endif
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(void);\n", "c"),
        ("struct file { int class; struct class *new; };\n", "c"),
        ("/* class Foo { public: std::string s; }; */\n// namespace a {\nint f;\n", "c"),
        ('const char* s = "std::string";\nchar c = \'"\'; // using namespace std;\n', "c"),
        (GUARDED, "c"),
        ("#define is_it __is_constexpr(x)\n", "c"),
        ("#include <linux/fs.h>\n", "c"),
        ('asm volatile("x" :: "r"(x));\n', "c"),
        ("#include <vector>\n", "cpp"),
        ("#pragma once\nclass Tensor;\n", "cpp"),
        ("namespace at {\nstruct Tensor;\n}\n", "cpp"),
        ("namespace at::native {\n}\n", "cpp"),
        ("template <typename T>\nT f(T);\n", "cpp"),
        ("  using Scalar = double;\n", "cpp"),
        ("std::string f();\n", "cpp"),
        ("struct A {\n public:\n  int a;\n};\n", "cpp"),
        ("constexpr int a = 1;\n", "cpp"),
        ("void f(const Tensor& self, int a);\n", "cpp"),
        ("bool operator==(A a, A b);\n", "cpp"),
        ('extern "C" int f();\n', "cpp"),
        (GUARDED + "class Bar {};\n", "cpp"),
        ("#ifndef __cplusplus\n#error no\n#endif\nclass Bar;\n", "cpp"),
        ("#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objc"),
        ("#import <a.h>\nnamespace at {\n}\n", "objcpp"),
        ("/** @class Foo\n @end */\nint f;\n", "c"),
        ("__global__ void kernel(float* x);\n", "cuda"),
        ('const char* k = R"(\n__global__ void kernel();\n)";\nusing A = int;\n', "cpp"),
        ("", "c"),
    ],
)
def test_headers(text: str, expected: str) -> None:
    assert language("include/x.h", text) == expected


def test_a_header_that_tells_nothing_is_what_is_around_it() -> None:
    assert header_language(["a.c", "b.c", "c.cpp"]) == "c"
    assert header_language(["a.c", "b.cu", "c.cpp"]) == "cpp"
    assert header_language([]) == "c"
    classifier = Classifier(LANGUAGES, LIMIT, header_language(["a.cpp"]))
    assert classifier.form("ATen/Tensor.h", b"#include <ATen/core/Tensor.h>\n").language == "cpp"
    assert classifier.form("x.h", GUARDED.encode()).language == "c"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("x.m", "#import <Foundation/Foundation.h>\n", "objc"),
        ("x.m", "@implementation A\n@end\n", "objc"),
        ("x.m", "% a comment\nfunction y = f(x)\ny = x;\nend\n", "matlab"),
        ("x.m", '(* ::Package:: *)\nBeginPackage["A`"]\n', "mathematica"),
        ("x.pl", "use strict;\nmy $x = 1;\n", "perl"),
        ("x.pl", "parent(X, Y) :- child(Y, X).\n", "prolog"),
        ("x.inc", "<?php echo 1;\n", "php"),
        ("x.ts", '<?xml version="1.0"?>\n<TS version="2.0">\n', "xml"),
        ("x.v", "Theorem a : b.\nProof.\n", "coq"),
        ("x.v", "module a(input b);\n", "verilog"),
        ("x.cl", "__kernel void f() {}\n", "opencl"),
        ("x.pro", "# Keep names.\n-keepclassmembers enum * { *; }\n", "proguard"),
        ("x.pro", "QT += core\nSOURCES += main.cpp\n", "qmake"),
        ("x.def", "LIBRARY x\nEXPORTS\n  f\n", "module_definition"),
        ("x.def", "OPCODE(ADD)\nOPCODE(SUB)\n", "cpp"),
    ],
)
def test_languages_that_share_an_extension(path: str, text: str, expected: str) -> None:
    assert language(path, text) == expected


def test_a_plugin_takes_what_the_table_has() -> None:
    classifier = Classifier((*LANGUAGES, Language("kotlin", "Kotlin!", (".kt",))), LIMIT)
    assert classifier.form("a.kt", b"x").type == "Kotlin! source"
    assert CLASSIFIER.form("a.kt", b"x").type == "Kotlin source"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", "Python source"),
        ("a.h", "C header"),
        ("README.md", "Markdown document"),
        ("a.yml", "YAML file"),
        ("Dockerfile", "Dockerfile"),
        (".gitignore", "Ignore list"),
        ("a.ipynb", "Jupyter notebook"),
        ("a.txt", "Plain text"),
        ("a.svg", "SVG image"),
    ],
)
def test_types_for_people(path: str, expected: str) -> None:
    assert CLASSIFIER.form(path, b"x\n").type == expected


# Categories: real paths of PyTorch, Django, Linux, NumPy and others


CATEGORIES = {
    "source": """
        torch/nn/modules/conv.py c10/core/TensorImpl.h aten/src/ATen/native/cuda/Loops.cuh
        torch/testing/_internal/common_utils.py
        torch/testing/__init__.py numpy/testing/_private/utils.py kernel/sched/core.c
        include/linux/fs.h include/benchmark/state.h lib/include/test/base.h django/contrib/admin/options.py arch/arm/boot/dts/bcm2835.dtsi .github/scripts/trymerge.py
        numpy/random/_mt19937.pyx scripts/checkpatch.pl django/conf/project_template/manage.py-tpl latest.py contest.py
        torch/csrc/autograd/engine.cpp django/contrib/admin/templates/admin/base.html
    """,
    "test": """
        test/test_torch.py aten/src/ATen/test/basic.cpp django/test/client.py tests/admin_views/tests.py conftest.py
        numpy/_core/tests/test_multiarray.py tools/testing/selftests/bpf/test_maps.c lib/test_bitmap.c
        android/app/src/test/java/org/FooTest.java pkg/server_test.go web/button.spec.ts web/__tests__/button.js gem/spec/a.rb
        c10/test/util/bitset_test.cpp tests/cases/python/one.md torch/testing/_internal/test_module/test_one.py
        src/androidTest/java/A.kt regress/alerts.sh perl/t/one.t test/cpp/jit/test_gpu.cu tests/settings.yaml types/flow-tests/list.js types/ref.test-d.ts
    """,
    "example": "samples/bpf/hbm_edt_kern.c functorch/examples/maml/train.py docs/tutorials/first.py demo/app.js _examples/rest/main.go",
    "benchmark": "benchmarks/fastrnns/bench.py tools/perf/bench/futex.c benches/x.rs src/sort_benchmark.cc",
    "build": """
        CMakeLists.txt test/cpp/CMakeLists.txt Makefile docs/Makefile setup.py BUILD.bazel WORKSPACE Dockerfile
        cmake/Modules/FindMKL.cmake tools/build_defs.bzl pyproject.toml package.json go.mod Cargo.toml requirements.txt
        drivers/net/Kconfig meson.build android/build.gradle pom.xml .circleci/docker/ubuntu/Dockerfile version.txt
    """,
    "configuration": """
        .github/workflows/lint.yml .circleci/config.yml .gitignore mypy.ini tox.ini .clang-format tsconfig.json
        .eslintrc.json app.config.json .pre-commit-config.yaml aten/src/ATen/native/tags.yaml tests/.coveragerc
        .vscode/launch.json CODEOWNERS .editorconfig
    """,
    "documentation": """
        README.md LICENSE docs/source/conf.py docs/source/nn.rst CONTRIBUTING.md
        Documentation/admin-guide/sysfs-rules.rst
        Documentation/devicetree/bindings/arm/arm,cci.yaml docs/_static/logo.svg CHANGELOG NOTICE tests/README.md
        examples/README.md torch/csrc/README.md torch/csrc/lazy/generated/README.md docs/ref/models/constraints.txt
        benchmarks/notes.md AUTHORS
    """,
    "data": """
        test/expect/TestScript.test_annot.expect data/cities.csv django/conf/locale/de/LC_MESSAGES/django.po
        tests/gis_tests/data/geometries.json tools/perf/pmu-events/arch/x86/jaketown/memory.json words
    """,
    "generated": """
        package-lock.json yarn.lock Cargo.lock go.sum api/v1/api.pb.go caffe2/proto/caffe2_pb2.pyi static/jquery.min.js
        torch/csrc/lazy/generated/LazyIr.h drivers/scsi/aic7xxx/aic7xxx_reg.h_shipped
    """,
    "vendored": """
        third_party/miniz-2.1.0/miniz.c vendor/github.com/pkg/errors/errors.go node_modules/a/package.json
        torch/_vendor/packaging/version.py external/zlib/test/t.c
        aten/src/ATen/native/quantized/cpu/qnnpack/deps/clog/README.md third_party/x/package-lock.json
    """,
}


@pytest.mark.parametrize(("category", "path"), [(c, path) for c, paths in CATEGORIES.items() for path in paths.split()])
def test_categories(category: str, path: str) -> None:
    assert CLASSIFIER.form(path, b"x\n").category == category


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ('"""Built-in template tests used with the ``is`` operator."""\n\ndef test_odd(value):\n', "source"),
        ("from django.test import TestCase\n", "test"),
        ("import shop\n\nassert shop.total() == 3\n", "test"),
    ],
)
def test_tests_by_name_alone(text: str, category: str) -> None:
    assert CLASSIFIER.form("shop/tests.py", text.encode()).category == category


@pytest.mark.parametrize(
    ("path", "text", "generated"),
    [
        ("a.cpp", "// @generated\n", True),
        ("a.go", "// Code generated by stringer; DO NOT EDIT.\n", True),
        ("a.py", '"""\n@generated by mypy-protobuf.  Do not edit manually!\n"""\n', True),
        ("a.h", "/*\n   This file is automatically generated.\n*/\n", True),
        ("a.c", "/*\n" + " *\n" * 5 + " * Autogenerated file, DO NOT EDIT manually!\n", True),
        ("a.py", "# This file was autogenerated by uv via the following command:\n", True),
        ("a.xml", "<!-- Generated by doxygen 1.8.14 -->\n", True),
        ("a.html", "<!--\nGenerated by a tool\n-->\n", True),
        ("parser.c", "/* A Bison parser, made by GNU Bison 3.8.2.  */\n", True),
        ("lexer.c", '#line 2 "lexer.c"\n\n/* A lexical scanner generated by flex */\n', True),
        ("a.c", "// A Bison parser reads this.\n", False),
        ("a.py", "x = '@generated'\n", False),
        ("a.py", 'HEADER = """/**\n * @generated This is an auto-generated file\n */"""\n', False),
        ("Makefile", "x:\n\techo '/*' > $@; \\\n\techo ' * This file is automatically generated.' >> $@\n", False),
        ("a.py", "# Please do not edit the table without asking.\n", False),
        ("a.c", "// These helpers are used in autogenerated code, mostly.\n", False),
        ("conf.py", "# autogenerated file.\n", False),
        ("a.py", "\n" * 30 + "# @generated\n", False),
        ("a.h.in", "// @generated\n", False),
        ("templates/a.h", "// Generated by gen.py\n", False),
        ("a.js", "a=1;" * 3000, True),
        ("a.js", "var a;\n//# sourceMappingURL=a.js.map\n", True),
        ("a.css", "a {}\n/*# sourceMappingURL=a.css.map */", True),
        ("a.cjs", "var a;\n//# sourceMappingURL=data:application/json;base64,e30=\n", True),
        ("a.cjs.map", "{}", True),
        ("a.js", "//# sourceMappingURL=a.js.map\nvar a;\n", False),
        ("a.py", "a\n//# sourceMappingURL=a.js.map\n", False),
        ("a.js", "a=1;\n" * 3000, False),
    ],
)
def test_generated_by_content(path: str, text: str, generated: bool) -> None:
    assert (CLASSIFIER.form(path, text.encode()).category is Category.GENERATED) is generated


# Encodings


UMLAUTS = "# Grüße\nx = 'ä'\n"


@pytest.mark.parametrize(
    ("data", "encoding", "text", "note"),
    [
        (b"", "utf-8", "", ""),
        (b"a\r\nb\rc\n", "utf-8", "a\r\nb\rc\n", ""),
        (UMLAUTS.encode(), "utf-8", UMLAUTS, ""),
        (codecs.BOM_UTF8 + UMLAUTS.encode(), "utf-8-sig", UMLAUTS, ""),
        (UMLAUTS.encode("utf-16"), "utf-16", UMLAUTS, ""),
        (codecs.BOM_UTF16_BE + UMLAUTS.encode("utf-16-be"), "utf-16", UMLAUTS, ""),
        (UMLAUTS.encode("utf-32"), "utf-32", UMLAUTS, ""),
        (UMLAUTS.encode("utf-16-le"), "utf-16-le", UMLAUTS, "UTF-16 without a byte order mark"),
        (UMLAUTS.encode("utf-16-be"), "utf-16-be", UMLAUTS, "UTF-16 without a byte order mark"),
        (UMLAUTS.encode("latin-1"), "cp1252", UMLAUTS, "byte 0xFC in line 1 is not UTF-8; read as Windows-1252"),
        (b"a\nb \x81\n", "latin-1", "a\nb \x81\n", "byte 0x81 in line 2 is not UTF-8; read as Latin-1"),
        (b"# -*- coding: latin-1 -*-\n# \xe4\n", "iso8859-1", "# -*- coding: latin-1 -*-\n# ä\n", ""),
        (b"#!/x\n# vim: fileencoding=koi8-r\n\xc1\n", "koi8-r", "#!/x\n# vim: fileencoding=koi8-r\nа\n", ""),
        (b"\n\n# coding: latin-1\nx\n", "utf-8", "\n\n# coding: latin-1\nx\n", ""),
        (b"# coding: punycode\nx\n", "utf-8", "# coding: punycode\nx\n", ""),
        (b"# coding: nonsense\nx\n", "utf-8", "# coding: nonsense\nx\n", ""),
        (b"a = 1\nb = '\0'\n", "utf-8", "a = 1\nb = '\0'\n", "NUL byte in line 2"),
    ],
)  # fmt: skip
def test_encodings(data: bytes, encoding: str, text: str, note: str) -> None:
    form, found = CLASSIFIER.read_text("a.py", data)
    assert (form.encoding, found, form.note, form.skip) == (encoding, text, note, Skip.NONE)
    assert decode(data, form.encoding) == text


def test_a_file_that_is_not_what_it_says() -> None:
    form, text = CLASSIFIER.read_text("a.py", "# coding: shift_jis\nä\x80\n".encode())
    assert (form.encoding, text[-3:]) == ("utf-8", "ä\x80\n")
    assert form.note == "declares the encoding shift_jis, but cannot be decoded as such"


def test_xml_and_html_declarations() -> None:
    for path, start in (
        ("a.xml", b'<?xml version="1.0" encoding="ISO-8859-1"?>'),
        ("a.html", b'<meta charset="latin1">'),
    ):
        form, text = CLASSIFIER.read_text(path, start + b"\xe4")
        assert (form.encoding, text[-1]) == ("iso8859-1", "ä")


def test_decode_never_raises() -> None:
    assert decode(b"a\xff", "utf-8") == "a\ufffd"
    assert decode(b"a", "utf-16") == "\ufffd"


# Binary


def png(width: int, height: int) -> bytes:
    about = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + about + struct.pack(">I", zlib.crc32(b"IHDR" + about))
    )


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return data.getvalue()


JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 10 + b"\xff\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03" + b"\0" * 20


@pytest.mark.parametrize(
    ("path", "data", "expected", "note"),
    [
        ("a.png", png(640, 480), "PNG image", "PNG image, 640 × 480 pixels"),
        ("a.gif", b"GIF89a\x80\x02\xe0\x01\x00", "GIF image", "GIF image, 640 × 480 pixels"),
        ("a.jpg", JPEG, "JPEG image", "JPEG image, 640 × 480 pixels"),
        (
            "a.bmp",
            b"BM" + b"\0" * 16 + struct.pack("<ii", 640, -480) + b"\0\0",
            "BMP image",
            "BMP image, 640 × 480 pixels",
        ),
        (
            "a.webp",
            b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x7f\x02\x00\xdf\x01\x00",
            "WebP image",
            "WebP image, 640 × 480 pixels",
        ),
        ("a.pdf", b"%PDF-1.4\n", "PDF document", "PDF document"),
        ("a.zip", zipped("a"), "ZIP archive", None),
        ("a.jar", zipped("META-INF/MANIFEST.MF"), "Java archive", None),
        ("model.pt", zipped("archive/data.pkl"), "PyTorch archive", None),
        ("model.anything", zipped("archive/data.pkl"), "PyTorch archive", None),
        ("a.npz", zipped("a.npy"), "NumPy arrays", None),
        ("a.gz", b"\x1f\x8b\x08\0", "gzip archive", None),
        ("a", b"\x7fELF\x02\x01\x01\0", "ELF program or library", None),
        ("a", b"\xcf\xfa\xed\xfe\x07\0\0\x01", "Mach-O program or library", None),
        ("a", b"\xca\xfe\xba\xbe\0\0\0\x02", "Mach-O program or library", None),
        ("A.class", b"\xca\xfe\xba\xbe\0\0\0\x34", "Java class", None),
        ("a.exe", b"MZ\x90\0\x03\0", "Windows program or library", None),
        ("a.wasm", b"\0asm\x01\0\0\0", "WebAssembly module", None),
        ("a.db", b"SQLite format 3\0", "SQLite database", None),
        ("a.pkl", pickle.dumps([1, "two"], 4), "Python pickle", None),
        ("a.npy", b"\x93NUMPY\x01\0", "NumPy array", None),
        ("a.woff2", b"wOF2\0\x01\0\0", "web font", None),
        ("a.wav", b"RIFF\0\0\0\0WAVEfmt ", "WAV sound", None),
        ("a.mp4", b"\0\0\0\x18ftypmp42", "MP4 video", None),
        ("a.ico", b"\0\0\x01\0\x01\0", "Windows icon", None),
        ("a.tif", b"II*\0\x08\0\0\0", "TIFF image", None),
        ("a.a", b"!<arch>\n", "static library or ar archive", None),
        ("a.pyc", b"\xa7\r\r\n\0\0\0\0", "Python bytecode", None),
        ("model.onnx", b"\x08\x07\x12\x07pytorch\0\0\0", "ONNX model", None),
        ("a.bin", b"\0\1\2\3" * 50, "binary data", None),
        ("a.unknown", bytes(range(256)).replace(b"\0", b"") * 4, "binary data", None),
        ("a.py", b"x = 1\0" * 100, "binary data", None),
    ],
)
def test_binary_types(path: str, data: bytes, expected: str, note: str | None) -> None:
    form, text = CLASSIFIER.read_text(path, data)
    assert (form.type, form.skip, form.encoding, text) == (expected, Skip.BINARY, "", "")
    assert form.note == (note or expected)


@pytest.mark.parametrize(
    "text", ["BM is short\n", "MZ\n", "ID3 tags explained\n", "RIFF is a format\n", "icns\n", "PK\n"]
)
def test_a_text_that_starts_like_a_binary(text: str) -> None:
    assert CLASSIFIER.form("notes.txt", text.encode()).skip is Skip.NONE


def test_git_lfs_pointer() -> None:
    data = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"
    form = CLASSIFIER.form("model.json", data)
    assert (form.type, form.language, form.skip) == ("Git LFS pointer", "text", Skip.NONE)
    assert form.note == "a pointer to content in Git LFS"


def test_too_large() -> None:
    form, text = CLASSIFIER.read_text("a.py", b"x = 1\n" * 200_000)
    assert (form.skip, form.language, form.encoding, text) == (Skip.TOO_LARGE, "python", "utf-8", "")
    assert form.note == "1,200,000 bytes of text, over the limit of 1,000,000"
    assert CLASSIFIER.form("a.py", b"# \xc3", 500_000_000).encoding == "utf-8"
    assert CLASSIFIER.form("a.png", png(1, 1), 500_000_000).skip is Skip.BINARY
    assert CLASSIFIER.form("a.txt", b"\0" * 8000, 500_000_000).skip is Skip.BINARY
    assert CLASSIFIER.form("a.txt", "wide\n".encode("utf-16") * 10, 500_000_000).skip is Skip.TOO_LARGE


def test_what_is_not_opened() -> None:
    form = CLASSIFIER.unread("docs/link.md", Skip.SYMLINK, "points to x")
    assert (form.category, form.type, form.note) == (Category.DOCUMENTATION, "symbolic link", "points to x")
    assert CLASSIFIER.unread("libs/x", Skip.SUBMODULE, "").category is Category.VENDORED


# Always


NAMES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["a.h", "a.m", "a.js", "a.py", "a.pl", "a.inc", "a.v", "a.map", "x", "Makefile.in", "a.h.in", "\udcff.c"]
    ),
)
TELLING = st.sampled_from(
    [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"RIFF1234WEBPVP8 ",
        b"PK\3\4",
        b"\xff\xfe",
        b"#!/usr/bin/env ",
        b"# coding: ",
    ]
)
BYTES = st.one_of(st.binary(max_size=300), st.builds(bytes.__add__, TELLING, st.binary(max_size=100)))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NAMES, BYTES)
def test_any_name_and_any_bytes(path: str, data: bytes) -> None:
    form, text = CLASSIFIER.read_text(path, data)
    assert bool(text) <= (form.skip is Skip.NONE)
    assert form == CLASSIFIER.form(path, data)
    if form.skip is Skip.NONE:
        assert decode(data, form.encoding) == text
    else:
        assert form.note


@pytest.mark.parametrize(
    "piece",
    [
        b"<!--", b"<!---->", b"<", b"\n", b" ", b"#", b"\\", b'"', b"/*", b'R"(', b"<<<", b"class ", b"const a& ",
        b"\n@", b"%\n", b"generated ", b"a(", b"::", b'extern "C" ', b"#if __cplusplus\n", b"-*-", b"vim: ", b"<?xml ",
        b"<meta ", b"coding:", b"\n" + b" " * 200, b"a " * 100 + b"\n", b"\\begin\n", b"<!DOCTYPE ",
    ],
)  # fmt: skip
def test_no_text_takes_long(piece: bytes) -> None:
    data = piece * (20_000 // len(piece))
    for path in ("x", "x.h", "x.m", "x.pl", "x.js", "x.cls", "x.def", "x.inc"):
        start = time.process_time()
        CLASSIFIER.form(path, data)
        assert time.process_time() - start < 0.5, path


def test_it_goes_to_other_processes() -> None:
    again = pickle.loads(pickle.dumps(CLASSIFIER))
    assert again.form("a/b/test_x.py", b"x") == CLASSIFIER.form("a/b/test_x.py", b"x")
