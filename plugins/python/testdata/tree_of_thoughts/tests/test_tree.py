"""The search on models that are programs, and the rules of both problems."""

import ast
import csv
import pathlib
import re
import sys
import unittest
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Optional

EXAMPLE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(EXAMPLE))

import game24
import search
import steps
from main import TreeOfThoughts

from noema import AnswerSpec, Problem, testing


def puzzle(numbers, **options):
    listed = ", ".join(str(n) for n in numbers[:-1]) + f" and {numbers[-1]}"
    query = f"Make 24 from the numbers {listed}. Use each of them exactly once, with +, -, *, / and parentheses."
    return Problem(query, answer=AnswerSpec("text"), seed=7, options=options)


def player(judge):
    """A model that lists every move, and says of what is left what judge says."""

    def model(request):
        prompt = request.messages[0].content
        left = [Fraction(n) for n in prompt.strip().rsplit(": ", 1)[1].split()]
        if "judge" in prompt.splitlines()[0]:
            return f"Let me see.\n{judge(left)}"
        pairs = [(a, b) for i, a in enumerate(left) for j, b in enumerate(left) if i != j]
        return "\n".join(f"- {a} {sign} {b} = ?" for a, b in pairs for sign in "+-*/")

    return model


def reachable(left):
    numbers = [game24.Number(n, "x") for n in left]

    def go(state):
        if len(state.left) == 1:
            return state.left[0].value == 24
        moves = (
            (a.value, s, b.value)
            for i, a in enumerate(state.left)
            for j, b in enumerate(state.left)
            if i != j
            for s in "+-*/"
        )
        return any(after is not None and go(after) for after in (game24.join(state, *m) for m in moves))

    return "sure" if go(game24.State(tuple(numbers))) else "impossible"


def solve(numbers: Sequence[int], goal: int = 24) -> Optional[str]:
    """An expression that makes goal of the numbers, by trying all; None if there is none."""

    def go(state: game24.State, dead: dict[Any, bool]) -> Optional[str]:
        if len(state.left) == 1:
            return state.left[0].text if state.left[0].value == goal else None
        key = tuple(sorted(n.value for n in state.left))
        if key in dead:
            return None
        for i, a in enumerate(state.left):
            for b in state.left[:i] + state.left[i + 1 :]:
                for sign in game24._JOIN:
                    after = game24.join(state, a.value, sign, b.value)
                    text = after and go(after, dead)
                    if text:
                        return text
        dead[key] = True
        return None

    return go(game24.State(tuple(game24.Number(Fraction(n), str(n)) for n in numbers)), {})


def check(expression: str, numbers: Sequence[int], goal: int = 24) -> str:
    """What is wrong with an expression as an answer; empty if nothing is."""
    used: list[int] = []
    signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

    def value(node: ast.AST) -> Fraction:
        if isinstance(node, ast.BinOp) and type(node.op) in signs:
            return game24._JOIN[signs[type(node.op)]](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        raise ValueError("only whole numbers, + - * / and parentheses are allowed")

    try:
        result = value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        return str(error)
    if sorted(used) != sorted(numbers):
        return f"it uses {used}, not each of {list(numbers)} once"
    return "" if result == goal else f"it is {result}, not {goal}"


class Game(unittest.TestCase):
    def test_every_puzzle_of_the_file_can_be_solved(self):
        with open(EXAMPLE / "puzzles.csv", encoding="utf-8") as f:
            rows = list(csv.reader(f))[1:]
        self.assertGreaterEqual(len(rows), 10)
        for row in rows:
            numbers = [int(n) for n in row[0].split()]
            expression = solve(numbers)
            self.assertEqual(check(expression or "", numbers), "", row)
        self.assertIsNone(solve([1, 1, 1, 1]))

    def test_good_judge_finds_the_way(self):
        for numbers in ([1, 1, 4, 6], [4, 9, 10, 13]):
            trial = testing.run(TreeOfThoughts(), puzzle(numbers, breadth=1, width=100), player(reachable))
            self.assertEqual(trial.answer.outcome, "answered")
            self.assertEqual(check(trial.answer.value, numbers), "")
            self.assertEqual(len(trial.answer.evidence), 3)
            self.assertEqual(len([c for c in trial.calls if c.path.endswith("propose/1")]), 3)

    def test_bad_judge_is_told_apart(self):
        trial = testing.run(TreeOfThoughts(), puzzle([3, 3, 8, 8], breadth=1, width=100), player(lambda left: "likely"))
        self.assertEqual(trial.answer.outcome, "defaulted")
        self.assertRegex(trial.answer.reason, "no way to 24")

    def test_votes_add_up(self):
        trial = testing.run(TreeOfThoughts(), puzzle([4, 6, 1], votes=3, breadth=2, temperature=0.7), player(reachable))
        draws = [(c.path, c.draw) for c in trial.calls if "/value/" in c.path]
        self.assertEqual(len(draws), len(set(draws)))
        self.assertEqual({d for _, d in draws}, {0, 1, 2})
        self.assertEqual({c.sampling.temperature for c in trial.calls}, {0.7})

    def test_model_that_cannot_play(self):
        trial = testing.run(TreeOfThoughts(), puzzle([1, 1, 4, 6]), lambda r: "I cannot.")
        self.assertEqual((trial.answer.outcome, trial.answer.value, len(trial.calls)), ("unparsed", None, 1))

    def test_moves_are_read_and_computed(self):
        space = game24.Game24([8, 3, 8, 3], 24, 8)
        text = "8 / 3 = 2.67 (left: 3 8 8/3)\n3-8/3 = 1/3\n1. 8−3=5\n8 × 3 = 25\n5 + 3 = 8\n8 / 0 = 0\nhello"
        states, useless = space.read(space.root, text)
        self.assertEqual([s.moves[0] for s in states], ["8 / 3 = 8/3", "8 - 3 = 5", "8 * 3 = 24"])
        self.assertEqual(len(useless), 4)
        (after,), _ = space.read(states[0], "3 - 8/3 = 1/3")
        (last,), _ = space.read(after, "8 / 1/3 = 24")
        self.assertEqual(check(last.left[0].text, [8, 3, 8, 3]), "")

    def test_check(self):
        for expression, want in (
            ("8 / (3 - 8 / 3)", ""),
            ("(8 - 3) * 8 / 3", "not 24"),
            ("8 * 3", "not each"),
            ("3 ** 8", "only whole numbers"),
            ("8 / (3 - 3) + 8", "Fraction"),
            ("-8 + 3", "only whole numbers"),
            ("(1", "line 1"),
        ):
            self.assertRegex(check(expression, [3, 3, 8, 8]), want or "^$")


class Words(unittest.TestCase):
    problem = Problem("Mia has 3 boxes of 12 pencils and gives 5 away. How many are left?", answer=AnswerSpec("number"))

    @staticmethod
    def model(request):
        head, _, prompt = request.messages[0].content.partition("\n")
        done = prompt.partition("Steps so far:\n")[2].partition("\n\n")[0]
        if "judge" in head:
            return "impossible" if "3 + 12" in done else "sure"
        if "give the answer" in head:
            return "Answer: 31 pencils"
        if "(none)" in done:
            return "1. pencils: 3 + 12 = 15\n2. pencils: 3 × 12 = 36\n3. pencils: 3 * 12 = 35"
        if "36" in done and "31" not in done:
            return "left: 36 - 5 = 31"
        return "Answer: 31" if "31" in done else "left: 15 - 5 = 10"

    def test_right_steps_win(self):
        trial = testing.run(TreeOfThoughts(), self.problem, self.model)
        self.assertEqual((trial.answer.value, trial.answer.outcome), (31, "answered"))
        self.assertEqual([e.text for e in trial.answer.evidence], ["pencils: 3 × 12 = 36", "left: 36 - 5 = 31"])
        self.assertTrue(any(e.kind == "dropped" and "35" in e.text for e in trial.events))

    def test_answer_is_asked_for_at_the_last_depth(self):
        trial = testing.run(TreeOfThoughts(), replace(self.problem, options={"depth": 1}), self.model)
        self.assertEqual((trial.answer.value, trial.calls[0].path), (31, "D1/propose/1"))
        self.assertIn("answer", [c.path for c in trial.calls])

    def test_equations(self):
        for line, want in (
            ("3 × 12 = 36", True),
            ("1,200 / 7 = 171.43", True),
            ("10 / 4 = 2", False),
            ("$5 - 7 = -2", True),
            ("0.1 + 0.2 = 0.3", True),
            ("7 / 0 = 0", False),
            ("16 - 7 = 10", False),
        ):
            found = re.findall(steps._EQUATION, line)
            self.assertEqual([steps.holds(e) for e in found], [want], line)


class Search(unittest.TestCase):
    def test_votes(self):
        for text, want in (
            ("x\nSure.", 20),
            ("**likely**", 1),
            ("sure?\nimpossible", 0.001),
            ("who knows", 0),
            ("", 0),
        ):
            self.assertEqual(search.weigh(text), want)

    def test_same_run_again(self):
        for problem, model in ((puzzle([1, 1, 4, 6]), player(lambda left: "likely")), (Words.problem, Words.model)):
            one, two = (testing.run(TreeOfThoughts(), problem, model) for _ in range(2))
            self.assertEqual((one.calls, one.events, one.answer), (two.calls, two.events, two.answer))

    def test_options_out_of_range(self):
        trial = testing.run(TreeOfThoughts(), puzzle([1, 2], breadth=0), player(reachable))
        self.assertRegex(str(trial.error), "at least 1")


if __name__ == "__main__":
    unittest.main()
