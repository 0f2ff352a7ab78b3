"""The README's method does what the README says."""

import os
import pathlib
import re
import subprocess
import unittest

import noema
from noema import AnswerSpec, Problem, testing


README = (pathlib.Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


class Readme(unittest.TestCase):
    def test_readings(self):
        ((code, value),) = re.findall(r"^    (noema\.read_answer.*?)  # (.*)$", README, re.MULTILINE)
        self.assertEqual(str(eval(code)), value)
        ((asked, got),) = re.findall(r'^    (\{"text".*\})\n    (\{"outcome".*\})$', README, re.MULTILINE)
        out = subprocess.run([os.environ["NOEMA"], "read"], input=asked, capture_output=True, text=True)
        self.assertEqual(out.stdout, got + "\n")

    def test_method(self):
        (code,) = re.findall(r"```python\n(import noema\n\nclass .*?)```", README, re.DOTALL)
        names = {"__name__": "main"}
        exec(code, names)
        trial = testing.run(
            names["AskTwice"](), Problem("2 + 2?", answer=AnswerSpec("number")), lambda request: "Answer: 4"
        )
        self.assertEqual(trial.answer, noema.Answer.number(4))
        self.assertEqual([c.path for c in trial.calls], ["judge", "try/1", "try/2"])


if __name__ == "__main__":
    unittest.main()
