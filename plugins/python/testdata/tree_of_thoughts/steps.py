"""Word problems: thoughts are steps of a calculation, in words and numbers."""

import re
from collections.abc import Hashable
from fractions import Fraction
from typing import NamedTuple, Optional

import prompts
from search import Found

import noema

_NUMBER = r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?"
_EQUATION = re.compile(rf"(?<![\d.)])({_NUMBER})\s*([-+*/×÷−])\s*({_NUMBER})\s*=\s*({_NUMBER})(?![\d/])")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\(?\d+[.)]\s+)")
_ANSWER = re.compile(r"^[\s*_#]*answer[\s*_]*:", re.IGNORECASE)
_LONGEST = 300


class State(NamedTuple):
    """The steps so far; with an answer they are complete."""

    steps: tuple[str, ...] = ()
    answer: Optional[noema.Answer] = None


class Steps:
    """The space of one problem whose answer is a number or a text."""

    def __init__(self, problem: noema.Problem, width: int, depth: int) -> None:
        self.spec, self.width, self.depth = problem.answer, width, depth
        self.text = problem.query
        if problem.context_json:
            self.text += "\n\nData:\n" + problem.context_json
        self.root = State()

    def done(self, state: State) -> bool:
        return state.answer is not None

    def propose(self, state: State) -> str:
        return self._fill(prompts.STEPS_PROPOSE, state)

    def value(self, state: State) -> str:
        return self._fill(prompts.STEPS_VALUE, state)

    def _fill(self, prompt: str, state: State) -> str:
        lines = list(state.steps)
        if state.answer is not None:
            lines.append(f"Answer: {state.answer.value}")
        return prompt.format(problem=self.text, steps="\n".join(lines) or "(none)", width=self.width)

    def read(self, state: State, text: str) -> tuple[list[State], list[str]]:
        states, useless = [], []
        for line in text.splitlines():
            line = _BULLET.sub("", line).strip()
            if len(states) == self.width or not line:
                continue
            after = self._step(state, line)
            if after is None:
                useless.append(line)
            else:
                states.append(after)
        return states, useless

    def _step(self, state: State, line: str) -> Optional[State]:
        """The state after one more step; None if the step is wrong by itself."""
        if _ANSWER.match(line):
            answer = noema.read_answer(line, self.spec)
            return State(state.steps, answer) if answer.outcome == "answered" else None
        if len(line) > _LONGEST or line in state.steps or not all(map(holds, _EQUATION.findall(line))):
            return None
        return State(state.steps + (line,))

    def certain(self, state: State) -> Optional[float]:
        return None

    def key(self, state: State) -> Hashable:
        return state.steps, state.answer and state.answer.value_json

    def show(self, state: State) -> str:
        tail = [f"answer {state.answer.value}"] if state.answer else []
        return "; ".join(list(state.steps) + tail)

    def answer(self, found: list[Found], host: noema.Host) -> noema.Answer:
        """The answer of the best state that has one; else one is asked for."""
        best = next((f.state for f in found if self.done(f.state)), None)
        if best is None:
            best = found[0].state
            host.emit("fallback", "no state has an answer: the best is asked for one", path="answer")
            reply = host.complete(self._fill(prompts.STEPS_ANSWER, best), path="answer")
            best = best._replace(answer=noema.read_answer(reply.text, self.spec))
        return best.answer.resting_on(*(noema.Evidence(f"step {i}", s) for i, s in enumerate(best.steps, 1)))


def holds(equation: tuple[str, str, str, str]) -> bool:
    """Whether a op b = c, to the digits that c has."""
    sign = equation[1]
    x, y, z = (Fraction(re.sub("[,$€£]", "", equation[i])) for i in (0, 2, 3))
    if sign in "/÷":
        if y == 0:
            return False
        result = x / y
    else:
        result = {"+": x + y, "-": x - y, "−": x - y, "*": x * y, "×": x * y}[sign]
    digits = len(equation[3].partition(".")[2])
    return abs(result - z) <= (Fraction(1, 2 * 10**digits) if digits else 0)
