"""Functions of a script as methods: the same contract, their code in the run's identity."""

import importlib.util
import linecache
import os
import sys
import tempfile
import unittest

import noema
from noema import _closure, testing

FACTOR = 2


def helper(text):
    return text * FACTOR


@noema.method
def plain(problem, host, *, again: bool = False):
    """Asks once, or twice."""
    reply = host.complete(problem.query + "\nBegin the last line with 'Answer:'.", path="ask")
    if again:
        reply = host.complete(helper(problem.query), path="again")
    return noema.read_answer(reply.text, problem.answer)


class Node:
    def __init__(self, text, depth):
        self.text, self.depth = text, depth

    def prompt(self):
        return f"{self.text}\nStep {self.depth}. Begin the last line with 'Answer:'."


@noema.method(answers=["number"])
async def tree_search(problem, host, *, width: int = 2, depth: int = 2):
    """Searches a tree of drafts."""

    async def grow(node):
        reply = await host.complete(node.prompt(), path="grow", temperature=0.7)
        return Node(f"{node.text}\n{reply.text}", node.depth + 1)

    level = [Node(problem.query, 0)]
    for d in range(depth):
        grown = await host.map(grow, [n for n in level for _ in range(width)], path=f"d{d}")
        level = sorted(grown, key=lambda n: (len(n.text), n.text))[:width]
    return noema.read_answer(level[0].text, problem.answer)


def cell(text, **names):
    """Defines what a notebook's cell does, and returns its names."""
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"__name__": "__main__", "noema": noema, **names}
    exec(compile(text, file, "exec"), space)
    return space


def digest(text, name="f", **names):
    found = cell(text, **names)
    main = sys.modules["__main__"]
    before = dict(vars(main))
    vars(main).update({k: v for k, v in found.items() if not k.startswith("__")})
    try:
        return _closure.gather(found[name]).digest()
    finally:
        vars(main).clear()
        vars(main).update(before)


class Functions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name

    def compare(self, methods, **options):
        return noema.compare("arithmetic", methods, limit=4, home=self.home, **options)

    def test_a_tree_search_is_compared_and_replayed(self):
        r = self.compare(["direct", plain, tree_search, tree_search.but(width=3)], max_samples=4)
        self.assertEqual(r.methods, ["direct", "plain", "tree-search", "tree-search?width=3"])
        calls = [c["path"] for c in r.calls.rows() if c["method"] == "tree-search"]
        self.assertEqual(calls[:6], ["d0/1/grow", "d0/2/grow", "d1/1/grow", "d1/2/grow", "d1/3/grow", "d1/4/grow"])
        self.assertIn("could reach more than a plugin should: not isolated", " ".join(str(r).split()))
        again = self.compare(["direct", plain, tree_search, tree_search.but(width=3)], max_samples=2)
        self.assertEqual((again.root, again.data["provider_calls"]), (r.root, 0))
        self.assertTrue(noema.replay(r))
        self.assertTrue(noema.replay(r.id, functions=[plain, tree_search], home=self.home))
        with self.assertRaises(noema.CommandError):
            noema.replay(r.id, home=self.home)

    def test_changed_code_is_another_method(self):
        global FACTOR
        r = self.compare([plain.but(again=True)])
        FACTOR = 3
        try:
            other = self.compare([plain.but(again=True)])
            found = noema.replay(r)
        finally:
            FACTOR = 2
        self.assertNotEqual(other.root, r.root)
        self.assertFalse(found.same)
        self.assertIn("code", found.changed[0])
        self.assertTrue(noema.replay(r))

    @unittest.skipIf(importlib.util.find_spec("grpc") is None, "not installed: grpcio, which plugins need")
    def test_a_function_becomes_a_plugin(self):
        r = self.compare(["direct", tree_search.but(width=3)])
        folder = r.promote(os.path.join(self.home, "my-tree"))
        with open(os.path.join(folder, "main.py"), encoding="utf-8") as f:
            space = {"__name__": "main"}
            exec(f.read(), space)
        trial = testing.run(noema.method(space["tree_search"]).but(width=3), noema.Problem("2 + 2?", answer=noema.AnswerSpec("number")), lambda q: "Answer: 4")
        self.assertEqual((trial.answer.value, len(trial.calls)), (4, 3 + 9))
        with self.assertRaises(FileExistsError):
            r.promote(folder)
        if not os.environ.get("NOEMA_TEST_INSTALLED"):
            self.skipTest("the package is not installed in this Python, so that a plugin cannot import it")
        plugin = self.compare(["direct", folder])
        self.assertEqual(plugin.data["provider_calls"], 0)
        self.assertEqual([t["answer"] for t in plugin.trials.rows()], [t["answer"] for t in r.trials.rows()])

    def test_nobody_else_has_a_function(self):
        r = self.compare([plain])
        with self.assertRaisesRegex(ValueError, "promote"):
            r.pack(os.path.join(self.home, "x.noema"))

    def test_limits_and_errors_reach_a_function(self):
        @noema.method
        def greedy(problem, host):
            for i in range(9):
                host.complete(f"{problem.query} {i}", path=f"p{i}")
            return noema.Answer.number(0)

        r = self.compare([greedy], call_limit=3)
        self.assertEqual({t["outcome"] for t in r.trials.rows()}, {"budget"})
        self.assertEqual({t["calls"] for t in r.trials.rows()}, {3})


class Identity(unittest.TestCase):
    """What the digest covers, and what it does not."""

    BASE = "def f(problem, host):\n    return g(problem.query, K)\ndef g(a, b):\n    return a, b\nK = {'a': [1, 2.5, None], 'b': {3, 4}}\n"

    def test_the_same_code_has_the_same_digest(self):
        base = digest(self.BASE)
        self.assertEqual(digest("\n\nUNUSED = 1\n" + self.BASE), base)
        self.assertEqual(digest(self.BASE.replace("{3, 4}", "{4, 3}")), base)

    def test_whatever_it_uses_changes_the_digest(self):
        seen = {digest(self.BASE)}
        for old, new in (("problem.query", "problem.id"), ("return a, b", "return b, a"), ("2.5", "2.6"), ("None", "0"), ("{3, 4}", "{3, 5}"), ("'a':", "'c':")):
            seen.add(digest(self.BASE.replace(old, new)))
        self.assertEqual(len(seen), 7)

    def test_closures_classes_and_objects(self):
        text = "def outer(k):\n    def f(problem, host):\n        return C(k).x\n    return f\nclass C:\n    def __init__(self, x):\n        self.x = x\nf = outer({})\n"
        one, two = digest(text.format("C(1)")), digest(text.format("C(2)"))
        self.assertNotEqual(one, two)
        self.assertEqual(digest(text.format("C(1)")), one)
        self.assertNotEqual(digest(text.format("C(1)").replace("self.x = x", "self.x = -x")), one)

    def test_imports_are_part_of_it(self):
        a = digest("import math\ndef f(problem, host):\n    return math.pi\n")
        b = digest("import cmath as math\ndef f(problem, host):\n    return math.pi\n")
        self.assertNotEqual(a, b)

    def test_what_cannot_be_told_is_refused(self):
        with self.assertRaisesRegex(TypeError, "lambda"):
            noema.method(name="x")(lambda problem, host: None).code()
        with self.assertRaisesRegex(TypeError, "digested"):
            digest("import threading\nL = threading.Lock()\ndef f(problem, host):\n    return L\n")
        space = {}
        exec("def f(problem, host): return 1", space)
        with self.assertRaisesRegex(TypeError, "source"):
            noema.method(space["f"]).code()
        with self.assertRaises(TypeError):
            noema.method(name="x")(lambda problem: None)
        with self.assertRaises(TypeError):
            plain.but(nope=1)


if __name__ == "__main__":
    unittest.main()
