package numbering

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// client is as much of a client of OpenAI as the numbering touches: it prints which number a
// call has beside what only its place in the program decides. Like the real one it looks names
// up in a pool, or not, as chance has it.
const client = `
import asyncio, os, random, time
class Options:
    def __init__(self, what): self.headers, self.what = {}, what
def told(options): os.write(1, f'{options.headers.get("Noema-Call")} {options.what}\n'.encode())
class SyncAPIClient:
    def request(self, cast_to, options, *, stream=False):
        time.sleep(random.random() / 200)
        told(options)
class AsyncAPIClient:
    async def request(self, cast_to, options, *, stream=False):
        if random.random() < 0.5:
            await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0)
        await asyncio.sleep(random.random() / 200)
        told(options)
`

// session is as much of requests as the numbering touches: like the real one it takes a connection
// from a queue, which holds no jobs of the program.
const session = `
import os, queue, random, time
class Session:
    def request(self, method, url, headers=None, data=None):
        pool = queue.LifoQueue()
        pool.put(1); pool.get()
        time.sleep(random.random() / 200)
        os.write(1, f'{(headers or {}).get("Noema-Call")} {data}\n'.encode())
`

// programs are ones whose calls run in no order of their own.
var programs = map[string]string{
	"threads": `
import threading
from openai._base_client import SyncAPIClient, Options
def work(i):
    for n in range(3): SyncAPIClient().request(None, Options(f"{i}.{n}"))
ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
SyncAPIClient().request(None, Options("last"))`,
	"sessions of requests": `
import threading
from requests.sessions import Session
def work(i):
    for n in range(3): Session().request("post", "/", headers={"A": "b"}, data=f"{i}.{n}")
ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
Session().request("post", "/", data="last")`,
	"pools within a pool": `
from concurrent.futures import ThreadPoolExecutor
from openai._base_client import SyncAPIClient, Options
def leaf(name): SyncAPIClient().request(None, Options(name))
def work(i):
    SyncAPIClient().request(None, Options(f"{i}"))
    with ThreadPoolExecutor(2) as inner: list(inner.map(leaf, [f"{i}.{j}" for j in range(3)]))
with ThreadPoolExecutor(4) as outer: list(outer.map(work, range(6)))`,
	"tasks": `
import asyncio
from openai._base_client import AsyncAPIClient, Options
async def work(i):
    for n in range(2): await AsyncAPIClient().request(None, Options(f"{i}.{n}"))
    await asyncio.gather(*(AsyncAPIClient().request(None, Options(f"{i}.g{j}")) for j in range(3)))
async def main(): await asyncio.gather(*(work(i) for i in range(8)))
asyncio.run(main())`,
	"threads of tasks": `
import asyncio
from openai._base_client import SyncAPIClient, Options
def work(i):
    for n in range(2): SyncAPIClient().request(None, Options(f"{i}.{n}"))
async def main(): await asyncio.gather(*(asyncio.to_thread(work, i) for i in range(8)))
asyncio.run(main())`,
	"a pool of threads": `
from multiprocessing.pool import ThreadPool
from openai._base_client import SyncAPIClient, Options
def work(i):
    for n in range(2): SyncAPIClient().request(None, Options(f"{i}.{n}"))
with ThreadPool(4) as pool: pool.map(work, range(8), 1)`,
	"workers on a queue": `
import queue, threading
from openai._base_client import SyncAPIClient, Options
jobs = queue.Queue()
def work():
    while (i := jobs.get()) is not None: SyncAPIClient().request(None, Options(f"{i}"))
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]; [jobs.put(i) for i in range(12)]; [jobs.put(None) for _ in ts]; [t.join() for t in ts]
SyncAPIClient().request(None, Options("last"))`,
	"a pool of processes": `
from concurrent.futures import ProcessPoolExecutor
from openai._base_client import SyncAPIClient, Options
def work(i): SyncAPIClient().request(None, Options(f"{i}"))
if __name__ == "__main__":
    with ProcessPoolExecutor(3) as pool: list(pool.map(work, range(9)))`,
	"processes": `
import os, subprocess, sys
from openai._base_client import SyncAPIClient, Options
SyncAPIClient().request(None, Options("first"))
children = []
for i in range(3):
    if (pid := os.fork()) == 0:
        SyncAPIClient().request(None, Options(f"fork {i}")); os._exit(0)
    children.append(pid)
code = "import sys; from openai._base_client import SyncAPIClient, Options; SyncAPIClient().request(None, Options(sys.argv[1]))"
ps = [subprocess.Popen([sys.executable, "-c", code, f"spawned {i}"]) for i in range(3)]
[os.waitpid(p, 0) for p in children]; [p.wait() for p in ps]`,
}

// unnumbered are programs whose jobs come to their workers by chance: those have no number.
var unnumbered = []string{"a pool of threads", "workers on a queue", "a pool of processes"}

// pythons are the interpreters of the machine that differ in how they start tasks.
func pythons() (all []string) {
	if newest, err := exec.LookPath("python3"); err == nil {
		all = append(all, newest)
	}
	home, _ := os.UserHomeDir() // "" finds none
	older, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.10.*/bin/python3"))
	return append(all, older...)
}

// TestPlacesDoNotDependOnChance: each call has one number, or none, whatever the order in which
// threads, tasks and processes ran, and no two calls have the same.
func TestPlacesDoNotDependOnChance(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("python3 is not installed")
	}
	for _, python := range pythons() {
		t.Run(python, func(t *testing.T) { placesOf(t, python) })
	}
}

func placesOf(t *testing.T, python string) {
	repeats := 8
	if testing.Short() {
		repeats = 2
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			numbered := filepath.Join(dir, "numbering")
			for path, text := range map[string]string{"openai/__init__.py": "", "openai/_base_client.py": client, "requests/__init__.py": "", "requests/sessions.py": session, "main.py": program} {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(numbered); err != nil {
				t.Fatal(err)
			}
			var first []string
			for range repeats {
				cmd := exec.Command(python, "main.py")
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONPATH="+numbered+string(os.PathListSeparator)+dir, "PYTHONDONTWRITEBYTECODE=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v:\n%s", err, out)
				}
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				slices.Sort(lines)
				if first == nil {
					first = lines
				}
				if !slices.Equal(lines, first) {
					t.Fatalf("numbers were\n%s\nand are\n%s", strings.Join(first, "\n"), strings.Join(lines, "\n"))
				}
			}
			seen := map[string]bool{}
			for _, line := range first {
				number, _, _ := strings.Cut(line, " ")
				if number == "None" && slices.Contains(unnumbered, name) {
					continue
				}
				if seen[number] || number == "None" || !strings.HasPrefix(number, "0") {
					t.Errorf("number %s twice, or none, in\n%s", number, strings.Join(first, "\n"))
				}
				seen[number] = true
			}
		})
	}
}

// TestWorld: with a clock and a seed, dates, random numbers and UUIDs are the same in each
// execution; what the types of dates are used for goes on.
func TestWorld(t *testing.T) {
	for interpreter, program := range map[string]string{
		"python3": `
import datetime, random, time, uuid, pickle
print(datetime.datetime.now(), datetime.date.today(), int(time.time()), random.random(), uuid.uuid4())
assert isinstance(datetime.datetime(2020, 1, 1), datetime.datetime) and isinstance(datetime.datetime.now(), datetime.date)
assert pickle.loads(pickle.dumps(datetime.datetime(2020, 1, 1))) == datetime.datetime(2020, 1, 1)
assert datetime.datetime.now() - datetime.datetime(2020, 1, 1) > datetime.timedelta(1)`,
		"node": `console.log(new Date().toISOString().slice(0, 10), Math.random(), crypto.randomUUID(), new Date(0).getTime(), Date.now() > 1e12)`,
	} {
		t.Run(interpreter, func(t *testing.T) {
			path, err := exec.LookPath(interpreter)
			if err != nil {
				t.Skipf("%s is not installed", interpreter)
			}
			dir := t.TempDir()
			if err := Write(dir); err != nil {
				t.Fatal(err)
			}
			var first string
			for range 2 {
				cmd := exec.Command(path, map[string]string{"python3": "-c", "node": "-e"}[interpreter], program)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC", "PYTHONPATH=" + dir, "NODE_OPTIONS=--require=" + filepath.Join(dir, "numbering.cjs"), "NOEMA_SEED=7", "NOEMA_CLOCK=1767225600"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if first == "" {
					first = string(out)
				}
				if string(out) != first || !strings.HasPrefix(first, "2026-01-01") {
					t.Errorf("%s, then %s", first, out)
				}
			}
		})
	}
}
