"""The methods of the Go tests: ``main.py NAME`` serves one."""

import asyncio
import os
import sys
import threading

import noema
from noema import Answer

print("printed while importing")


class Echo:
    name, version, summary = "echo", "1", "asks what it was asked"
    options = (noema.Option("width", 5, "how wide"), noema.Option("mode", "a", choices=("a", "b")))

    def solve(self, problem, host):
        print("printed while solving")
        host.emit("phase_start", problem.query, path="P1")
        try:
            reply = host.complete(problem.query, path="P1")
        except noema.Error as e:
            raise noema.Failed("ask") from e
        return Answer.text(reply.text)


class AsyncEcho(Echo):
    async def solve(self, problem, host):
        host.emit("phase_start", problem.query, path="P1")
        try:
            reply = await host.complete(problem.query, path="P1")
        except noema.Error as e:
            raise noema.Failed("ask") from e
        return Answer.text(reply.text)


class Sure:
    """Tells what it was told of probabilities and of tokens, digit by digit."""

    def solve(self, problem, host):
        reply = host.complete("sure?", path="P1", logprobs=3)

        def tell(t):
            return [t.token, t.raw.hex(), t.logprob.hex(), [tell(x) for x in t.top]]

        return Answer.text(noema.jsontext.encode([[tell(t) for t in reply.logprobs], list(reply.usage)]))


class Many:
    def solve(self, problem, host):
        def one(i):
            return host.complete(f"call {i}").text != f"call {i}"

        wrong = sum(host.map(one, range(200), path="P1"))
        replies = host.complete_many((f"many {i}" for i in range(600)), path="P2")
        wrong += sum(r.text != f"many {i}" for i, r in enumerate(replies))
        return Answer.number(wrong)


class AsyncMany:
    async def solve(self, problem, host):
        async def one(i):
            return (await host.complete(f"call {i}")).text != f"call {i}"

        wrong = sum(await host.map(one, range(200), path="P1"))
        replies = await host.complete_many([f"many {i}" for i in range(600)], path="P2")
        wrong += sum(r.text != f"many {i}" for i, r in enumerate(replies))
        return Answer.number(wrong)


class Tool:
    def solve(self, problem, host):
        r = host.call_tool("add", {"a": 1}, path="P1")
        return Answer.text(f"{r.content}{str(r.is_error).lower()}")


class Seed:
    def solve(self, problem, host):
        def build():
            return host.complete("compile", path="seed").text

        return Answer.text(host.seed("formula", build, content=problem.query).decode())


class AsyncSeed:
    async def solve(self, problem, host):
        async def build():
            return (await host.complete("compile", path="seed")).text

        return Answer.text((await host.seed("formula", build, content=problem.query)).decode())


class Fault:
    def solve(self, problem, host):
        return Answer.text({}["boom"])


class Nothing:
    def solve(self, problem, host):
        pass


class Exit:
    def solve(self, problem, host):
        print("cannot go on", file=sys.stderr, flush=True)
        os._exit(7)


class Deaf:
    def solve(self, problem, host):
        host.emit("note", "started")
        threading.Event().wait()


class Wait:
    """Swallows what it can, as careless code does, and waits in a call."""

    def solve(self, problem, host):
        print("about to wait", file=sys.stderr, flush=True)
        host.emit("note", str(os.getpid()))
        while True:
            try:
                host.complete("wait", path="P1")
            except Exception:
                pass


class AsyncWait:
    async def solve(self, problem, host):
        host.emit("note", str(os.getpid()))
        await asyncio.gather(*(host.complete("wait", path=f"P{i}") for i in range(5)), asyncio.sleep(3600))


class Huge:
    def solve(self, problem, host):
        return Answer.text("x" * (65 << 20))


class Slow:
    """Gives up a call, and goes on."""

    def solve(self, problem, host):
        try:
            host.complete("slow", path="P1", timeout=0.05)
        except noema.DeadlineExceeded:
            pass
        return Answer.text(host.complete("fast", path="P2").text)


class Options:
    options = Echo.options

    def solve(self, problem, host):
        return Answer.fields(problem.options)


class Bench:
    """Makes as many calls as the query says, from as many callers as the option says."""

    options = (noema.Option("callers", 1),)

    def solve(self, problem, host):
        calls, callers = int(problem.query), problem.options["callers"]

        def work(share):
            for i in range(share):
                host.complete("x", path=f"c{i}")

        if callers == 1:
            work(calls)
        else:
            host.map(work, [calls // callers] * callers, path="P", limit=callers)
        return Answer.number(calls)


class BenchAsync(Bench):
    async def solve(self, problem, host):
        calls, callers = int(problem.query), problem.options["callers"]

        async def work(share):
            for i in range(share):
                await host.complete("x", path=f"c{i}")

        await host.map(work, [calls // callers] * callers, path="P")
        return Answer.number(calls)


class BenchGather(Bench):
    def solve(self, problem, host):
        host.gather([host.request("x", path=f"c{i}") for i in range(int(problem.query))])
        return Answer.number(0)


def read_one(case):
    """What is read of one case: its text, whether it was cut, and its specification."""
    spec = {name: tuple(v) if isinstance(v, list) else v for name, v in case.items() if name not in ("text", "cut")}
    answer = noema.read_answer(case["text"], noema.AnswerSpec(**spec), case["cut"])
    return [answer.value_json, answer.outcome, answer.reason]


class Read:
    """Reads the cases of its context, on threads."""

    def solve(self, problem, host):
        return Answer.text(noema.jsontext.encode(host.map(read_one, problem.context["cases"], path="P", limit=8)))


class AsyncRead:
    """Reads the cases of its context between calls, on the thread of the event loop."""

    async def solve(self, problem, host):
        async def one(case):
            before = read_one(case)
            await host.complete("x")
            return before if read_one(case) == before else None

        return Answer.text(noema.jsontext.encode(await host.map(one, problem.context["cases"], path="P")))


class BenchRead:
    def solve(self, problem, host):
        for _ in range(int(problem.query)):
            noema.read_answer("So 3 boxes of 12 make 36 pencils. The answer is 36.", problem.answer)
        return Answer.number(0)


METHODS = {
    "echo": Echo,
    "async-echo": AsyncEcho,
    "sure": Sure,
    "many": Many,
    "async-many": AsyncMany,
    "tool": Tool,
    "seed": Seed,
    "async-seed": AsyncSeed,
    "fault": Fault,
    "nothing": Nothing,
    "exit": Exit,
    "deaf": Deaf,
    "wait": Wait,
    "async-wait": AsyncWait,
    "huge": Huge,
    "slow": Slow,
    "options": Options,
    "read": Read,
    "async-read": AsyncRead,
    "bench-read": BenchRead,
    "bench": Bench,
    "bench-async": BenchAsync,
    "bench-gather": BenchGather,
}

if __name__ == "__main__":
    noema.serve(METHODS[sys.argv[1]]())
