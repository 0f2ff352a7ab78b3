"""Reads answers in what a model wrote."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Optional

from . import contract as c
from .jsontext import find_json

_INTS = re.compile(r"""\[\s*["']?-?\d+["']?(?:\s*,\s*["']?-?\d+["']?)*\s*,?\s*\]""")
_NUMBER = re.compile(
    r"(?<![\w.,/-])[-+]?[$€£]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w/]|[.,:]\d)"
)
_MARK = re.compile(r"^[\s*_#>`]*answer[\s*_]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_DECORATION = " \t\r\n*_#>`"


def marked(text: str) -> str:
    """What follows the last "Answer:" at the start of a line; all of the text if there is none."""
    found = _after_mark(text)
    return text.strip() if found is None else found


def _after_mark(text: str) -> Optional[str]:
    every = list(_MARK.finditer(text))
    if not every:
        return None
    found = every[-1]
    return found.group(1).strip(_DECORATION) or text[found.end() :].strip()


def read_answer(text: str, spec: c.AnswerSpec) -> c.Answer:
    """The answer in a reply, in the form that spec wants.

    A reply without one gives an answer without a value and the outcome
    "unparsed"; for a ranking the ranking 1..k with the outcome "defaulted".
    """
    readers = {c.RANKING: _ranking, c.CHOICE: _choice, c.NUMBER: _number, c.SET: _set, c.FIELDS: _fields}
    read = readers.get(spec.kind, _text)
    after = _after_mark(text)
    if spec.kind == c.NUMBER and after is not None:
        after = "answer: " + after  # of several numbers after the mark the first counts
    answer = read(text.strip() if after is None else after, spec)
    if answer is not None:
        return answer
    reason = f"no {spec.kind} in the reply: {' '.join(text[:200].split())[:80]}"
    if spec.kind == c.RANKING:
        return c.Answer.ranking(range(1, min(spec.n, spec.k) + 1)).but(c.DEFAULTED, reason)
    return c.Answer.none(c.UNPARSED, reason)


def find_number(text: str) -> Optional[Decimal]:
    """The number that a text ends on: in its last line the first after the last ":" or "=", or else the last."""
    lines = text.strip().splitlines()
    if not lines:
        return None
    line = lines[-1].replace("−", "-").replace("\u00a0", " ")
    tail = re.split(r"[:=](?!\d)", line)[-1]
    first, every = _NUMBER.search(tail), list(_NUMBER.finditer(line))
    found = first if tail != line and first else (every[-1] if every else None)
    if found is None:
        return None
    try:
        return Decimal(re.sub(r"[,$€£]", "", found.group(0)))
    except InvalidOperation:
        return None


def _ranking(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    found = _INTS.search(text)
    if found:
        words = re.findall(r"-?\d+", found.group(0))
    else:
        line = (text.splitlines() or [""])[-1].rsplit(":", 1)[-1]
        words = [w.strip("*_`#.!") for w in re.split(r"""[\s,;>()\[\]{}"']+""", line) if w]
        if 2 * sum(w.isdecimal() for w in words) < len(words):
            return None
    items: list[int] = []
    for word in words:
        if word.isdecimal() and 1 <= int(word) <= spec.n and int(word) not in items:
            items.append(int(word))
    return c.Answer.ranking(items[: spec.k]) if items else None


def _choice(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    for candidate in (_unquoted(text), text):
        bare = candidate.strip(_DECORATION + ".\"'")
        for label in spec.labels:
            if candidate == label or bare.casefold() == label.strip(_DECORATION + ".\"'").casefold():
                return c.Answer.choice(label)
    return None


def _number(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    number = find_number(text)
    return None if number is None else c.Answer.number(number)


def _text(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    text = _unquoted(text)
    return c.Answer.text(text) if text else None


def _set(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    try:
        members = find_json(text, lambda v: isinstance(v, list))
    except ValueError:
        members = [m.strip(_DECORATION + "\"'.") for m in text.splitlines()[0].split(",")] if text else []
    members = [str(m) for m in members if str(m)]
    return c.Answer.set(members) if members else None


def _fields(text: str, spec: c.AnswerSpec) -> Optional[c.Answer]:
    try:
        value = find_json(text, lambda v: isinstance(v, dict) and all(n in v for n in spec.names))
        return c.Answer.fields({n: value[n] for n in spec.names})
    except ValueError:  # none, or one that holds NaN
        return None


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text
