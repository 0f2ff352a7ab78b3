"""Game of 24: thoughts are moves that join two numbers into one.

Differs from the paper: every move is computed here, exactly, so that a model's
slip in arithmetic costs nothing, and the expression is made of the moves
instead of by a last call.
"""

import operator
import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple, Optional

import prompts
from search import WEIGHTS, Found

import noema

_QUESTION = re.compile(r"^Make (\d+) from the numbers ([\d, and]+)\.", re.IGNORECASE)
_NUMBER = r"-?\d+(?:\.\d+|/\d+)?"
_MOVES = (
    re.compile(rf"({_NUMBER})\s+([-+*/])\s+({_NUMBER})\s*="),
    re.compile(r"(-?\d+)\s*([-+*/])\s*(-?\d+)\s*="),
)
_SIGNS = str.maketrans("×·÷−–", "**/--")
_JOIN = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class Number(NamedTuple):
    """A number that is left, and the expression that it came from."""

    value: Fraction
    text: str


class State(NamedTuple):
    """What is left after some moves."""

    left: tuple[Number, ...]
    moves: tuple[str, ...] = ()


def join(state: State, a: Fraction, sign: str, b: Fraction) -> Optional[State]:
    """The state after a move; None if the numbers are not there or b is a divisor of 0."""
    left = list(state.left)
    picked = []
    for value in (a, b):
        at = next((i for i, n in enumerate(left) if n.value == value), None)
        if at is None:
            return None
        picked.append(left.pop(at))
    if sign == "/" and b == 0:
        return None
    result = _JOIN[sign](a, b)
    left.append(Number(result, f"({picked[0].text} {sign} {picked[1].text})"))
    return State(tuple(left), state.moves + (f"{a} {sign} {b} = {result}",))


class Game24:
    """The space of one puzzle."""

    def __init__(self, numbers: Sequence[int], goal: int, width: int) -> None:
        self.numbers, self.goal, self.width = list(numbers), goal, width
        self.root = State(tuple(Number(Fraction(n), str(n)) for n in numbers))
        self.depth = len(self.numbers) - 1

    @classmethod
    def of(cls, problem: noema.Problem, width: int) -> Optional["Game24"]:
        """The space of a problem, if it is a puzzle."""
        asked = _QUESTION.match(problem.query)
        if problem.answer.kind != "text" or not asked:
            return None
        return cls([int(n) for n in re.findall(r"\d+", asked.group(2))], int(asked.group(1)), width)

    def done(self, state: State) -> bool:
        return len(state.left) == 1

    def propose(self, state: State) -> str:
        return prompts.GAME24_PROPOSE.format(goal=self.goal, width=self.width, left=_left(state))

    def read(self, state: State, text: str) -> tuple[list[State], list[str]]:
        states, useless = [], []
        for line in text.translate(_SIGNS).splitlines():
            if len(states) == self.width or not line.strip():
                continue
            after = self._move(state, line)
            if after is None:
                useless.append(line.strip())
            else:
                states.append(after)
        return states, useless

    def _move(self, state: State, line: str) -> Optional[State]:
        for form in _MOVES:
            found = form.search(line)
            if found:
                try:
                    after = join(state, Fraction(found.group(1)), found.group(2), Fraction(found.group(3)))
                except ZeroDivisionError:  # 3/0 as a number
                    after = None
                if after is not None:
                    return after
        return None

    def certain(self, state: State) -> Optional[float]:
        if not self.done(state):
            return None
        return WEIGHTS["sure"] if state.left[0].value == self.goal else 0.0

    def value(self, state: State) -> str:
        return prompts.GAME24_VALUE.format(goal=self.goal, left=_left(state))

    def key(self, state: State) -> Hashable:
        return tuple(sorted(n.value for n in state.left))

    def show(self, state: State) -> str:
        return "; ".join(state.moves) or _left(state)

    def answer(self, found: list[Found], host: noema.Host) -> noema.Answer:
        """The expression of the best state that is done."""
        best = next((f.state for f in found if self.done(f.state)), None)
        if best is None:
            return noema.Answer.none("unparsed", "no sequence of moves was proposed that joins all numbers")
        value, text = best.left[0]
        answer = noema.Answer.text(text[1:-1] if len(self.numbers) > 1 else text)
        answer = answer.resting_on(*(noema.Evidence(f"move {i}", m) for i, m in enumerate(best.moves, 1)))
        if value != self.goal:
            return answer.but("defaulted", f"no way to {self.goal} was found; this one comes to {value}")
        return answer


def _left(state: State) -> str:
    return " ".join(str(n.value) for n in state.left)
