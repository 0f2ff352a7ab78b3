package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestExecute(t *testing.T) {
	c := start(t, "").client("a")
	file := write(t, "cell.txt", "print loaded")
	for _, x := range []struct{ code, reply, shown string }{
		{"value 2", "ok 1", "[execute_result 2]"},
		{"print a\nwarn b\nprint c", "ok 2", "abc"},
		{"form application/json {\"a\":1}", "ok 3", "[execute_result form]"},
		{"form application/json {", "ok 4", "[execute_result form]"},
		{"", "ok 5", ""},
		{"%who", "ok 6", "[display_data name  kind  type  cell\nlab   var   *Lab\nx     var   int   4\n]"},
		{"fail", "error 7", "[error cell 7, line 1: it failed]"},
		{"!echo there >&2", "ok 8", "there\n"},
		{"!exit 3", "error 9", "[error !exit 3: exit status 3]"},
		{"%greet all\nvalue 1", "ok 10", "hello all[execute_result 1]"},
		{"%run " + file, "ok 11", "loaded"},
		{"%load " + file, "ok 12", ""},
		{"%load nothere", "error 13", "[error %load: open nothere: no such file or directory]"},
		{"%time", "error 14", "[error %time: no code: write it after %time or below]"},
		{"%nothing", "error 15", "[error unknown command %nothing: see %help]"},
		{"known?", "ok 16", ""},
		{"other?", "error 17", "[error no documentation of \"other\"]"},
		{"%reset", "ok 18", ""},
		{"show p\nshow p\nshow", "ok 19", "[display_data shown][update_display_data shown][display_data shown]"},
		{"show p", "ok 20", "[display_data shown]"}, // what it showed is gone when a cell runs again
		{"clear wait", "ok 21", "[clear_output <nil>]"},
		{"print \xff\xfe", "ok 22", "\ufffd\ufffd"},
	} {
		reply, shown := c.run(x.code)
		got := fmt.Sprint(reply["status"], " ", reply["execution_count"])
		if shown = strings.ReplaceAll(shown, "\u00a0", " "); got != x.reply || trimmed(shown) != trimmed(x.shown) {
			t.Errorf("%q gives %s and %q, want %s and %q", x.code, got, shown, x.reply, x.shown)
		}
	}
}

// trimmed is a text without what its lines end with.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func TestPayloads(t *testing.T) {
	c := start(t, "").client("a")
	reply, _ := c.run("?known")
	if got := fmt.Sprint(reply["payload"]); !strings.Contains(got, "source:page") || !strings.Contains(got, "It is known.") || strings.Contains(got, "{}") {
		t.Errorf("?known has the payload %s", got)
	}
	reply, _ = c.run("known??")
	if got := fmt.Sprint(reply["payload"]); !strings.Contains(got, "func known() {}") {
		t.Errorf("known?? lacks the source: %s", got)
	}
	reply, _ = c.run("%load " + write(t, "a.go", "x := 1"))
	if got := fmt.Sprint(reply["payload"]); !strings.Contains(got, "source:set_next_input") || !strings.Contains(got, "x := 1") {
		t.Errorf("%%load has the payload %s", got)
	}
}

// TestPlacesOfFaults checks that a fault names the notebook's cell and the line
// as it was typed, whatever the session counts.
func TestPlacesOfFaults(t *testing.T) {
	c := start(t, "").client("a")
	c.run("print a", map[string]any{"user_expressions": map[string]string{"one": "value 1", "two": "value 2"}})
	c.run("%who")
	for i, code := range []string{"fail", "%who\n!true\nfail", "%time fail", "%%time\n\nfail\n"} {
		reply, _ := c.run(code)
		lines := strings.Split(code, "\n")
		at := 1
		for !strings.Contains(lines[at-1], "fail") {
			at++
		}
		want := fmt.Sprintf("cell %d, line %d: it failed", i+3, at)
		trace := fmt.Sprint(reply["traceback"])
		if reply["evalue"] != want || !strings.Contains(trace, fmt.Sprintf("---> %d | %s", at, lines[at-1])) {
			t.Errorf("%q fails with %q and\n%s\nwant %q", code, reply["evalue"], trace, want)
		}
		if !strings.Contains(trace, "hint: do not") || !strings.Contains(trace, "at cell 1, line 9, in g") {
			t.Errorf("%q lacks the hint or the calls:\n%s", code, trace)
		}
	}
}

func TestFlagsOfExecute(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	reply, published := c.request("execute_request", cellOf("print a\nvalue 1", map[string]any{"silent": true}))
	if reply["execution_count"] != 0.0 || len(published) != 0 {
		t.Errorf("a silent cell counts %v and publishes %v", reply["execution_count"], published)
	}
	reply, shown := c.run("value 1", map[string]any{"store_history": false})
	if reply["execution_count"] != 0.0 || shown != "[execute_result 1]" {
		t.Errorf("a cell that is not stored counts %v and shows %q", reply["execution_count"], shown)
	}
	reply, _ = c.run("print", map[string]any{"user_expressions": map[string]string{"good": "print no\nvalue 7", "bad": "fail"}})
	got := fmt.Sprint(reply["user_expressions"])
	if !strings.Contains(got, "text/plain:7") || !strings.Contains(got, "ename:panic") {
		t.Errorf("expressions give %s", got)
	}
	history, _ := c.request("history_request", map[string]any{"hist_access_type": "tail", "n": 10})
	if got := fmt.Sprint(history["history"]); got != "[[1 1 print]]" {
		t.Errorf("the history is %s", got)
	}
}

// TestStopOnError sends cells behind one that waits and is interrupted.
func TestStopOnError(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	for _, stop := range []bool{true, false} {
		first := c.shell.send("execute_request", cellOf("print begun\nwait", map[string]any{"stop_on_error": stop}))
		for c.iopub.next().kind != "execute_input" {
		}
		second := c.shell.send("execute_request", cellOf("value 2"))
		other := c.shell.send("is_complete_request", map[string]any{"code": "x"})
		r.settle(c.shell)
		c.control.send("interrupt_request", map[string]any{})
		if got := c.reply(first)["status"]; got != "error" {
			t.Errorf("the interrupted cell is %v", got)
		}
		want := map[bool]string{true: "aborted", false: "ok"}[stop]
		if got := c.reply(second)["status"]; got != want {
			t.Errorf("stop_on_error %v: the next cell is %v, want %s", stop, got, want)
		}
		if got := c.reply(other)["status"]; got != "complete" {
			t.Errorf("stop_on_error %v: another request is answered with %v", stop, got)
		}
		c.control.next()
	}
}

func TestControlWhileACellRuns(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	running := c.shell.send("execute_request", cellOf("wait"))
	for c.iopub.next().kind != "execute_input" {
	}
	c.control.send("kernel_info_request", map[string]any{})
	if m := c.control.next(); m.kind != "kernel_info_reply" || m.content["protocol_version"] != "5.4" {
		t.Errorf("control answers %v", m)
	}
	c.control.send("debug_request", map[string]any{})
	if m := c.control.next(); m.kind != "debug_reply" || m.content["success"] != false {
		t.Errorf("a debugger gets %v", m)
	}
	queued := c.control.send("execute_request", cellOf("value 4")) // which must not run beside the other
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if reply, _ := c.ran(running); reply["status"] != "error" || reply["ename"] != "interrupted" {
		t.Errorf("a SIGINT gives %v", reply)
	}
	if m := c.control.next(); m.parent != queued || m.kind != "execute_reply" {
		t.Errorf("the cell of the control channel gives %v", m)
	}
	if _, shown := c.run("value 5"); shown != "[execute_result 5]" {
		t.Errorf("the next cell shows %q", shown)
	}
}

func TestQuestions(t *testing.T) {
	r := start(t, "")
	a, b := r.client("a"), r.client("b")
	allowed := map[string]any{"allow_stdin": true}
	id := b.shell.send("execute_request", cellOf("ask name?", allowed))
	if m := b.stdin.next(); m.kind != "input_request" || m.content["prompt"] != "name?" || m.parent != id {
		t.Fatalf("the client is asked %v", m)
	}
	a.stdin.send("input_reply", map[string]any{"value": "of another client"})
	r.settle(a.stdin)
	b.stdin.send("input_reply", map[string]any{"value": "Ann"})
	if _, shown := b.ran(id); shown != "Ann|<nil>" {
		t.Errorf("the answer comes as %q", shown)
	}
	if _, shown := a.run("ask x"); !strings.Contains(shown, "does not allow input") {
		t.Errorf("without allow_stdin: %q", shown)
	}

	id = b.shell.send("execute_request", cellOf("ask first", allowed))
	b.stdin.next()
	b.control.send("interrupt_request", map[string]any{})
	b.ran(id)
	b.stdin.send("input_reply", map[string]any{"value": "late"})
	r.settle(b.stdin)
	id = b.shell.send("execute_request", cellOf("ask second", allowed))
	b.stdin.next()
	b.stdin.send("input_reply", map[string]any{"value": "right"})
	if _, shown := b.ran(id); shown != "right|<nil>" {
		t.Errorf("after an interrupt the answer is %q", shown)
	}

	id = b.shell.send("execute_request", cellOf("ask nobody", allowed))
	b.stdin.next()
	b.stdin.conn.Close()
	if _, shown := b.ran(id); !strings.Contains(shown, "has disconnected") {
		t.Errorf("when the client leaves: %q", shown)
	}
}

func TestRequests(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	for _, x := range []struct {
		kind, content string
		want          string // part of the reply as it prints
	}{
		{"kernel_info_request", "", "implementation:noema"},
		{"complete_request", "é.Pr|", "cursor_end:4 cursor_start:2 matches:[Print]"},
		{"complete_request", "é.Pr| and more", "cursor_end:4 cursor_start:2 matches:[Print]"},
		{"complete_request", "!é\nx.P|", "cursor_end:6 cursor_start:5 matches:[Print]"},
		{"complete_request", "%r|", "matches:[rerun reset run]"},
		{"complete_request", "%g|", "cursor_end:2 cursor_start:1 matches:[greet]"},
		{"complete_request", "%time a.P|", "cursor_start:8 matches:[Print]"},
		{"inspect_request", "!ls\nknown|", "found:true"},
		{"inspect_request", "other|", "found:false"},
		{"inspect_request", "%who|", "found:false"},
		{"is_complete_request", "f {", "indent:\t status:incomplete"},
		{"is_complete_request", "%who", "status:complete"},
		{"is_complete_request", "!ls {", "status:complete"},
		{"is_complete_request", "%who\nf {", "status:incomplete"},
		{"is_complete_request", "f?", "status:complete"},
		{"comm_info_request", "", "comms:map[]"},
	} {
		code, _, _ := strings.Cut(x.content, "|")
		cursor := len([]rune(code))
		reply, _ := c.request(x.kind, map[string]any{"code": strings.ReplaceAll(x.content, "|", ""), "cursor_pos": cursor})
		if got := fmt.Sprint(reply); !strings.Contains(got, x.want) {
			t.Errorf("%s of %q gives %s, want %q", x.kind, x.content, got, x.want)
		}
	}
	for _, cursor := range []int{-5, 99} {
		if reply, _ := c.request("complete_request", map[string]any{"code": "a.é", "cursor_pos": cursor}); reply["status"] != "ok" {
			t.Errorf("a cursor at %d gives %v", cursor, reply)
		}
	}
	c.shell.send("comm_open", map[string]any{"comm_id": "7"})
	for m := c.iopub.next(); m.kind != "comm_close"; m = c.iopub.next() {
	}
}

// TestBetweenCells prints between two cells, as a goroutine does that outlives its
// cell.
func TestBetweenCells(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	id := c.shell.send("execute_request", cellOf("print a"))
	c.finish(id)
	r.session.later.Stream("stdout", []byte("later"))
	if m := c.iopub.next(); m.kind != "stream" || m.content["text"] != "later" || m.parent != id {
		t.Errorf("what was printed later comes as %v", m)
	}
	r.stop()
	r.end()
	r.session.later.Stream("stdout", []byte("lost")) // and nothing happens
}

func TestEnds(t *testing.T) {
	t.Run("shutdown", func(t *testing.T) {
		for _, restart := range []bool{false, true} {
			r := start(t, "")
			c := r.client("a")
			c.shell.send("execute_request", cellOf("wait"))
			c.control.send("shutdown_request", map[string]any{"restart": restart})
			if m := c.control.next(); m.kind != "shutdown_reply" || m.content["restart"] != restart {
				t.Errorf("the reply is %v", m)
			}
			if err := r.end(); err != nil {
				t.Errorf("the kernel ends with %v", err)
			}
		}
	})
	t.Run("signal", func(t *testing.T) {
		r := start(t, "")
		r.client("a")
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := r.end(); err != nil {
			t.Errorf("the kernel ends with %v", err)
		}
	})
	t.Run("context", func(t *testing.T) {
		r := start(t, "")
		r.client("a")
		r.stop()
		if err := r.end(); !errors.Is(err, context.Canceled) {
			t.Errorf("the kernel ends with %v", err)
		}
	})
	t.Run("port in use", func(t *testing.T) {
		r := start(t, "")
		r.client("a")
		if err := Run(t.Context(), r.c, &scripted{}, Options{}); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second kernel on the same ports: %v", err)
		}
	})
}

// TestShellCommandEnds interrupts a command whose children must end with it.
func TestShellCommandEnds(t *testing.T) {
	c := start(t, "").client("a")
	pid := filepath.Join(t.TempDir(), "pid")
	id := c.shell.send("execute_request", cellOf("!sleep 1000 & echo $! > "+pid+"; wait"))
	var child int
	until(t, "the child", func() bool {
		raw, _ := os.ReadFile(pid)
		n, _ := fmt.Sscan(string(raw), &child)
		return n == 1
	})
	c.control.send("interrupt_request", map[string]any{})
	if reply, _ := c.ran(id); reply["status"] != "error" || !strings.HasSuffix(fmt.Sprint(reply["evalue"]), ": interrupted") {
		t.Errorf("the interrupted command gives %v", reply)
	}
	until(t, "the child's end", func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || strings.Contains(string(state), ") Z")
	})
}
