"""Splits text into the words of the full-text index: parts of identifiers, stemmed, without stop words.

In: text or a query. Out: words separated by spaces. `HTTPServer_error` becomes `http server error httpservererror`: its
parts and the whole, so that either finds it.
"""

from __future__ import annotations

import re
from functools import cache

import tantivy

_FILLING = frozenset(
    ("a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "is", "are", "was", "were", "be", "been", "being",
     "by", "with", "from", "as", "at", "it", "its", "this", "that", "these", "those", "when", "which", "if", "then",
     "than", "so", "not", "no", "do", "does", "did", "can", "could", "should", "would", "will", "may", "might", "has",
     "have", "had", "we", "you", "i", "they", "he", "she", "but", "into", "also", "there", "their", "our", "your",
     "only", "all", "any", "some", "such", "more", "most", "other")
)  # fmt: skip
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_RUNS = re.compile(r"[A-Za-z0-9_]+|[^\W_A-Za-z0-9]+")
_BRITISH_IZE = re.compile(r"(?<=[b-df-hj-np-tv-z])is(?=(?:e[drs]?|ers|ing|ations?)\Z)")
_MAX_CACHED_WORDS = 150_000  # maximum number of words that a process caches
_MAX_WORD_LENGTH = 60  # maximum length of a word that somebody might search for
CHUNK = 20  # lines per piece of a text
# Everything but letters, digits and underscores becomes a space; multi-byte letters stay.
_SPACED = bytes(c if c >= 128 or chr(c).isalnum() or c in b"_\n" else 32 for c in range(256))


@cache
def _stemmer() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build()


@cache
def _dense() -> re.Pattern[str]:
    """The scripts without spaces between words. Compiling these ranges takes longer than most questions."""
    return re.compile(r"[぀-ヿ㐀-鿿가-힣]")


def stem(word: str) -> str:
    """Return the stem of a word, the same for British and American spelling: `colour` and `color`."""
    stems: list[str] = _stemmer().analyze(_BRITISH_IZE.sub("iz", word))
    return f"{stems[0][:-3]}or" if stems[0].endswith("our") else stems[0]


class WordNormalizer(dict[bytes, str]):
    """Maps each written word to its words in the index; cached, because most words of a text repeat."""

    def __missing__(self, word: bytes) -> str:
        if len(self) > _MAX_CACHED_WORDS:
            self.clear()
        normalised = self[word] = " ".join(_split(word.decode("utf-8", "replace")))
        return normalised

    def of(self, text: str) -> str:
        """Return the words of a text."""
        return " ".join(map(self.__getitem__, text.encode("utf-8", "replace").translate(_SPACED).split()))

    def chunks(self, text: str) -> list[tuple[int, str]]:
        """Return the pieces of a text: the first line of each, and its words."""
        lines = text.encode("utf-8", "replace").translate(_SPACED).split(b"\n")
        chunks = []
        for start in range(0, len(lines), CHUNK):
            words = " ".join(map(self.__getitem__, b" ".join(lines[start : start + CHUNK]).split()))
            if words and not words.isspace():
                chunks.append((start + 1, words))
        return chunks


def _split(word: str) -> list[str]:
    if word.isascii():
        return _stem_words(word)
    stems = []
    for run in _RUNS.findall(word):
        if run.isascii():
            stems += _stem_words(run)
        elif _dense().search(run):
            stems += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            stems.append(run.lower())
    return stems


def _stem_words(word: str) -> list[str]:
    if len(word) > _MAX_WORD_LENGTH:
        return []
    if word.isdigit():
        return [word] if 2 <= len(word) <= 4 else []
    parts = _PARTS.findall(word)
    if len(word) > 20 and len(parts) > len(word) / 3:  # encoded data
        return []
    lower = [part.lower() for part in parts]
    stems = [stem(p) for p in lower if len(p) > 1 and p not in _FILLING and not (p.isdigit() and len(p) > 4)]
    if len(parts) > 1:
        stems.append(stem("".join(lower)))
    return stems
