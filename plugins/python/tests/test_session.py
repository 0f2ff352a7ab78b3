"""The frames of a session, and the protocol's messages."""

import threading
import unittest

import noema
from noema import Answer, Problem, _wire
from noema._session import Outbox, SeedPut, Session
from noema.errors import Cancelled


def parse(messages):
    frames = []
    for raw in messages:
        message = _wire.M["PluginMessage"].FromString(raw)
        frames.append(list(message.frames))
    return frames


def problem_message(problem, options):
    """A problem as the kernel sends it."""
    a = problem.answer
    return _wire.M["Problem"](
        id=problem.id,
        query=problem.query,
        context=problem.context_json.encode(),
        tools=[_wire.from_tool(t) for t in problem.tools],
        answer=_wire.M["AnswerSpec"](kind=a.kind, n=a.n, k=a.k, labels=a.labels, names=a.names),
        seed=problem.seed,
        options=_wire.dump(options),
    )


def event(text):
    return _wire.M["PluginFrame"](event=_wire.from_event(noema.Event("note", text)))


class Batches(unittest.TestCase):
    def test_what_waits_travels_together(self):
        box = Outbox()
        for i in range(100):
            box.put(event(str(i)))
        box.put(event("x" * 300_000))
        box.put(event("last"))
        box.close()
        batches = parse(box.messages())
        self.assertEqual([len(b) for b in batches], [64, 36, 1, 1])
        texts = [f.event.text for b in batches for f in b]
        self.assertEqual(texts[:100], [str(i) for i in range(100)])
        self.assertFalse(box.put(event("late")))

    def test_full_queue_holds_up_and_goes_on(self):
        box = Outbox()

        def flood():
            for i in range(5000):
                box.put(event(str(i)))
            box.close()

        thread = threading.Thread(target=flood)
        thread.start()
        texts = [f.event.text for b in parse(box.messages()) for f in b]
        thread.join()
        self.assertEqual(texts, [str(i) for i in range(5000)])

    def test_lost_peer_frees_who_waits(self):
        box = Outbox()
        sent = []
        thread = threading.Thread(target=lambda: sent.extend(box.put(event("x")) for _ in range(2000)))
        thread.start()
        box.abort()
        thread.join(5)
        self.assertFalse(thread.is_alive())
        self.assertFalse(sent[-1])


class Calls(unittest.TestCase):
    def test_results_find_their_calls(self):
        session, got = Session(Problem("?")), {}
        request = noema.Request((noema.user("x"),), path="P")
        numbers = [session.send(request, 0, lambda v, e, i=i: got.update({i: (v, e)})) for i in range(3)]
        message = _wire.M["HostMessage"]()
        for n in (numbers[2], 99, numbers[0]):
            frame = message.frames.add()
            frame.result.id = n
            frame.result.completion.text = f"reply {n}"
        session.receive(message.frames)
        self.assertEqual({i: v.text for i, (v, e) in got.items()}, {2: f"reply {numbers[2]}", 0: f"reply {numbers[0]}"})
        session.cancel(Cancelled("over"))
        self.assertIsInstance(got[1][1], Cancelled)
        session.send(request, 0, lambda v, e: got.update(late=e))
        self.assertIsInstance(got["late"], Cancelled)

    def test_end_of_a_build_is_told_after_cancellation(self):
        session, got = Session(Problem("?")), []
        session.cancel(Cancelled("over"))
        session.send(SeedPut(b"", Cancelled("over")), 3, lambda v, e: got.append(e))
        session.outbox.close()
        ((frame,),) = parse(session.outbox.messages())
        self.assertEqual((frame.call.scope, frame.call.seed_put.error.code), (3, 5))
        self.assertIsInstance(got[0], Cancelled)

    def test_stream_that_ends_or_breaks_frees_the_calls(self):
        for stream, want in (([], Cancelled), ([b"\xff junk"], noema.Failed)):
            session, got = Session(Problem("?")), []
            session.send(noema.Request((noema.user("x"),), path="P"), 0, lambda v, e, got=got: got.append(e))
            session.listen([], iter(stream))
            self.assertEqual([type(e) for e in got], [want])

    def test_finish(self):
        for solve, want in ((lambda: Answer.number(24), b"24"), (self.fail_on_budget, 1)):
            session = Session(Problem("?"))
            session.finish(solve)
            ((frame,),) = parse(session.outbox.messages())
            finish = frame.finish
            self.assertEqual(finish.error.code if finish.HasField("error") else finish.answer.value, want)

    @staticmethod
    def fail_on_budget():
        raise noema.BudgetExceeded("enough")


class Messages(unittest.TestCase):
    def test_problem(self):
        tool = noema.ToolSpec("add", "adds", {"type": "object"}, None, True)
        problem = Problem("q ü", "id", '{"a":1}', (tool,), noema.AnswerSpec("choice", labels=("a", "b")), 2**64 - 1)
        described = noema.Description(options=(noema.Option("width", 5),))
        got = _wire.to_problem(problem_message(problem, {"width": 3}), described)
        self.assertEqual(
            (got.query, got.context, got.tools, got.answer, got.seed),
            (problem.query, {"a": 1}, (tool,), problem.answer, problem.seed),
        )
        self.assertEqual(got.options, {"width": 3})

    def test_error_codes_are_those_of_the_protocol(self):
        for kind in (
            noema.BudgetExceeded,
            noema.ReplayMiss,
            noema.UnknownTool,
            noema.ProviderFailed,
            noema.Cancelled,
            noema.DeadlineExceeded,
        ):
            message = _wire.from_error(kind("text"))
            back = noema.errors.from_code(message.code, message.message)
            self.assertEqual((type(back), str(back)), (kind, "text"))


if __name__ == "__main__":
    unittest.main()
