"""Experiments from Python: the command that $NOEMA names does the work."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings

import noema
from noema import _command, testing

ROWS = [{"id": f"q{i}", "input": f"What is {i} + {i}?", "target": str(2 * i), "group": "even" if i % 2 else "odd"} for i in range(6)]


def lacks(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Experiments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name

    def compare(self, *args, **options):
        return noema.compare(*args, home=self.home, **options)

    def test_a_result_has_what_the_run_has(self):
        r = self.compare("arithmetic", ["direct", "cot"], limit=6, model="sim?error=0.3")
        self.assertRegex(r.root, "^[0-9a-f]{64}$")
        self.assertEqual(r.methods, ["direct", "cot"])
        (pair,) = r.pairs
        self.assertEqual((pair.a, pair.b, pair.n), ("direct", "cot", 6))
        self.assertAlmostEqual(pair.difference, r.score("direct") - r.score("cot"))
        self.assertIn(r.verdict, " ".join(str(r).split()))
        self.assertIn("<table", r._repr_html_())
        self.assertNotIn("<script", r._repr_html_())
        trial = r.trial(f"cot/{r.trials.rows()[0]['sample']}")
        self.assertIn("Think", trial.transcript)
        self.assertEqual(trial.scores["accuracy"], float(trial.answer == trial.data["target"]))
        self.assertEqual(r.metrics["cot/accuracy"], r.score("cot"))
        self.assertEqual(r.params["root"], r.root)
        self.assertTrue(noema.replay(r))
        self.assertEqual(noema.load("last", home=self.home).verdict, r.verdict)
        self.assertEqual([x["id"] for x in noema.runs(home=self.home)], [r.id])
        again = self.compare("arithmetic", ["direct", "cot"], limit=6, model="sim?error=0.3")
        self.assertEqual((again.root, again.data["provider_calls"]), (r.root, 0))
        self.assertEqual((r.diff(again)["same"], r.diff(again)["trials"]), (12, None))

    def test_the_readme_does_what_it_says(self):
        text = (pathlib.Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
        code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
        before, os.environ["NOEMA_HOME"] = os.environ.get("NOEMA_HOME", ""), self.home
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, {})
        finally:
            os.environ["NOEMA_HOME"] = before
        self.assertIn("root  ", out.getvalue())

    def test_errors_say_what_helps(self):
        with self.assertRaises(noema.CommandError) as caught:
            self.compare("arithmetic", ["cott"], limit=2)
        self.assertEqual(caught.exception.code, "usage")
        self.assertIn('did you mean "cot"', caught.exception.hint)
        with self.assertRaises(noema.CommandError) as caught:
            self.compare("arithmetic", ["cot"], limit=2, epochs=0)
        self.assertIn("epochs", str(caught.exception))
        with self.assertRaises(TypeError):
            self.compare("arithmetic", "cot")

    def test_rows_are_a_task(self):
        r = self.compare(ROWS, ["direct"], model="sim", task_name="sums", max_samples=2)
        self.assertEqual([t["sample"] for t in r.trials.rows()], [row["id"] for row in ROWS])
        self.assertEqual({t["task"] for t in r.trials.rows()}, {"sums"})
        file = pathlib.Path(self.home) / "elsewhere" / "sums.jsonl"
        file.parent.mkdir()
        file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        self.assertEqual(self.compare(file, ["direct"], model="sim").root, r.root)
        for bad in ([], [1], 7):
            with self.assertRaises(TypeError):
                self.compare(bad, ["direct"])

    @lacks("pandas", "pyarrow", "polars")
    def test_frames(self):
        import pandas as pd
        import polars as pl

        r = self.compare(pd.DataFrame(ROWS), ["direct", "cot"], model="sim")
        self.assertEqual(self.compare(pl.DataFrame(ROWS), ["direct", "cot"], model="sim").root, r.root)
        trials, calls = r.trials.df(), r.calls.df()
        self.assertEqual((len(trials), str(trials["seed"].dtype), str(trials["epoch"].dtype)), (12, "UInt64", "Int64"))
        self.assertEqual(str(trials["score.accuracy"].dtype), "Float64")
        self.assertEqual([int(row["seed"]) for row in r.trials.rows()], [int(s) for s in trials["seed"]])
        self.assertEqual(calls["messages"][0][0]["role"], "user")
        self.assertEqual(r.calls.rows()[0]["messages"][0]["content"], calls["messages"][0][0]["content"])
        self.assertEqual(r.calls.polars().schema["messages"], pl.List(pl.Struct({"content": pl.String, "role": pl.String})))
        self.assertEqual(pl.DataFrame(r.trials).height, 12)
        self.assertEqual(trials.groupby("method")["score.accuracy"].mean()["cot"], r.score("cot"))

    def test_several_tasks_are_a_study(self):
        s = noema.study(["arithmetic", "cafes"], ["direct", "cot"], limit=3, home=self.home)
        self.assertEqual(set(s.cells), {("arithmetic", "sim"), ("cafes", "sim")})
        self.assertIn(s.verdict, " ".join(str(s).split()))
        self.assertTrue(noema.replay(s))
        self.assertEqual(noema.load("last", home=self.home).root, s.root)
        with self.assertRaises(ValueError):
            noema.study(["arithmetic"], ["direct"])

    def test_a_curve_has_what_the_command_says(self):
        study = noema.study(["arithmetic", "cafes"], ["direct", "cot"], limit=4, home=self.home)
        for r in (self.compare("arithmetic", ["direct", "cot"], limit=20, epochs=3, model="sim?error=0.3"), study):
            curve = r.curve("tokens")
            told = curve.comparison["curve"]
            rows = curve.rows()
            self.assertEqual(len(rows), sum(len(w["lines"]) for w in told["ways"]) * len(told["budgets"]))
            for m in curve.comparison["methods"]:  # the largest budget pays for every trial
                last = [x for x in rows if x["method"] == m["method"] and x["way"] == told["ways"][0]["way"]][-1]
                self.assertEqual(last["tokens"], told["budgets"][-1])
                self.assertAlmostEqual(last["value"], m["metrics"][curve.comparison["metric"]]["value"]["value"])
                self.assertLess(last["low"], last["high"])
            shown = curve._repr_html_()
            self.assertEqual(shown.count("<svg") - r._repr_html_().count("<svg"), len(told["ways"]))
            self.assertIn("within a budget", str(curve))
            self.assertEqual((curve.id, curve.root, curve.verdict), (r.id, r.root, r.verdict))
        self.assertEqual({x["setting"] for x in rows}, {None})
        with self.assertRaises(noema.CommandError):
            r.curve("grace")

    @lacks("pandas")
    def test_a_curve_is_a_frame(self):
        r = self.compare("arithmetic", ["direct", "cot"], limit=10, epochs=3, model="sim?error=0.3")
        frame = r.curve("calls").df()
        self.assertEqual(list(frame.columns), ["way", "method", "calls", "value", "low", "high", "setting", "better_than"])
        self.assertEqual(frame.groupby("way", sort=False).size().index[0], "one trial, wrong if it used more")
        self.assertIn("3", set(frame["setting"].dropna()))

    def test_a_pack_is_verified_elsewhere(self):
        r = self.compare("arithmetic", ["direct"], limit=2)
        file = os.path.join(self.home, "one.noema")
        self.assertIn("digest", r.pack(file))
        subprocess.run([_command.binary(), "pack", "verify", file], check=True, capture_output=True)

    def test_tests_hold_a_method_to_a_score(self):
        r = self.compare("arithmetic", ["direct", "cot"], limit=30)
        testing.not_worse(r, by=0.5)
        testing.not_worse(r, "direct", "cot", by=0.5)
        testing.at_least(r, "cot", r.score("cot"))
        with self.assertRaises(AssertionError):
            testing.not_worse(r, by=0.0001)
        with self.assertRaises(AssertionError):
            testing.at_least(r, "cot", 1.01)
        held = self.compare("arithmetic", ["direct", "cot"], limit=30, cache="replay")
        self.assertEqual((held.root, held.data["provider_calls"]), (r.root, 0))

    def test_a_method_is_held_to_its_main_branch(self):
        file = os.path.join(self.home, "repository", "my_method.go")
        os.mkdir(os.path.dirname(file))

        def git(*args):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=os.path.dirname(file), check=True, capture_output=True)

        subprocess.run([_command.binary(), "plugin", "new", file], check=True, capture_output=True)
        git("init", "-b", "main")
        git("add", ".")
        git("commit", "-m", "first")
        now = self.compare("arithmetic", [file], limit=30)
        testing.not_worse(now, self.compare("arithmetic", [testing.as_of(file, "main")], limit=30), by=0.0001)  # the same code
        text = pathlib.Path(file).read_text()
        pathlib.Path(file).write_text(text + "\n// changed\n")
        now, main = (self.compare("arithmetic", [m], limit=30) for m in (file, testing.as_of(file, "main")))
        self.assertNotEqual(now.root, main.root)
        self.assertEqual(now.data["provider_calls"], 0)
        testing.not_worse(now, main, by=0.5)
        with self.assertRaisesRegex(AssertionError, "30 samples"):
            testing.not_worse(now, main, by=0.03)

    def test_failed_trials_are_told(self):
        @noema.method
        def breaks(problem, host):
            raise RuntimeError("it breaks")

        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(io.StringIO()) as said:
            warnings.simplefilter("always")
            r = self.compare("arithmetic", ["direct", breaks], limit=2)
        self.assertEqual(said.getvalue().count("RuntimeError: it breaks"), 1, "the same fault is printed once")
        self.assertIn("2 of 4 trials failed", "".join(str(w.message) for w in caught if w.category is noema.TrialsFailed))
        self.assertIn("it breaks", r.trials.rows()[-1]["failure"])

    @lacks("mlflow")
    def test_mlflow_takes_a_run(self):
        import mlflow

        r = self.compare("arithmetic", ["direct", "cot"], limit=3)
        mlflow.set_tracking_uri("sqlite:///" + os.path.join(self.home, "mlflow.db"))
        with mlflow.start_run(run_name=r.id):
            mlflow.log_params(r.params)
            mlflow.log_metrics(r.metrics)
        (found,) = mlflow.search_runs(output_format="list")
        self.assertEqual((found.data.params["root"], found.data.metrics["cot/accuracy"]), (r.root, r.score("cot")))

    @lacks("wandb")
    def test_wandb_takes_a_run(self):
        import wandb

        r = self.compare("arithmetic", ["direct", "cot"], limit=3)
        with wandb.init(project="noema", name=r.id, config=r.params, mode="offline", dir=self.home) as run:
            run.log(r.metrics)
            self.assertEqual(run.summary["cot/accuracy"], r.score("cot"))


if __name__ == "__main__":
    unittest.main()
