package jupyter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// executeRequest is the content of an execute_request.
type executeRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      *bool             `json:"allow_stdin"`
	StopOnError     *bool             `json:"stop_on_error"`
}

func isTrue(b *bool) bool { return b == nil || *b }

// execute runs a cell.
func (k *kernel) execute(ctx context.Context, m *message) {
	c := content[executeRequest](k, m)
	fault := cell.CheckText(c.Code) // a text that is refused is neither kept nor echoed
	store := isTrue(c.StoreHistory) && !c.Silent && fault == nil
	k.mu.Lock()
	if store {
		k.count++
	}
	count := k.count
	ctx, cancel := context.WithCancel(ctx)
	k.interrupt = cancel
	k.mu.Unlock()
	defer func() {
		cancel()
		k.mu.Lock()
		k.interrupt = nil
		k.mu.Unlock()
	}()
	if store {
		if err := k.history.Add(count, c.Code); err != nil { // no reason not to run it
			k.logf("%v", err)
		}
	}
	if !c.Silent && fault == nil {
		k.publish(m, "execute_input", map[string]any{"code": c.Code, "execution_count": count})
	}
	k.output.begin(m, c.Silent, isTrue(c.AllowStdin))
	if k.notice != "" && store {
		k.output.Stream("stderr", []byte(k.notice))
		k.notice = ""
	}
	before := k.session.Count()
	var value display.Bundle
	payload, err := []any{}, fault
	if err == nil {
		value, payload, err = k.runText(ctx, c.Code, count)
	}
	k.output.flush()
	now := span{before + 1, k.session.Count()}
	k.ranAs(m, store, now)
	if err != nil {
		k.failed(m, c, now, count, err)
		return
	}
	if len(value) > 0 && !c.Silent {
		k.publish(m, "execute_result", map[string]any{"execution_count": count, "data": dataOf(value), "metadata": map[string]any{}})
	}
	if !c.Silent {
		k.markStale(m, now, count)
	}
	k.reply(m, "execute_reply", map[string]any{
		"status": "ok", "execution_count": count, "payload": payload, "user_expressions": k.expressions(ctx, c.UserExpressions, count),
	})
}

// runText runs a cell's text: Go, commands, or name? for the pager.
func (k *kernel) runText(ctx context.Context, text string, count int) (display.Bundle, []any, error) {
	payload := []any{}
	if name, ok := asked(text); ok {
		d, found := k.session.Inspect(name, len(name))
		if !found {
			return nil, payload, fmt.Errorf("no documentation of %q", name)
		}
		page := map[string]any{"source": "page", "start": 0, "data": map[string]any{"text/plain": docText(d, strings.Count(text, "?")-1)}}
		return nil, append(payload, page), nil
	}
	commands, rest := splitCommands(text)
	for _, c := range commands {
		load, err := k.command(ctx, c, count)
		if err != nil {
			return nil, payload, err
		}
		if load != "" {
			payload = append(payload, map[string]any{"source": "set_next_input", "text": load, "replace": true})
		}
	}
	if rest == "" {
		return nil, payload, nil
	}
	value, err := k.run(ctx, rest, k.output, count)
	return value, payload, err
}

// run runs Go under a number of the notebook.
func (k *kernel) run(ctx context.Context, text string, out cell.Output, count int) (value display.Bundle, err error) {
	journal := k.o.Journal
	if _, unseen := out.(quiet); unseen {
		journal = nil
	}
	err = k.numbers.run(k.session, count, func() error {
		return journal.Run(count, text, func() error {
			result, err := k.session.Run(ctx, text, out)
			if result != nil {
				value = result.Value
			}
			return err
		})
	})
	return value, err
}

// asked is the name in a text such as "fmt.Println?".
func asked(text string) (string, bool) {
	text = strings.TrimSpace(text)
	name := strings.TrimRight(text, "?")
	if name == text || strings.ContainsAny(name, " \n\t(){};") {
		name = strings.TrimLeft(text, "?")
		if name == text || strings.ContainsAny(name, " \n\t(){};") {
			return "", false
		}
	}
	return name, name != ""
}

// dataOf is a bundle as the protocol has it: images in base64, JSON as it is. A
// form that is no JSON though it should be is left out, not sent as something
// else.
func dataOf(b display.Bundle) map[string]any {
	data := map[string]any{}
	for mime, raw := range b {
		switch {
		case mime == display.PNG || mime == display.JPEG:
			data[mime] = base64.StdEncoding.EncodeToString(raw)
		case mime == display.JSON || strings.HasSuffix(mime, "+json"):
			if json.Valid(raw) {
				data[mime] = json.RawMessage(raw)
			}
		default:
			data[mime] = string(raw)
		}
	}
	return data
}

// expressions evaluates the user expressions of a request.
func (k *kernel) expressions(ctx context.Context, all map[string]string, count int) map[string]any {
	out := map[string]any{}
	for name, text := range all {
		value, err := k.run(ctx, text, quiet{}, count)
		k.session.Forget(k.session.Count())
		if err != nil {
			kind, message := faultOf(err)
			out[name] = map[string]any{"status": "error", "ename": kind, "evalue": message, "traceback": []string{message}}
			continue
		}
		out[name] = map[string]any{"status": "ok", "data": dataOf(value), "metadata": map[string]any{}}
	}
	return out
}

// quiet is an output that discards everything.
type quiet struct{}

func (quiet) Stream(string, []byte)       {}
func (quiet) Show(string, display.Bundle) {}
func (quiet) Clear(bool)                  {}
func (quiet) Input(context.Context, string, bool) (string, error) {
	return "", errors.New("read input: a user expression cannot ask")
}

// faultOf is the kind and first message of an error.
func faultOf(err error) (kind, message string) {
	if e, ok := errors.AsType[*cell.Error](err); ok && len(e.Faults) > 0 {
		return e.Kind, e.Faults[0].String()
	}
	return "error", err.Error()
}

// failed reports a cell's error and aborts the queued cells.
func (k *kernel) failed(m *message, c executeRequest, now span, count int, err error) {
	kind, message := faultOf(err)
	trace := traceback(err, c.Code, count)
	if !c.Silent {
		k.publish(m, "error", map[string]any{"ename": kind, "evalue": message, "traceback": trace})
		k.markStale(m, now, count)
	}
	k.reply(m, "execute_reply", map[string]any{
		"status": "error", "execution_count": count, "ename": kind, "evalue": message, "traceback": trace, "payload": []any{},
	})
	if isTrue(c.StopOnError) {
		k.abortQueued()
	}
}

// abortQueued aborts the executions that are queued.
func (k *kernel) abortQueued() {
	for range len(k.requests) {
		m := <-k.requests
		if m.header.Type != "execute_request" {
			k.handle(context.Background(), m)
			continue
		}
		k.status("busy", m)
		k.reply(m, "execute_reply", map[string]any{"status": "aborted"})
		k.status("idle", m)
	}
}

const (
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

// traceback describes an error: each fault with its line, and the stack.
func traceback(err error, text string, count int) []string {
	var e *cell.Error
	if !errors.As(err, &e) {
		return []string{red + err.Error() + plain}
	}
	lines := strings.Split(text, "\n")
	var out []string
	for i, f := range e.Faults {
		if i == 10 {
			out = append(out, fmt.Sprintf("… and %d more", len(e.Faults)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s%s%s: %s", red, e.Kind, plain, f))
		if f.Line > 0 && f.Line <= len(lines) && f.Source == fmt.Sprintf("cell %d", count) {
			out = append(out, marked(lines, f)...)
		}
		if f.Hint != "" {
			out = append(out, "hint: "+f.Hint)
		}
	}
	for i, frame := range e.Trace {
		if i > 0 {
			out = append(out, "  at "+frame)
		}
	}
	return out
}

// marked is the line of a fault with the lines before and after it.
func marked(lines []string, f cell.Fault) (out []string) {
	for n := max(1, f.Line-1); n <= min(len(lines), f.Line+1); n++ {
		line := []rune(lines[n-1])
		text := string(line[:min(len(line), 200)])
		if n != f.Line {
			out = append(out, fmt.Sprintf("     %d | %s", n, text))
			continue
		}
		out = append(out, fmt.Sprintf("%s---> %d | %s%s", bold, n, text, plain))
	}
	return out
}
