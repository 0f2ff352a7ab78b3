package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/result/record"
)

// asking is the head of a program in Python without any library: ask(text) asks its model.
const asking = `
import json, os, sys, urllib.request
question = sys.stdin.read()
def post(path, body, **headers):
    req = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    return json.load(urllib.request.urlopen(req))
def ask(text, **more):
    return post("/chat/completions", {"model": "gpt-x", "messages": [{"role": "user", "content": text}], **more})["choices"][0]["message"]["content"]
`

// needPython skips a test where there is no Python.
func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
}

// TestProgram: a program that knows nothing of noema is compared, asked again at no cost,
// replayed and killed in its middle, and each time its root is the same.
func TestProgram(t *testing.T) {
	t.Parallel()
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(16))
	c.write("agent/agent.py", asking+`
import uuid
first = ask(question, unknown_field={"a": [1, 2]}, metadata={"id": str(uuid.uuid4())})
print("considering", first)
print("Answer:", ask(question + " You said " + first + " in " + os.getcwd() + " as " + str(uuid.uuid4())))
`)
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct,exec:python3 agent/agent.py", "--max-samples", "16"}
	first := c.run(0, args...)
	want(t, first.stdout, "agent ", "16 answered")
	for _, a := range server.Asks() {
		if body := fmt.Sprint(a.Body); strings.Contains(body, "considering") || strings.Contains(body, "noema-plugins") {
			t.Errorf("a request names a temporary folder: %s", body)
		}
	}
	if !strings.Contains(fmt.Sprint(server.Asks()), "unknown_field:map[a:[1 2]]") {
		t.Error("a field that nobody knows did not reach the provider")
	}
	before := server.Requests()
	again := c.run(0, args...)
	replayed := c.run(0, "replay", "last")
	fresh := c.at(filepath.Join(c.dir, "fresh")).run(0, args...) // another store: the provider is asked again, and says the same
	for name, r := range map[string]result{"again": again, "fresh": fresh} {
		if rootOf(r.stdout) != rootOf(first.stdout) {
			t.Errorf("%s: root %s, want %s", name, rootOf(r.stdout), rootOf(first.stdout))
		}
	}
	want(t, replayed.stdout, rootOf(first.stdout))
	if n := server.Requests() - before; n != before {
		t.Errorf("%d requests after the first run, of which only the fresh store may make %d", n, before)
	}
}

// hostilePrograms are programs that try what they must not, or never end as they should, with a word
// of what is told and how often an answer counts.
var hostilePrograms = map[string]struct {
	program string
	told    string
}{
	"another host": {`
import socket
for host in ("1.1.1.1", "192.0.2.1", "169.254.169.254"):
    try:
        socket.create_connection((host, 80), 3)
        print("Answer: reached")
    except OSError as e:
        print("denied", e)
print("Answer: yes" if ask(question) else "")`, "2 answered"},
	"a look-up of a name": {`
import socket
try:
    print("Answer:", socket.gethostbyname("example.com"))
except OSError:
    print("Answer: yes")`, "without a call"},
	"another family of sockets": {`
import socket
for family, kind in ((40, socket.SOCK_STREAM), (17, socket.SOCK_RAW), (socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_STREAM), (38, socket.SOCK_SEQPACKET)):
    try:
        socket.socket(family, kind)
        raise SystemExit(f"opened {family}")
    except OSError:
        pass
print("Answer: yes")`, "2 answered"},
	"files of others": {`
for path in ("/etc/shadow", "/root", os.path.expanduser("~/../../../.."), os.environ.get("NOEMA_HOME", "/nowhere")):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path)
        if not path.startswith("/nowhere") and os.stat(path).st_uid == 0 and path != os.path.expanduser("~/../../../.."):
            print("read", path); sys.exit(1)
    except OSError:
        pass
print("Answer: yes")`, "2 answered"},
	"a gigabyte of output": {`
try:
    for _ in range(1 << 20): sys.stdout.write("x" * 1024)
except OSError:
    pass
print("Answer: yes")`, "it printed more than 16 MiB"},
	"a child that stays": {`
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time
            time.sleep(3600)
        os._exit(0)
print("Answer: yes")`, "2 answered"},
	"no answer":      {`ask(question)`, "2 unparsed"},
	"two answers":    {`print("Answer: no"); print("Answer: yes")`, "2 answered"},
	"an exit code":   {`print("Answer: yes"); sys.exit(3)`, "exit status 3"},
	"a crash":        {`raise RuntimeError("out of luck")`, "out of luck"},
	"a huge request": {`ask("x" * (100 << 20))`, "413"},
	"loops on errors": {`
for _ in range(100):
    try: post("/chat/completions", {"messages": 7})
    except Exception as e: last = e
print("Answer: yes")`, "2 answered"},
	"signals to the threads of noema": {`
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
parent = lambda pid: int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
noema, open_to = parent(os.getppid()), []
for tid in [int(t) for t in os.listdir(f"/proc/{noema}/task")]:
    fd = os.open(f"/proc/{tid}", os.O_RDONLY | os.O_DIRECTORY)
    for number, args in ((424, (fd, 9, None, 0)), (62, (tid, 9)), (200, (tid, 9)), (234, (noema, tid, 9)), (129, (tid, 9, None)), (297, (noema, tid, 9, None))):
        if libc.syscall(number, *args) == 0: open_to.append(number)
print("open", open_to)
print("Answer: yes" if ask(question) and not open_to else "")`, "2 answered"},
	"what cannot be read": {`
import http.client
h = http.client.HTTPConnection(os.environ["NOEMA_URL"].split("//")[1])
for raw in (b"", b"[", b'{"messages":' + b"[" * 100000, b'{"messages":{}}', b"\xff\xfe", b'{"messages":[{"role":"user","content":[{"type":7}]}]}'):
    h.request("POST", "/v1/chat/completions", raw); r = h.getresponse(); r.read()
    if r.status != 400: print(r.status, raw[:20]); sys.exit(1)
print("Answer: yes")`, "2 answered"},
}

// TestHostilePrograms: each is denied what it tries, and its trial ends with what it is to
// blame for; no other trial and no process is left behind.
func TestHostilePrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("fifteen runs")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	for name, h := range hostilePrograms {
		t.Run(name, func(t *testing.T) {
			c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
			c.write("quiz.jsonl", quiz(2))
			c.write("p/hostile.py", asking+h.program)
			cmd := c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/hostile.py", "--max-samples", "2")
			r := c.start(cmd)()
			want(t, r.stdout+r.stderr, h.told)
			if strings.Contains(r.stdout, "reached") {
				t.Error("another host was reached")
			}
		})
	}
}

// TestLimitsOfAProgram: a limit of the trial binds the program: at most one call goes over it,
// the client is told so that it does not ask again, and the trial ends for that reason.
func TestLimitsOfAProgram(t *testing.T) {
	t.Parallel()
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(2))
	c.write("p/greedy.py", asking+`
for i in range(50):
    ask(question + str(i))
print("Answer: yes")`)
	r := c.start(c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/greedy.py", "--call-limit", "5"))()
	want(t, r.stdout, "2 budget")
	for _, trial := range c.trials() {
		refused := 0
		for _, call := range trial.Calls {
			if call.Fault == record.BudgetFault {
				refused++
			}
		}
		if len(trial.Calls)-refused != 5 || refused != 1 {
			t.Errorf("%d calls were answered and %d refused, want 5 and 1", len(trial.Calls)-refused, refused)
		}
	}
}

// TestAProgramThatRepeatsForEver: published code repeats a refused request without end. Its trial
// ends all the same, for the cause of the refusal; one that asks something else goes on.
func TestAProgramThatRepeatsForEver(t *testing.T) {
	t.Parallel()
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes, Refuse: func(a providertest.Ask) string {
		if strings.HasSuffix(a.Prompt, "0") || strings.HasSuffix(a.Prompt, "1") {
			return ""
		}
		return "not today"
	}})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(1))
	c.write("p/stubborn.py", asking+`
i = 0
while True:
    try: ask(question + str(i)); i += 1
    except Exception: pass`)
	c.write("q/modest.py", asking+`
import threading
def tries(text):
    try: ask(text)
    except Exception: pass
for i in range(9): tries(question + str(i))
ts = [threading.Thread(target=tries, args=(question,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print("Answer: yes")`)
	r := c.start(c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/stubborn.py,exec:python3 q/modest.py"))()
	want(t, r.stdout+r.stderr, "not today", "1 answered")
	for _, trial := range c.trials() {
		if name := trial.ID.Method; strings.Contains(name, "stubborn") && (len(trial.Calls) != 6 || !strings.Contains(trial.Failure, "it sent a refused request 4 times")) {
			t.Errorf("%s made %d calls, want 2 and 4 that were refused: %s", name, len(trial.Calls), trial.Failure)
		}
	}
}

// TestWordsAreTheProgramsOwn: what a program writes arrives as it wrote it, and what its model says
// comes back as it was said, whatever words of ours are in it; its folder has one name everywhere.
func TestWordsAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	needPython(t)
	const asked = "item_category, run_experiment, thread_priority, msg_received, def call_function(x): call_abcdefgh12345678 /tmp/noema work trial"
	const said = "Answer: a network trial in tmp, at work, by call_function and item_category, noema-id-1, noise-1, id-1"
	server := providertest.New(providertest.Config{Answer: func(providertest.Ask) providertest.Answer { return providertest.Answer{Text: said} }})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("say.jsonl", `{"id": "a", "input": "Say one thing.", "target": "yes"}`+"\n")
	c.write("p/words.py", asking+`
answer = ask("`+asked+`", tools=[{"type": "function", "function": {"name": "run_experiment", "parameters": {"type": "object", "properties": {"item_id": {"type": "string"}}}}}])
print(ask("I am in " + os.getcwd()) and answer + " in " + os.getcwd())`)
	args := []string{"compare", "--task", "say.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/words.py"}
	first := c.run(0, args...)
	other := c.at(filepath.Join(c.dir, "other")).run(0, args...)
	want(t, c.run(0, "replay", "last").stdout, rootOf(first.stdout))
	if rootOf(first.stdout) != rootOf(other.stdout) {
		t.Errorf("roots %s and %s", rootOf(first.stdout), rootOf(other.stdout))
	}
	bodies := fmt.Sprint(server.Asks())
	want(t, bodies, asked, "name:run_experiment", "item_id:map[type:string]", "I am in /tmp/noema-program-world-8f2c1d7e5ab94c06/work")
	for _, trial := range c.trials() {
		if answer := string(trial.Answer.Value); answer != `"`+strings.TrimPrefix(said, "Answer: ")+` in /tmp/noema-program-world-8f2c1d7e5ab94c06/work"` {
			t.Errorf("the answer is %s", answer)
		}
	}
}

// TestALimitEndsAProgram: whatever a program makes of a refusal, and however its threads run, its
// trial is over budget, and every later execution has the first one's root.
func TestALimitEndsAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("a dozen runs")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	t.Cleanup(server.Close)
	for name, program := range map[string]string{
		"goes on": `
for i in range(6):
    try: ask(question + str(i))
    except Exception as e: print(e)
print("Answer: yes")`,
		"tells our words": `
try:
    for i in range(6): last = ask(question + str(i))
except Exception as e: last = e.read().decode()
print("Answer:", last)`,
		"threads": `
import threading
last = ask(question)
ts = [threading.Thread(target=ask, args=(question + " again",)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print("Answer: yes")`,
		"threads without a number": `
import queue, threading
jobs = queue.Queue()
def work():
    jobs.get(); ask(question + " again"); ask(question + " and again")
ts = [threading.Thread(target=work) for i in range(8)]
[t.start() for t in ts]; ask(question); [jobs.put(i) for i in range(8)]; [t.join() for t in ts]
print("Answer: yes")`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
			c.write("quiz.jsonl", quiz(6))
			c.write("p/greedy.py", asking+program)
			args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/greedy.py", "--call-limit", "3"}
			first := c.start(c.command(args...))()
			want(t, first.stdout, "6 budget")
			for _, trial := range c.trials() {
				if len(trial.Calls) != 4 {
					t.Errorf("%s has %d calls, want 3 and one that was refused", trial.ID, len(trial.Calls))
				}
			}
			for range 4 {
				replayed := c.start(c.command("replay", "last"))()
				want(t, replayed.stdout, rootOf(first.stdout))
			}
		})
	}
}

// TestWhatAProgramExpects: the name of its model comes back as it was, whoever answered; its own
// PYTHONPATH adds to what noema sets; and the line that says why it failed comes first.
func TestWhatAProgramExpects(t *testing.T) {
	t.Parallel()
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(1))
	c.write("p/plugin.yaml", "command: [python3, one.py]\nanswer: last-line\nenv: {PYTHONPATH: lib}\n")
	c.write("p/lib/mine.py", "name = 'gpt-x'\n")
	c.write("p/one.py", asking+`
import mine, sitecustomize
sent = {"model": mine.name, "messages": [{"role": "user", "content": question}]}
got = post("/chat/completions", sent)["model"]
print("Answer:", "yes" if got == mine.name and "numbering" in sitecustomize.__file__ else got)`)
	c.write("q/fails.py", "import sys\nprint('x' * 500, file=sys.stderr)\nraise KeyError('text')\n")
	r := c.start(c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "./p,exec:python3 q/fails.py"))()
	want(t, r.stdout, "1 answered", "exit status 1: KeyError: 'text'")
	for _, trial := range c.trials() {
		if trial.ID.Method == "p" && string(trial.Answer.Value) != `"yes"` {
			t.Errorf("the program found %s", trial.Answer.Value)
		}
	}
}

// staying is the start of a program that leaves a child behind, in a session of its own, which
// would outlive everything but a kill.
const staying = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for f in range(3): os.close(f)
        import time
        time.sleep(3600)
    os._exit(0)
os.wait()
`

// TestKillAProgram: the kernel is killed while programs run, which leaves no process of theirs;
// the same command goes on, pays no kept call again, and has the root of a run that nobody disturbed.
func TestKillAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("two whole runs")
	}
	needPython(t)
	k := newKilling()
	server := providertest.New(providertest.Config{Answer: k.held(yes), Arrived: k.arrived})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(12))
	c.write("p/agent.py", asking+staying+`
a = ask(question)
print("Answer:", ask(question + a))`)
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "exec:python3 p/agent.py", "--max-samples", "4"}
	undisturbed := c.at(filepath.Join(c.dir, "undisturbed")).run(0, args...)
	k.killed(c, server, args, 8, 4)
	if resumed := c.run(0, args...); rootOf(resumed.stdout) != rootOf(undisturbed.stdout) {
		t.Errorf("resumed root %s, undisturbed %s", rootOf(resumed.stdout), rootOf(undisturbed.stdout))
	}
	k.paid(t, server)
}

// TestHostileProgramForAnOrdinaryUser: what is denied to programs of root is denied to those of
// a user who may make a user namespace, by the same way.
func TestHostileProgramForAnOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("it copies the program")
	}
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user: TestHostilePrograms is that test")
	}
	const nobody, python = 65534, "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Skip("no Python that every user can read")
	}
	dir, err := os.MkdirTemp("/tmp", "noema-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := &cli{t: t, dir: dir, home: filepath.Join(dir, "home")}
	c.write("p/attack.py", `
import os, socket, sys, urllib.request
def denied(attempt):
    try: attempt()
    except OSError: return True
print("Answer:", " ".join(name for name, attempt in {
    "tcp": lambda: socket.create_connection(("192.0.2.1", 80), 3), "unix": lambda: socket.socket(socket.AF_UNIX),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
    "vsock": lambda: socket.socket(40, socket.SOCK_STREAM), "files": lambda: os.listdir("`+dir+`/secret"),
    "endpoint": lambda: urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models"),
}.items() if not denied(attempt)))`)
	c.write("secret/key", "secret")
	binary, err := exec.LookPath("noema")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "noema"), raw, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chown", "-R", fmt.Sprint(nobody), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := c.command("exec", "--model", "sim", "--", python, "p/attack.py")
	cmd.Path, cmd.Args[0] = filepath.Join(dir, "noema"), "noema"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	r := c.start(cmd)()
	want(t, r.stdout, "attack · answered", "\nendpoint\n")
	if t.Failed() {
		t.Log(r.stderr)
	}
}
