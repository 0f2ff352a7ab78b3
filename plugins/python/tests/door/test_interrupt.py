"""Whatever ends this process at whatever moment: nothing is lost, and no process is left."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock

import noema

SCRIPT = """
import sys, time, noema
@noema.method
def slow(problem, host):
    time.sleep(0.1)
    reply = host.complete(problem.query, path="ask")
    return noema.read_answer(reply.text, problem.answer)
print("begin", flush=True)
try:
    r = noema.compare("arithmetic", ["cot", slow], limit=40, max_samples=2, home=sys.argv[1], progress=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
print(r.root)
"""


def processes(mark):
    """The processes whose command line or environment has a mark."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            if mark.encode() in text and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(entry.name + " " + (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@unittest.skipUnless(pathlib.Path("/proc/self/stat").exists(), "there is no /proc to look for processes in")
class Ends(unittest.TestCase):
    def setUp(self):
        """A process that a shell starts in the background is born to ignore interrupts."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def end(self, send, stages):
        whole = None
        for at in stages:
            with self.subTest(signal=send.name, at=at), tempfile.TemporaryDirectory(prefix="noema-door-") as home:
                environment = {**os.environ, "HOME": home, "PYTHONPATH": str(pathlib.Path(noema.__file__).parent.parent)}
                script = os.path.join(home, "script.py")
                pathlib.Path(script).write_text(textwrap.dedent(SCRIPT))
                begin = subprocess.Popen([sys.executable, script, home], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
                begin.stdout.readline()
                self.wait_for(begin, at)
                begin.send_signal(send)
                out, _ = begin.communicate(timeout=30)
                if send == signal.SIGINT:
                    self.assertIn(b"interrupted", out)
                self.gone(home)
                kept = noema._command.run(["cache", "stats"], home=home)
                done = subprocess.run([sys.executable, script, home], capture_output=True, env=environment, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                whole = whole or done.stdout
                self.assertEqual(done.stdout, whole)
                self.assertIsInstance(kept, dict)
                (run,) = noema.runs(home=home)
                self.assertEqual(run["status"], "finished")
                self.gone(home)

    def wait_for(self, process, trials):
        """Waits until that many trials are told; below 0, until the command has that long to start."""
        if trials < 0:
            time.sleep(-trials)
            return
        seen = ""
        while max((int(n) for n in re.findall(r"(\d+)/80 \[", seen)), default=-1) < trials:
            part = os.read(process.stderr.fileno(), 4096).decode(errors="replace")
            if not part:
                self.fail(f"it ended before {trials} trials: {seen}")
            seen = seen[-200:] + part

    def gone(self, home):
        until = time.monotonic() + 10
        while processes(home) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(processes(home), [])

    def test_any_moment(self):
        """An interrupt between any two steps of starting a command, and of beginning to wait for it."""
        with tempfile.TemporaryDirectory(prefix="noema-door-") as home:
            command = pathlib.Path(home, "noema")
            command.write_text("#!/bin/sh\nexec sleep 300\n")
            command.chmod(0o755)
            drawn = random.Random(37)
            with unittest.mock.patch.dict(os.environ, {"NOEMA": str(command), "MARK": home}):
                for _ in range(150):
                    after = drawn.uniform(0, 0.03)
                    begin = threading.Thread(target=lambda: (time.sleep(after), os.kill(os.getpid(), signal.SIGINT)))
                    with self.assertRaises(KeyboardInterrupt):
                        begin.start()
                        noema._command.output(["compare"])
                    begin.join()
            self.gone(home)

    def test_interrupts(self):
        self.end(signal.SIGINT, [-0.05, -0.3, 1, 20, 60])

    def test_kills(self):
        self.end(signal.SIGKILL, [-0.05, -0.3, 1, 20, 60])

    def test_terminations(self):
        self.end(signal.SIGTERM, [5])


if __name__ == "__main__":
    unittest.main()
