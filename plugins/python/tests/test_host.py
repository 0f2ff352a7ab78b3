"""What a method meets, without the kernel."""

import asyncio
import builtins
import unittest

import noema
from noema import Answer, Option, Problem, testing


class Method:
    """A method made of one function."""

    def __init__(self, solve, **attributes):
        self.__dict__.update(attributes)
        self.solve = solve


def run(solve, problem=None, model=lambda r: r.messages[0].content, **more):
    return testing.run(Method(solve), problem or Problem("?", seed=7), model, **more)


class Paths(unittest.TestCase):
    def test_numbered_in_order(self):
        def solve(problem, host):
            host.complete("a")
            host.complete("b", path="own")
            host.complete("c")
            return Answer.text("")

        self.assertEqual([c.path for c in run(solve).calls], ["c1", "c2", "own"])

    def test_below_map_whoever_is_first(self):
        def solve(problem, host):
            def one(n):
                host.emit("step_start")
                host.complete(f"{n}")
                return host.complete(f"{n}", path="again").text

            return Answer.text("".join(host.map(one, range(9), path="P")))

        trial = run(solve)
        want = sorted(f"P/{i}/{name}" for i in range(1, 10) for name in ("c1", "again"))
        self.assertEqual([c.path for c in trial.calls], want)
        self.assertEqual([(e.path, e.phase) for e in trial.events], [(f"P/{i}", "P") for i in range(1, 10)])
        self.assertEqual(trial.answer.value, "012345678")

    def test_of_many_and_draws(self):
        async def solve(problem, host):
            replies = await host.complete_many("ab", path="vote")
            replies += await host.draws("x", 2, path="again", temperature=0.7)
            return Answer.text("".join(r.text for r in replies))

        trial = run(solve)
        self.assertEqual(
            [(c.path, c.draw) for c in trial.calls], [("again", 0), ("again", 1), ("vote/1", 0), ("vote/2", 0)]
        )
        self.assertEqual(trial.answer.value, "abxx")
        self.assertEqual({c.sampling.seed for c in trial.calls}, {7})

    def test_used_twice(self):
        def solve(problem, host):
            host.complete("a", path="P")
            host.complete("b", path="P")

        with self.assertRaisesRegex(ValueError, "used twice"):
            run(solve)


class Failures(unittest.TestCase):
    def failing(self, error):
        def model(request):
            if request.path.endswith("/2"):
                raise error
            return "ok"

        return model

    def test_first_error_in_order(self):
        def solve(problem, host):
            return Answer.text(host.complete_many(["a", "b", "c"], path="P")[0].text)

        async def solve_async(problem, host):
            return Answer.text((await host.complete_many(["a", "b", "c"], path="P"))[0].text)

        for each in (solve, solve_async):
            trial = run(each, model=self.failing(noema.BudgetExceeded("enough")))
            self.assertIsInstance(trial.error, noema.BudgetExceeded)
            self.assertEqual(len(trial.calls), 3)

    def test_cancelled_is_no_exception(self):
        def solve(problem, host):
            try:
                host.complete_many("abc", path="P")
            except Exception:
                return Answer.text("went on")

        self.assertIsInstance(run(solve, model=self.failing(noema.Cancelled("over"))).error, noema.Cancelled)

    def test_unknown_tool(self):
        trial = run(lambda p, h: Answer.text(h.call_tool("add", {}).content))
        self.assertIsInstance(trial.error, noema.UnknownTool)

    def test_code_and_text(self):
        def raised(error, cause=None):
            try:
                raise error from cause
            except BaseException as e:
                return noema.errors.to_code(e)

        budget = noema.BudgetExceeded("no calls left")
        self.assertEqual(raised(budget), (1, "no calls left"))
        self.assertEqual(raised(noema.Failed("ask"), budget), (1, "ask: no calls left"))
        self.assertEqual(raised(ValueError(f"ask: {budget}"), budget), (1, "ask: no calls left"))
        self.assertEqual(raised(noema.Failed("no plan"), ValueError("bad")), (0, "no plan"))
        self.assertEqual(raised(asyncio.CancelledError())[0], 5)
        self.assertEqual(raised(KeyError("x"))[0], noema.errors.PANIC)
        self.assertRegex(raised(KeyError("x"))[1], r"^raised KeyError: 'x' \(at .*test_host.py:\d+\)$")

    def test_group(self):
        make = getattr(builtins, "ExceptionGroup", None)
        if make is None:
            self.skipTest("exception groups came with Python 3.11")
        group = make("two", [ValueError("x"), noema.ReplayMiss("not recorded")])
        self.assertEqual(noema.errors.to_code(group)[0], 2)


class Seeds(unittest.TestCase):
    def test_built_once_and_apart_from_the_trial(self):
        drawn = []

        def solve(problem, host):
            def build():
                drawn.append(host.rng.random())
                return host.complete("compile").text

            return Answer.text(host.seed("formula", build, content="F").decode())

        first = run(solve, Problem("?", seed=1))
        self.assertEqual([(c.path, c.sampling.seed) for c in first.calls], [("c1", 0)])
        run(solve, Problem("?", seed=2))
        self.assertEqual(drawn[0], drawn[1])
        again = run(solve, seeds=first.seeds)
        self.assertEqual((again.answer.value, again.calls), ("compile", []))

    def test_failed_build_stores_nothing(self):
        def solve(problem, host):
            def build():
                raise noema.Failed("no formula")

            return Answer.text(host.seed("formula", build).decode())

        trial = run(solve)
        self.assertEqual((str(trial.error), trial.seeds), ("no formula", {}))


class Random(unittest.TestCase):
    def test_depends_on_seed_and_place_alone(self):
        def solve(problem, host):
            return Answer.text(str(host.map(lambda i: host.rng.random(), range(20), path="P") + [host.rng.random()]))

        one, same, other = (run(solve, Problem("?", seed=s)).answer.value for s in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)


class Options(unittest.TestCase):
    def test_types_and_defaults(self):
        options = [
            Option("a", True),
            Option("b", 5),
            Option("c", 0.5),
            Option("d", "x", choices=("x", "y")),
            Option("e", type="int"),
        ]
        self.assertEqual([o.type for o in options], ["bool", "int", "number", "string", "int"])
        self.assertEqual([o.default_text for o in options], ["true", "5", "0.5", "x", ""])
        with self.assertRaisesRegex(TypeError, "option 'f'"):
            Option("f")


class Values(unittest.TestCase):
    def test_answers_as_the_kernel_writes_them(self):
        for answer, want in (
            (Answer.number(24.0), "24"),
            (Answer.number(0.1), "0.1"),
            (Answer.ranking((3, 1)), "[3,1]"),
            (Answer.set(["b", "a", "b"]), '["a","b"]'),
            (Answer.text('ü"\n'), '"ü\\"\\n"'),
            (Answer.fields({"b": 1.0, "a": None}), '{"a":null,"b":1}'),
        ):
            self.assertEqual(answer.value_json, want)
        self.assertEqual(Answer.number(float("nan")).outcome, "unparsed")
        with self.assertRaises(ValueError):
            Answer.fields({"x": float("inf")})

    def test_conversation(self):
        turns = noema.contract.conversation([noema.system("s"), {"role": "user", "content": "u"}])
        self.assertEqual([(m.role, m.content) for m in turns], [("system", "s"), ("user", "u")])

    def test_logprobs(self):
        top = (noema.TokenLogprob("a", -0.1, b"a"), noema.TokenLogprob("b", -2.5, b"b"))
        reply = noema.Completion("a", logprobs=(noema.TokenLogprob("a", -0.1, b"a", top),))

        def solve(problem, host):
            sure = host.complete("?", path="P1", logprobs=2)
            host.complete("?", path="P2")
            return Answer.number(sure.logprobs[0].top[1].logprob)

        trial = run(solve, model=lambda request: reply)
        self.assertEqual([c.sampling.logprobs for c in trial.calls], [2, 0])
        self.assertEqual(trial.answer.value, -2.5)
        for wrong in (-1, 21, 50):
            with self.assertRaisesRegex(ValueError, f"logprobs={wrong}: give 1 to 20"):
                run(lambda problem, host: host.complete("?", logprobs=wrong))

    def test_half_characters(self):
        self.assertEqual(noema._wire.clean("a\ud834\udd1eb\ud800"), "a𝄞b\ufffd")


class Json(unittest.TestCase):
    def test_json_ladder(self):
        self.assertEqual(noema.find_json('so {not json} but {"a": [1]} it is'), {"a": [1]})
        self.assertEqual(noema.find_json("```\n[1]\n``` {}", lambda v: isinstance(v, dict)), {})
        with self.assertRaises(ValueError):
            noema.find_json("none")


if __name__ == "__main__":
    unittest.main()
