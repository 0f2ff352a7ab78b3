"""The README's method does what the README says."""

import pathlib
import re
import unittest

import noema
from noema import AnswerSpec, Problem, testing


class Readme(unittest.TestCase):
    def test_method(self):
        text = (pathlib.Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
        (code,) = re.findall(r"```python\n(import noema\n\nclass .*?)```", text, re.DOTALL)
        names = {"__name__": "main"}
        exec(code, names)
        trial = testing.run(
            names["AskTwice"](), Problem("2 + 2?", answer=AnswerSpec("number")), lambda request: "Answer: 4"
        )
        self.assertEqual(trial.answer, noema.Answer.number(4))
        self.assertEqual([c.path for c in trial.calls], ["judge", "try/1", "try/2"])


if __name__ == "__main__":
    unittest.main()
