package numbering

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is a server that notes which number each call has beside what only its place in the program
// decides, and answers after a time of chance.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // one that is cut off is not the right one
	h.mu.Lock()
	h.lines = append(h.lines, r.Header.Get("Noema-Call")+" "+string(body))
	h.mu.Unlock()
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // chance decides who goes on first
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`)
}

// take returns the calls in their order by number, and forgets them.
func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	slices.Sort(lines)
	return lines
}

// ways are how Python asks: each defines ask(text), and those of tasks aask(text).
var ways = map[string]struct{ needs, head string }{
	"urllib": {"", `
import os, urllib.request
def ask(text): urllib.request.urlopen(os.environ["NOEMA_URL"] + "/x", text.encode()).read()
`},
	"requests": {"requests", `
import os, requests
def ask(text): requests.post(os.environ["NOEMA_URL"] + "/x", data=text)
`},
	"httpx": {"httpx", `
import os, httpx
def ask(text): httpx.post(os.environ["NOEMA_URL"] + "/x", content=text, timeout=None)
async def aask(text):
    async with httpx.AsyncClient(timeout=None) as c: await c.post(os.environ["NOEMA_URL"] + "/x", content=text)
`},
	"aiohttp": {"aiohttp", `
import os, aiohttp
async def aask(text):
    async with aiohttp.ClientSession() as s:
        async with s.post(os.environ["NOEMA_URL"] + "/x", data=text) as r: await r.read()
`},
	"openai": {"openai", `
import os, openai
def body(text): return dict(model="m", messages=[{"role": "user", "content": text}])
def ask(text): openai.OpenAI(base_url=os.environ["NOEMA_URL"] + "/v1", api_key="x").chat.completions.create(**body(text))
async def aask(text): await openai.AsyncOpenAI(base_url=os.environ["NOEMA_URL"] + "/v1", api_key="x").chat.completions.create(**body(text))
`},
}

// form is how a program does several things at once.
type form struct {
	program string
	needs   string // a package, where it takes one
	tasks   bool   // it asks by aask
	bare    bool   // its calls have no number: jobs come to their workers by chance
}

var forms = map[string]form{
	"one after another": {program: `for i in range(4): ask(f"{i}")`},
	"threads": {program: `
import threading
def work(i):
    for n in range(3): ask(f"{i}.{n}")
ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]; ask("last")`},
	"threads of a class": {program: `
import threading
class Worker(threading.Thread):
    def __init__(self, i): super().__init__(); self.i = i
    def run(self): ask(f"{self.i}"); ask(f"{self.i} again")
ts = [Worker(i) for i in range(6)]
[t.start() for t in ts]; [t.join() for t in ts]`},
	"timers": {program: `
import threading
ts = [threading.Timer(0.001, ask, (f"{i}",)) for i in range(6)]
[t.start() for t in ts]; [t.join() for t in ts]`},
	"a pool": {program: `
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as p: list(p.map(lambda i: (ask(f"{i}"), ask(f"{i} again")), range(9)))
ask("last")`},
	"pools within a pool": {program: `
from concurrent.futures import ThreadPoolExecutor
def work(i):
    ask(f"{i}")
    with ThreadPoolExecutor(2) as inner: list(inner.map(ask, [f"{i}.{j}" for j in range(3)]))
with ThreadPoolExecutor(4) as outer: list(outer.map(work, range(6)))`},
	"a pool, as they end": {program: `
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as p:
    for f in as_completed([p.submit(ask, f"{i}") for i in range(9)]): f.result()
ask("last")`},
	"copied contexts": {program: `
import contextvars
from concurrent.futures import ThreadPoolExecutor
def work(i):
    for n in range(2): ask(f"{i}.{n}")
with ThreadPoolExecutor(4) as p:
    [p.submit(contextvars.copy_context().run, work, i) for i in range(8)]
ask("last")`},
	"copied contexts in threads": {program: `
import contextvars, threading
def work(i):
    for n in range(2): ask(f"{i}.{n}")
ts = [threading.Thread(target=contextvars.copy_context().run, args=(work, i)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]`},
	"tasks": {tasks: true, program: `
import asyncio
async def work(i):
    for n in range(2): await aask(f"{i}.{n}")
    await asyncio.gather(*(aask(f"{i}.g{j}") for j in range(3)))
async def main(): await asyncio.gather(*(work(i) for i in range(6)))
asyncio.run(main())`},
	"tasks of one context": {tasks: true, program: `
import asyncio, contextvars, sys
async def work(i):
    for n in range(2): await aask(f"{i}.{n}")
async def main():
    more = {"context": contextvars.copy_context()} if sys.version_info >= (3, 11) else {}
    await asyncio.gather(*(asyncio.get_running_loop().create_task(work(i), **more) for i in range(6)))
asyncio.run(main())`},
	"a group of tasks": {tasks: true, program: `
import asyncio, sys
async def work(i):
    for n in range(2): await aask(f"{i}.{n}")
async def main():
    if sys.version_info < (3, 11): return await asyncio.gather(*(work(i) for i in range(6)))
    async with asyncio.TaskGroup() as g:
        for i in range(6): g.create_task(work(i))
asyncio.run(main())`},
	"tasks, as they end": {tasks: true, program: `
import asyncio
async def main():
    for f in asyncio.as_completed([aask(f"{i}") for i in range(6)]): await f
    await aask("last")
asyncio.run(main())`},
	"tasks behind a semaphore": {tasks: true, program: `
import asyncio
async def main():
    few = asyncio.Semaphore(2)
    async def work(i):
        async with few: await aask(f"{i}")
    await asyncio.gather(*(work(i) for i in range(8)))
asyncio.run(main())`},
	"threads of tasks": {program: `
import asyncio
def work(i):
    for n in range(2): ask(f"{i}.{n}")
async def main(): await asyncio.gather(*(asyncio.to_thread(work, i) for i in range(8)))
asyncio.run(main())`},
	"an executor of a loop": {program: `
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(None, ask, f"{i}") for i in range(8)))
asyncio.run(main())`},
	"loops in threads": {tasks: true, program: `
import asyncio, threading
async def work(i):
    await aask(f"{i}"); await asyncio.gather(*(aask(f"{i}.{j}") for j in range(3)))
ts = [threading.Thread(target=lambda i=i: asyncio.run(work(i))) for i in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]`},
	"anyio": {tasks: true, needs: "anyio", program: `
import anyio
async def work(i):
    for n in range(2): await aask(f"{i}.{n}")
async def main():
    async with anyio.create_task_group() as g:
        for i in range(6): g.start_soon(work, i)
anyio.run(main)`},
	"threads of anyio": {needs: "anyio", program: `
import anyio
def work(i):
    for n in range(2): ask(f"{i}.{n}")
async def main():
    async with anyio.create_task_group() as g:
        for i in range(6): g.start_soon(anyio.to_thread.run_sync, work, i)
anyio.run(main)`},
	"trio": {tasks: true, needs: "trio httpx", program: `
import trio
async def work(i):
    for n in range(2): await aask(f"{i}.{n}")
async def main():
    async with trio.open_nursery() as g:
        for i in range(6): g.start_soon(work, i)
trio.run(main)`},
	"threads of trio": {needs: "trio", program: `
import trio
async def main():
    async with trio.open_nursery() as g:
        for i in range(6): g.start_soon(trio.to_thread.run_sync, ask, f"{i}")
trio.run(main)`},
	"a pool of threads": {program: `
from multiprocessing.pool import ThreadPool
def work(i):
    for n in range(2): ask(f"{i}.{n}")
with ThreadPool(4) as pool: pool.map(work, range(8), 1); pool.starmap(lambda a, b: ask(f"{a}:{b}"), [(1, 2), (3, 4)]); list(pool.imap_unordered(work, range(10, 14)))
ask("last")`},
	"a pool of processes": {program: `
from multiprocessing import Pool
def work(i): ask(f"{i}"); ask(f"{i} again")
if __name__ == "__main__":
    with Pool(3) as pool:
        pool.map(work, range(7), 2); [r.get() for r in [pool.apply_async(work, (f"a{i}",)) for i in range(4)]]; list(pool.imap(work, "xyz"))`},
	"a pool of spawned processes": {program: `
import multiprocessing
def work(i): ask(f"{i}"); ask(f"{i} again")
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool: pool.map(work, range(4), 1)`},
	"an executor of processes": {program: `
from concurrent.futures import ProcessPoolExecutor
def work(i): ask(f"{i}"); ask(f"{i} again")
if __name__ == "__main__":
    with ProcessPoolExecutor(3) as pool: list(pool.map(work, range(7))); pool.submit(work, "one").result()
    ask("last")`},
	"processes": {program: `
import multiprocessing, os, subprocess, sys
def work(i): ask(f"process {i}"); ask(f"process {i} again")
if __name__ == "__main__":
    ask("first")
    children = []
    for i in range(3):
        if (pid := os.fork()) == 0: ask(f"fork {i}"); os._exit(0)
        children.append(pid)
    ps = [subprocess.Popen([sys.executable, "child.py", f"spawned {i}"]) for i in range(3)]
    ms = [multiprocessing.Process(target=work, args=(i,)) for i in range(3)]
    ms += [multiprocessing.get_context("spawn").Process(target=work, args=(i,)) for i in range(3, 5)]
    [m.start() for m in ms]; [os.waitpid(p, 0) for p in children]; [p.wait() for p in ps]; [m.join() for m in ms]`},
	"joblib": {needs: "joblib", program: `
from joblib import Parallel, delayed
def work(i): ask(f"{i}"); ask(f"{i} again")
if __name__ == "__main__":
    Parallel(n_jobs=3)(delayed(work)(i) for i in range(9)); ask("between")
    Parallel(n_jobs=3, backend="threading")(delayed(work)(f"t{i}") for i in range(9)); ask("last")`},
	"LangChain": {needs: "langchain_core", program: `
from langchain_core.runnables import RunnableLambda, RunnableParallel
one = RunnableLambda(lambda i: (ask(f"{i}"), ask(f"{i} again"))[0])
one.batch(list(range(8)))
RunnableParallel(a=RunnableLambda(lambda i: ask(f"a{i}")), b=RunnableLambda(lambda i: ask(f"b{i}"))).batch([1, 2, 3])`},
	"LangChain in tasks": {needs: "langchain_core", tasks: true, program: `
import asyncio
from langchain_core.runnables import RunnableLambda
async def two(i): await aask(f"{i}"); await aask(f"{i} again")
asyncio.run(RunnableLambda(two).abatch(list(range(8))))`},
	"workers on a queue": {bare: true, program: `
import queue, threading
jobs = queue.Queue()
def work():
    while (i := jobs.get()) is not None: ask(f"{i}")
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]; [jobs.put(i) for i in range(12)]; [jobs.put(None) for _ in ts]; [t.join() for t in ts]
ask("last")`},
	"another loop": {bare: true, tasks: true, needs: "uvloop", program: `
import asyncio, uvloop
async def main(): await asyncio.gather(*(aask(f"{i}") for i in range(6)))
uvloop.run(main())`},
}

// pythons are the interpreters of the machine that differ in how they start tasks, and the one
// with packages that .ci/clients installs.
func pythons() (all []string) {
	if packages := filepath.Join(os.Getenv("NOEMA_TEST_CLIENTS"), "executors", "bin", "python"); os.Getenv("NOEMA_TEST_CLIENTS") != "" {
		if _, err := os.Stat(packages); err == nil {
			all = append(all, packages)
		}
	}
	if newest, err := exec.LookPath("python3"); err == nil {
		all = append(all, newest)
	}
	home, _ := os.UserHomeDir() // "" finds none
	older, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.10.*/bin/python3"))
	return append(all, older...)
}

// TestPlacesDoNotDependOnChance: each call has one number, or none, whatever the order in which
// threads, tasks and processes ran, and no two calls have the same, in each way to ask.
func TestPlacesDoNotDependOnChance(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("python3 is not installed")
	}
	for _, python := range pythons() {
		for way, w := range ways {
			for name, f := range forms {
				t.Run(filepath.Base(filepath.Dir(filepath.Dir(python)))+"/"+way+"/"+name, func(t *testing.T) {
					if testing.Short() && way != "urllib" {
						t.Skip("a hundred programs, several times each")
					}
					if def := map[bool]string{false: "def ask", true: "async def aask"}[f.tasks]; !strings.Contains(w.head, def) {
						t.Skipf("%s does not ask so", way)
					}
					for _, needed := range strings.Fields(w.needs + " " + f.needs) {
						if exec.Command(python, "-c", "import "+needed).Run() != nil {
							t.Skipf("%s is not installed for %s: NOEMA_TEST_CLIENTS=DIR bash .ci/clients installs it", needed, python)
						}
					}
					t.Parallel()
					placesOf(t, python, w.head, f)
				})
			}
		}
	}
}

func placesOf(t *testing.T, python, head string, f form) {
	repeats := 5
	if testing.Short() {
		repeats = 2
	}
	h := &heard{}
	server := httptest.NewServer(h)
	defer server.Close()
	dir := t.TempDir()
	for path, text := range map[string]string{"main.py": head + f.program, "child.py": head + "import sys\nask(sys.argv[1])"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(filepath.Join(dir, "numbering")); err != nil {
		t.Fatal(err)
	}
	var first []string
	for range repeats {
		cmd := exec.Command(python, "main.py")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(dir, "numbering"), "NOEMA_URL="+server.URL, "PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		lines := h.take()
		if first == nil {
			first = lines
		}
		if !slices.Equal(lines, first) {
			t.Fatalf("numbers were\n%s\nand are\n%s", strings.Join(first, "\n"), strings.Join(lines, "\n"))
		}
	}
	seen, bare := map[string]bool{}, 0
	for _, line := range first {
		number, _, _ := strings.Cut(line, " ")
		if number == "" {
			bare++
		} else if seen[number] || !strings.HasPrefix(number, "0") {
			t.Errorf("number %q twice, or none, in\n%s", number, strings.Join(first, "\n"))
		}
		seen[number] = true
	}
	if f.bare != (bare > 0) || len(first) < 4 {
		t.Errorf("%d of %d calls have no number:\n%s", bare, len(first), strings.Join(first, "\n"))
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
