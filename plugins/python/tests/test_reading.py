"""Replies are read by the kernel, or by the command. That they are read as in Go is tested in Go."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import noema
from noema import Answer, AnswerSpec, Problem, _wire, testing
from noema._session import Session
from noema._solve import solve

NUMBER = AnswerSpec("number")
COMMAND = "import noema; print(noema.read_answer('Answer: 4', noema.AnswerSpec('number')))"


def python(code, **variables):
    """Runs code in another Python; a variable that is None is not there."""
    env = {k: v for k, v in {**os.environ, **variables}.items() if v is not None}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, text):
        """A command that is a script."""
        at = self.folder / "noema"
        at.write_text(text)
        at.chmod(0o755)
        return str(at)


class ByCommand(Folder):
    def test_outcomes(self):
        ranking = AnswerSpec("ranking", n=4, k=2)
        for text, spec, cut, want in (
            ("Wait. The answer is 1,234.50.", NUMBER, False, Answer.number(1234.5)),
            ("none of the 3 fits", ranking, False, Answer("[1,2]", "defaulted")),
            ("<think>It is 5", NUMBER, False, Answer("", "unparsed")),
            ("Answer: 12", NUMBER, True, Answer("", "unparsed")),
            ("Answer: \ud834", AnswerSpec("text"), False, Answer.text("\ufffd")),
        ):
            got = noema.read_answer(text, spec, cut)
            self.assertEqual((got.value_json, got.outcome), (want.value_json, want.outcome), text)
            self.assertEqual(got.reason == "", got.outcome == "answered")
        for spec in (AnswerSpec("numbr"), AnswerSpec("ranking", n=-1), AnswerSpec("ranking", n=1 << 40)):
            with self.assertRaisesRegex(noema.Failed, "read answer: (kind|a ranking)"):
                noema.read_answer("x", spec)

    def test_in_a_copy_of_the_process(self):
        noema.read_answer("Answer: 1", NUMBER)
        child = os.fork()
        if child == 0:
            os._exit(int(noema.read_answer("Answer: 7", NUMBER).value))
        mine = noema.read_answer("Answer: 2", NUMBER).value
        self.assertEqual((mine, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), (2, 7))

    def test_an_interrupt_leaves_no_answer_behind(self):
        command = self.script(
            f"#!{sys.executable}\nimport json, os, signal, sys\n"
            "for line in sys.stdin:\n"
            "    n = json.loads(line)['text']\n"
            "    if n == '1': os.kill(os.getppid(), signal.SIGINT)\n"
            "    print(json.dumps({'value': n, 'outcome': 'answered', 'reason': ''}), flush=True)\n"
        )
        code = (
            "import noema, time\nspec = noema.AnswerSpec('number')\ntry:\n    noema.read_answer('1', spec)\n    time.sleep(60)\n"
            "except KeyboardInterrupt:\n    pass\nprint(noema.read_answer('2', spec).value)"
        )
        process = python(code, NOEMA=command)
        self.assertEqual(process.communicate(), ("2\n", ""))

    def test_no_command_or_one_that_does_not_read(self):
        old = self.script("#!/bin/sh\necho 'noema: unknown command \"read\": see \"noema --help\"' >&2\nexit 2\n")
        for command, want in (
            (None, "the command noema is not installed: pip install a wheel"),
            (old, 'does not read: noema: unknown command "read": see "noema --help": update it'),
            (str(self.folder), "does not read: .*Permission denied"),
            ("/bin/echo", "does not read: "),
        ):
            out, err = python(COMMAND, NOEMA=command, PATH="", HOME=str(self.folder)).communicate()
            self.assertEqual(out, "")
            self.assertRegex(err.splitlines()[-1], "^noema._command.CommandError: .*" + want)
        out, err = python(COMMAND, NOEMA_PLUGIN="method").communicate()
        self.assertIn("a plugin reads in its trials alone: start the threads that read by host.map", err)

    def test_the_command_ends_with_its_parent(self):
        fifo = self.folder / "held"
        os.mkfifo(fifo)
        command = self.script(f'#!/bin/sh\nexec 9> "{fifo}"\nexec "{os.environ["NOEMA"]}" "$@"\n')
        # A copy of the parent lives on, and holds the pipe to the command.
        code = COMMAND + "\nimport os, signal\nchild = os.fork()\nif child: print(child, flush=True)\nsignal.pause()"
        with python(code, NOEMA=command) as process, open(fifo) as held:
            process.stdout.readline()
            child = int(process.stdout.readline())
            process.kill()
            self.assertEqual(held.read(), "")  # at the end of the last process that holds it
            os.kill(child, signal.SIGKILL)


class InTrials(unittest.TestCase):
    def test_double(self):
        class Method:
            def solve(self, problem, host):
                return noema.read_answer(host.complete("?").text, problem.answer)

        trial = testing.run(Method(), Problem("?", answer=NUMBER), lambda request: "<think>5</think>Answer: 4")
        self.assertEqual(trial.answer, Answer.number(4))
        self.assertEqual(len(trial.calls), 1)

    def read_with(self, reply):
        """What reading comes to in a trial whose kernel replies so."""
        session, got = Session(Problem("?")), []

        class Method:
            def solve(self, problem, host):
                try:
                    return noema.read_answer("Answer: 4", NUMBER)
                except BaseException as error:
                    got.append(error)

        thread = threading.Thread(target=solve, args=(Method(), session))
        thread.start()
        (frame,) = _wire.M["PluginMessage"].FromString(next(session.outbox.messages())).frames
        self.assertEqual((frame.call.read.text, frame.call.read.spec.kind, frame.call.scope), ("Answer: 4", "number", 0))
        reply(session, frame.call.id)
        thread.join()
        return got[0]

    def test_older_kernel(self):
        def unknown(session, number):
            message = _wire.M["HostMessage"]()
            result = message.frames.add().result
            result.id, result.error.message = number, "call host: unknown kind of call"
            session.receive(message.frames)

        error = self.read_with(unknown)
        self.assertRegex(str(error), "^read answer: the noema that runs this trial is older than this Python package: update it$")

    def test_trial_that_ends_frees_the_reader(self):
        for end in (lambda s, n: s.cancel(noema.Cancelled("over")), lambda s, n: s.listen([], iter([]))):
            self.assertIsInstance(self.read_with(end), noema.Cancelled)


if __name__ == "__main__":
    unittest.main()
