"""JSON as the kernel writes it, and JSON in what a model wrote.

The search goes the same way as in all of noema's methods: the reply as it is,
then a fenced block in it, then the first balanced object or array in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Callable, Optional

JSON = Any

_CANDIDATES = 64


def encode(value: JSON) -> str:
    """JSON as the kernel writes it: compact, whole floats as integers, NaN refused."""
    return json.dumps(_tidy(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _tidy(value: JSON) -> JSON:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, Mapping):
        return {str(k): _tidy(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tidy(v) for v in value]
    return value


def find_json(text: str, accept: Optional[Callable[[JSON], bool]] = None) -> JSON:
    """The first JSON value in text that accept accepts; ValueError if there is none."""
    for candidate in _candidates(text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if accept is None or accept(value):
            return value
    raise ValueError(f"no usable JSON value in {text[:80]!r}")


def _candidates(text: str) -> Iterator[str]:
    yield text
    for block in text.split("```")[1 : 2 * _CANDIDATES : 2]:
        head, newline, body = block.partition("\n")
        yield body if newline and not set(head) & set('{["') else block
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_CANDIDATES):
        starts = [i for i in (text.find("{", at), text.find("[", at)) if i >= 0]
        if not starts:
            return
        at = min(starts)
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield text[at:end]
        at = end
