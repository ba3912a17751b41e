"""Splits text and code names into the tokens of an index.

In: a piece of text without spaces, or a code name. Out: tokens. A token is a word in lower case and singular, an
acronym or code name as written, or "" where a phrase cannot continue (a stop word, a symbol, a number, an address,
code). Files repeat their own words and each other's, so both kinds of result are cached; without that, indexing
would be too slow.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from concordance.extract.text.english import GENERAL, MODIFIERS, STOP, VERBS, singular

LONGEST = 4  # words in a phrase

_KNOWN = STOP | VERBS | GENERAL | MODIFIERS
_BREAK = ("",)
_NOTHING: tuple[str, ...] = ()
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?:\d+[a-z]+)?|[A-Z]+")
_CODE_NAME = re.compile(r"~?(?:[A-Za-z_]\w*+(?:\.|::))*+[A-Za-z_]\w*+")
_ROLE = re.compile(r":[\w:+-]+:`[~!.]?([^`<]+)")
_CAMEL = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*|[A-Z]+[A-Z][a-z]{2,}[A-Za-z]*")
_PLURAL_ACRONYM = re.compile(r"[A-Z][A-Z0-9]+s")
_ENDING = re.compile(r"\.(?:py|pyi|h|hpp|c|cc|cpp|cu|cuh|md|rst|txt|json|ya?ml|toml|cfg|so|sh|js|ts|go|rs|java)$")
_NEVER_NAMES = frozenset(("e.g", "i.e", "a.k.a", "w.r.t", "etc", "vs", "__init__", "_"))


# Compiling these ranges takes a hundredth of a second, and most repositories do not need them.


@cache
def _east_asian() -> re.Pattern[str]:
    return re.compile(r"[぀-ヿ一-鿿가-힣]")


@cache
def _east_asian_words() -> re.Pattern[str]:
    return re.compile(r"[一-鿿々]{2,8}|[ァ-ヺー]{2,}|[가-힣]{2,}")


@lru_cache(maxsize=1 << 17)
def tokenize(chunk: str) -> tuple[str, ...]:
    """Return the tokens of a piece of text without spaces."""
    if chunk.isalpha():
        return _word(chunk)
    inner = chunk.lstrip("([{\"'“‘*_~|<")
    bare = inner.rstrip(".,;:!?)]}\"'”’*_…>")
    before = _BREAK if len(inner) < len(chunk) and chunk[0] in "([{|" else _NOTHING
    after = _BREAK if len(bare) < len(inner) and inner[len(bare) :].strip("\"'*_”’") else _NOTHING
    if bare.isalpha():
        return before + _word(bare) + after
    return before + _mixed_tokens(bare, inner) + after


def _word(word: str) -> tuple[str, ...]:
    """Return the tokens of a run of letters."""
    lower = word.lower()
    if not word.isascii():
        return _foreign(word)
    if word.isupper():
        if lower in _KNOWN or len(word) == 1:
            return _BREAK if lower in STOP or len(word) == 1 else (singular(lower),)
        return (word,) if len(word) < 7 else (singular(lower),)
    if len(word) < 3 or lower in STOP:
        return _BREAK
    if not word[1:].islower():
        if _PLURAL_ACRONYM.fullmatch(word):
            return (word[:-1],)
        return (word,) if _CAMEL.fullmatch(word) else _BREAK
    singular_form = singular(lower)
    return (singular_form,) if singular_form not in STOP else _BREAK


def _foreign(word: str) -> tuple[str, ...]:
    if _east_asian().search(word):
        # These scripts have no spaces; without a dictionary, runs of one script are the closest thing to words.
        return tuple(token for run in _east_asian_words().findall(word) for token in (run, "")) or _BREAK
    return (word.lower(),) if len(word) > 2 else _BREAK


def _mixed_tokens(bare: str, inner: str) -> tuple[str, ...]:
    """Return the tokens of text that is not only letters: code names, compounds, possessives, addresses, numbers."""
    if "`" in bare:
        role = _ROLE.match(inner)
        code = role[1] if role else bare.strip("`")
        return _name(code.rstrip("()")) if "`" not in code else _BREAK
    if "](" in bare:
        return tokenize(bare.partition("](")[0]) if bare[0] != "!" else _BREAK
    if "://" in bare or "@" in bare or "=" in bare or "<" in bare or "\\" in bare:
        return _BREAK
    if bare.endswith(("'s", "’s")):
        return tokenize(bare[:-2]) if len(bare) > 3 else _BREAK
    if not bare.isascii() and _east_asian().search(bare):
        return _foreign(bare)
    parts = bare.split("-")
    if len(parts) in (2, 3) and all(len(part) > 1 and part.isalpha() for part in parts):
        if bare.lower() in STOP or all(part.lower() in STOP for part in parts):
            return _BREAK
        return (bare if any(part.isupper() for part in parts) else singular(bare.lower()),)
    if "/" in bare:
        both = bare.split("/")
        return tokenize(both[0]) + _BREAK + tokenize(both[1]) if len(both) == 2 and all(both) else _BREAK
    return _name(bare.rstrip("()"))


def _name(text: str) -> tuple[str, ...]:
    """Return a code name if the text looks like one; a plain lower-case word could be anything."""
    text = text.lstrip("~.")
    if _PLURAL_ACRONYM.fullmatch(text) or (text.isupper() and text.isalnum() and text[:1].isalpha() and len(text) < 7):
        return (text.rstrip("s"),) if len(text) > 1 else _BREAK
    if not _CODE_NAME.fullmatch(text) or len(text) < 4 or text.lower() in _NEVER_NAMES or _ENDING.search(text):
        return _BREAK
    telling = "_" in text.strip("_") or "." in text or "::" in text or (_CAMEL.fullmatch(text) and text.isalpha())
    return (text,) if telling else _BREAK


@lru_cache(maxsize=1 << 17)
def name_ngrams(name: str) -> tuple[str, ...]:
    """Return the words of a name, and its runs of two to four words, each once."""
    parts = split_name(name)
    grams = list(parts)
    for length in range(2, min(len(parts), LONGEST) + 1):
        grams += [" ".join(parts[start : start + length]) for start in range(len(parts) - length + 1)]
    if "" in parts:  # such a part begins or ends a run, or makes two spaces in it
        grams = [gram for gram in grams if gram.strip(" ") == gram and gram and "  " not in gram]
    return tuple(dict.fromkeys(grams))


def split_name(name: str) -> tuple[str, ...]:
    """Split a name into its words: `FullyShardedDataParallel`, `state_dict`, `HTTPServer`."""
    if not name.isascii():
        return tuple(part.lower() for part in name.split("_") if len(part) > 2)
    capitals = name.isupper()
    tokens: list[str] = []
    for part in _PARTS.findall(name):
        if part.isupper() and not capitals and len(part) > 1:
            tokens.append(part if part.lower() not in _KNOWN else "")
        else:
            lower = part.lower()
            singular_form = singular(lower) if len(lower) > 2 else ""
            tokens.append(singular_form if lower not in STOP and singular_form not in STOP else "")
    return tuple(tokens)


def is_word(token: str) -> bool:
    """True if a token can be part of a phrase: a word or an acronym, not a code name."""
    return (token.islower() and token.isalnum()) or "-" in token or is_acronym(token)


def is_acronym(token: str) -> bool:
    """True if a token is an acronym."""
    return token.isupper() and token.isascii() and token.isalnum() and len(token) > 1
