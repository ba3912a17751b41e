"""Names the types of binary files for people, by their first bytes.

In: a file's bytes and extension. Out: its type ("PNG image"), and the size of an image in pixels. The extension is used
only if the bytes are binary and not specific: it never makes a text file binary.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"BM", "BMP image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"\0\0\1\0", "Windows icon"),
    (b"\0\0\2\0", "Windows cursor"),
    (b"icns", "macOS icon"),
    (b"8BPS", "Photoshop image"),
    (b"P4\n", "portable bitmap image"),
    (b"P5\n", "portable greymap image"),
    (b"P6\n", "portable pixmap image"),
    (b"%PDF-", "PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office document"),
    (b"PK\3\4", "ZIP archive"),
    (b"PK\5\6", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"\x04\x22\x4d\x18", "LZ4 archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\7", "RAR archive"),
    (b"!<arch>\n", "static library or ar archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"\xfe\xed\xfa\xce", "Mach-O program or library"),
    (b"\xfe\xed\xfa\xcf", "Mach-O program or library"),
    (b"\xce\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"MZ", "Windows program or library"),
    (b"\0asm", "WebAssembly module"),
    (b"dex\n", "Android bytecode"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"\x03\x02\x23\x07", "SPIR-V shader"),
    (b"\xd0\x0d\xfe\xed", "device tree blob"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\x93NUMPY", "NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (b"CDF\1", "NetCDF data"),
    (b"PAR1", "Parquet table"),
    (b"ARROW1", "Arrow table"),
    (b"Obj\1", "Avro data"),
    (b"GGUF", "GGUF model"),
    (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9", "PyTorch archive (pickle)"),
    (b"\x80\2", "Python pickle"),
    (b"\x80\3", "Python pickle"),
    (b"\x80\4\x95", "Python pickle"),
    (b"\x80\5\x95", "Python pickle"),
    (b"\xde\x12\x04\x95", "translation catalogue (compiled)"),
    (b"\x95\x04\x12\xde", "translation catalogue (compiled)"),
    (b"\0\1\0\0\0", "TrueType font"),
    (b"true\0", "TrueType font"),
    (b"OTTO", "OpenType font"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"ID3", "MP3 sound"),
    (b"\xff\xfb", "MP3 sound"),
    (b"OggS", "Ogg sound or video"),
    (b"fLaC", "FLAC sound"),
    (b"MThd", "MIDI music"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"glTF", "3D model"),
    (b"bplist00", "property list (binary)"),
    (b"\xac\xed\0\5", "Java serialised object"),
)
_BY_FIRST_BYTE: Mapping[int, tuple[tuple[bytes, str], ...]] = MappingProxyType(
    {first: tuple(row for row in _MAGIC if row[0][0] == first) for first in {magic[0] for magic, _ in _MAGIC}}
)
_RIFF = MappingProxyType({b"WAVE": "WAV sound", b"AVI ": "AVI video", b"WEBP": "WebP image"})
_FLATBUFFERS = MappingProxyType({b"TFL3": "TensorFlow Lite model", b"PTMF": "PyTorch archive (FlatBuffer)"})
_ZIP = MappingProxyType(
    {
        ".apk": "Android package",
        ".docx": "Word document",
        ".egg": "Python egg",
        ".epub": "EPUB book",
        ".jar": "Java archive",
        ".npz": "NumPy arrays",
        ".odt": "OpenDocument text",
        ".pptx": "PowerPoint presentation",
        ".pt": "PyTorch archive",
        ".pth": "PyTorch archive",
        ".ptl": "PyTorch archive",
        ".whl": "Python wheel",
        ".xlsx": "Excel workbook",
    }
)
_BY_EXTENSION = MappingProxyType(
    {
        ".a": "static library",
        ".bin": "binary data",
        ".dbf": "dBase table",
        ".dll": "Windows library",
        ".eot": "web font",
        ".lzma": "LZMA archive",
        ".mmdb": "MaxMind database",
        ".mo": "translation catalogue (compiled)",
        ".o": "object file",
        ".onnx": "ONNX model",
        ".pb": "protocol buffer message",
        ".pkl": "Python pickle",
        ".pickle": "Python pickle",
        ".pt": "PyTorch archive",
        ".pth": "PyTorch archive",
        ".pyc": "Python bytecode",
        ".safetensors": "Safetensors model",
        ".shp": "shapefile",
        ".shx": "shapefile index",
        ".so": "shared library",
        ".tar": "tar archive",
        ".tflite": "TensorFlow Lite model",
    }
)


def type_of(data: bytes, extension: str) -> str:
    """Return the type that a file's first bytes identify; "" if they do not."""
    if not data:
        return ""
    for magic, name in _BY_FIRST_BYTE.get(data[0], ()):
        if data.startswith(magic) and (len(magic) > 4 or _is_no_text(data)):
            return _narrowed(name, data, extension)
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "RIFF data") if _is_no_text(data) else ""
    if data[4:8] == b"ftyp":
        return "HEIF image" if data[8:11] in (b"hei", b"mif", b"avi") else "MP4 video"
    if data[257:262] == b"ustar":
        return "tar archive"
    return _FLATBUFFERS.get(data[4:8], "")


def type_by_extension(extension: str) -> str:
    """Return the type of a binary file that its bytes do not identify."""
    return _BY_EXTENSION.get(extension, "binary data")


def _is_no_text(data: bytes) -> bool:
    """True if the bytes are not text: a short magic number may also start a text."""
    head = data[:512]
    return b"\0" in head or any(byte > 127 or byte < 9 for byte in head)


def _narrowed(name: str, data: bytes, extension: str) -> str:
    if name == "ZIP archive":
        first_member = data[30 : 30 + int.from_bytes(data[26:28], "little")]
        if first_member.endswith(b"/data.pkl"):
            return "PyTorch archive"
        return _ZIP.get(extension, name)
    if name == "Java class" and 0 < int.from_bytes(data[4:8], "big") < 30:  # a class file has its version there
        return "Mach-O program or library"
    return name


def pixels(type_name: str, data: bytes) -> str:
    """Return "640 × 480 pixels", or "" if the size is not in the bytes that were read."""
    size = None
    if type_name == "PNG image" and len(data) >= 24:
        size = _number(data, 16, "big", 4), _number(data, 20, "big", 4)
    elif type_name == "GIF image" and len(data) >= 10:
        size = _number(data, 6), _number(data, 8)
    elif type_name == "BMP image" and len(data) >= 26:
        size = _number(data, 18, width=4), abs(int.from_bytes(data[22:26], "little", signed=True))
    elif type_name == "WebP image":
        size = _webp(data)
    elif type_name == "JPEG image":
        size = _jpeg(data)
    return f"{size[0]} × {size[1]} pixels" if size else ""


def _number(data: bytes, at: int, order: str = "little", width: int = 2) -> int:
    return int.from_bytes(data[at : at + width], "big" if order == "big" else "little")


def _webp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    if data[12:16] == b"VP8X":
        return _number(data, 24, width=3) + 1, _number(data, 27, width=3) + 1
    if data[12:16] == b"VP8L":
        bits = _number(data, 21, width=4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if data[12:16] == b"VP8 ":
        return _number(data, 26) & 0x3FFF, _number(data, 28) & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Return the size from the frame header, which follows segments of any length."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return _number(data, at + 7, "big"), _number(data, at + 5, "big")
        if kind == 0xFF or 0xD0 <= kind <= 0xD7 or kind == 1:
            at += 1 if kind == 0xFF else 2
        else:
            at += 2 + _number(data, at + 2, "big")
    return None
