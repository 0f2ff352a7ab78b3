"""Calls a function of a program once for each trial. See the Go type warm.

The program is loaded once. Each trial then has a copy of this process as it was when all was
loaded, so that it costs no second import and finds nothing of the trial before. Lines come on
standard input, one for a trial; what is printed for each is how its copy ended.
"""

import importlib.util
import inspect
import json
import os
import sys
import traceback

import sitecustomize


def load(file, name):
    sys.argv = [file]
    sys.path[0] = os.getcwd()
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def called(function, problem):
    got = function(problem)
    if inspect.isawaitable(got):
        import asyncio

        async def wait():
            return await got

        got = asyncio.run(wait())
    return got if isinstance(got, str) else json.dumps(got)


def solve(function, trial):
    os.environ.clear()
    os.environ.update(trial["env"])
    os.chdir(trial["dir"])
    sitecustomize.begin_trial()
    try:
        result = {"answer": called(function, trial["problem"])}
    except BaseException:  # noqa: BLE001: whatever it is, the trial ends with it
        result = {"error": traceback.format_exc()[-2000:]}
    sys.stdout.flush()
    sys.stderr.flush()
    with open(trial["result"], "w", encoding="utf-8", errors="replace") as f:
        json.dump(result, f)


def main():
    control = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the program prints is not its answer
    try:
        function = load(sys.argv[1], sys.argv[2])
    except BaseException:  # noqa: BLE001: whatever it is, the program cannot be called
        print(json.dumps(traceback.format_exc()[-2000:]), file=control, flush=True)
        return
    print(json.dumps(""), file=control, flush=True)
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            try:
                control.close()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                solve(function, json.loads(line))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=control, flush=True)


main()
