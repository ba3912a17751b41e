"""Uses of code that the Protocol Buffers compiler generates.

In: Python that imports `foo_pb2`, or C++ that includes `foo.pb.h`. Out: an end ("uses") for each name that may be a
message, an enumeration or a service of `foo.proto`, with the path that this file would have. Which names `foo.proto`
really defines is only known after all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = (*C_FAMILY, "python")
WORDS = (b"_pb2", b".pb.h")
_GENERATED_MODULE = re.compile(r"(?P<path>.*?)_pb2(?P<grpc>_grpc)?\Z")
_CAPITAL = re.compile(rb"\b[A-Z]\w+\b")
_TEXTS = frozenset(("comment", "string_content", "string_literal", "raw_string_literal", "preproc_include", "string",
                    "system_lib_string"))  # fmt: skip


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the names that a file may take from generated code."""
    return _python(context) if context.language == "python" else _c(context)


def _python(context: RuleContext) -> Iterator[BridgeEnd]:
    for alias, full_name in sorted(context.bound.items()):
        module, _, name = full_name.rpartition(".")
        whole = _GENERATED_MODULE.match(full_name)
        part = _GENERATED_MODULE.match(module)
        if whole is not None:
            yield from _members(context, alias, whole["path"])
        elif part is not None:
            for at in context.places(alias):
                if not _is_member(context, at):
                    yield BridgeEnd(at, "uses", name, alias, (("proto", _proto(part["path"])),))


def _members(context: RuleContext, alias: str, path: str) -> Iterator[BridgeEnd]:
    """Yield the attributes of a generated module that the file uses."""
    for at in context.places(alias):
        rest = re.compile(rb"((?:\s*\.\s*[A-Za-z_]\w*)+)").match(context.data, at + len(alias.encode()))
        if rest is not None and not _is_member(context, at):
            names = [part.strip() for part in rest[1].decode().split(".")[1:]]
            yield BridgeEnd(at, "uses", ".".join(names), f"{alias}.{'.'.join(names)}", (("proto", _proto(path)),))


def _is_member(context: RuleContext, at: int) -> bool:
    return context.data[max(0, at - 1) : at] == b"."


def _proto(module: str) -> str:
    """Return the path of the file that a module is generated from; a leading dot is the importing file's folder."""
    level = len(module) - len(module.lstrip("."))
    return "./" * bool(level) + "../" * (level - 1) + module.lstrip(".").replace(".", "/") + ".proto"


def _c(context: RuleContext) -> Iterator[BridgeEnd]:
    protos = [row.module.removesuffix(".pb.h") + ".proto" for row in context.imports if row.module.endswith(".pb.h")]
    if not protos:
        return
    seen = set()
    for match in _CAPITAL.finditer(context.data):
        name = match[0]
        if name not in seen and context.draft.ends.get(match.start()) == match.end():
            if any(node.type in _TEXTS for node in context.path(match.start())[-2:]):
                continue
            seen.add(name)
            yield BridgeEnd(match.start(), "uses", name.decode(), name.decode(), (("proto", " ".join(protos)),))
