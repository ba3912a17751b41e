"""Code that runs only on a certain device or memory layout, and the tests that can select it.

A call of an operator leads to one kernel per device (`CPU`, `CUDA`, `Vulkan`), of which a test runs the one that its
data selects. Calls alone do not tell which, so for a kernel that is not the default only tests count that name its
device: in their path, their class or their own name.

In: a file, and tests. Out: the devices that its code is for, and whether a test names one of them.
"""

from __future__ import annotations

import re

from concordance.base.model import Role
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index

# Devices and the libraries of kernels for them, each with the words by which a test may select it.
_DEVICES = {
    word: frozenset((word, *others.split()))
    for word, others in {
        "cuda": "", "hip": "rocm cuda", "rocm": "hip cuda", "cudnn": "cuda", "miopen": "hip rocm cuda", "mps": "",
        "metal": "mps", "vulkan": "", "xpu": "", "hpu": "", "mtia": "", "xla": "lazy", "ipu": "", "npu": "",
        "tpu": "xla", "mkldnn": "onednn", "onednn": "mkldnn", "xnnpack": "mobile", "qnnpack": "quantized quantization",
        "opencl": "", "sycl": "xpu",
    }.items()
}  # fmt: skip
# Layouts that only the dispatch key of a kernel names: elsewhere they are ordinary words.
_LAYOUTS = {
    "sparse": frozenset(("sparse", "csr", "coo")),
    "quantized": frozenset(("quantized", "quantization", "quantize", "qat", "quant")),
    "nested": frozenset(("nested", "nestedtensor", "njt", "jagged")),
}
_BY_KEY = _DEVICES | _LAYOUTS
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def device_words(index: Index, path: str) -> frozenset[str]:
    """Return the words of which a test must use one to select the code of a file; none if any test may run it.

    The path of the file says it; for a layout, if the dispatch key of an operator that leads to it says it, too. Else
    the dispatch keys do, if each of them names a device or layout.
    """
    named = words_of(path)
    devices = [_DEVICES[word] for word in named if word in _DEVICES]
    if not devices:
        rows = bridges_of(index).unsorted_into(path)
        keys = {dict(row.more).get("key", "").lower() for row in rows if row.role == Role.CALL}
        devices = [words for word, words in _LAYOUTS.items() if word in named and any(word in key for key in keys)]
        by_key = [[words for word, words in _BY_KEY.items() if word in key] for key in keys]
        if not devices and all(by_key):
            devices = [words for some in by_key for words in some]
    return frozenset(word for words in devices for word in words)


def words_of(text: str) -> set[str]:
    """Return the words of a path or of names."""
    return {word.lower() for word in _WORDS.findall(text)}


def selects_device(index: Index, words: frozenset[str], test: int) -> bool:
    """True if a test names one of the devices, or there is none to be named."""
    return not words or not words.isdisjoint(words_of(f"{index.path_of(test)} {index.key_of(test)}"))
