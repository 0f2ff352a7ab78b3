package jupyter

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"unicode/utf8"

	"noema/kernel/session/cell"
)

// handle serves one request of the shell or the control channel.
func (k *kernel) handle(ctx context.Context, m *message) {
	k.status("busy", m)
	defer func() {
		k.output.flush()
		k.status("idle", m)
		if m.header.Type == "shutdown_request" {
			k.end()
		}
	}()
	serve, ok := map[string]func(context.Context, *message){
		"execute_request":     k.execute,
		"kernel_info_request": k.info,
		"complete_request":    k.complete,
		"inspect_request":     k.inspect,
		"is_complete_request": k.isComplete,
		"history_request":     k.historyOf,
		"comm_info_request":   k.commInfo,
		"shutdown_request":    k.shutdown,
		"interrupt_request":   k.interrupted,
		"comm_open":           k.commOpen,
		"debug_request":       k.debug,
	}[m.header.Type]
	if !ok {
		k.logf("unknown request %q", m.header.Type)
		return
	}
	serve(ctx, m)
}

// content reads a request's content, which is empty if it cannot be read.
func content[T any](k *kernel, m *message) (c T) {
	if err := json.Unmarshal(m.content, &c); err != nil {
		k.logf("read %s: %v", m.header.Type, err)
	}
	return c
}

func (k *kernel) info(_ context.Context, m *message) {
	k.reply(m, "kernel_info_reply", map[string]any{
		"status": "ok", "protocol_version": protocolVersion,
		"implementation": "noema", "implementation_version": k.o.Version,
		"language_info": map[string]any{
			"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go",
			"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
		},
		"banner":             "noema " + k.o.Version + ": cells of Go, and the workbench as lab",
		"help_links":         []any{},
		"supported_features": []string{"iopub_welcome"},
	})
}

// byteOffset turns a cursor in code points into one in bytes.
func byteOffset(text string, cursor int) int {
	at := 0
	for ; cursor > 0 && at < len(text); cursor-- {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at
}

func runeOffset(text string, at int) int { return utf8.RuneCountInString(text[:min(at, len(text))]) }

type cursorRequest struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor_pos"`
	Detail int    `json:"detail_level"`
}

func (k *kernel) complete(_ context.Context, m *message) {
	c := content[cursorRequest](k, m)
	found := k.completions(c.Code, byteOffset(c.Code, c.Cursor))
	matches, kinds := []string{}, []any{}
	start, end := runeOffset(c.Code, found.Start), runeOffset(c.Code, found.End)
	for _, i := range found.Items {
		matches = append(matches, i.Text)
		kinds = append(kinds, map[string]any{"start": start, "end": end, "text": i.Text, "type": i.Kind, "signature": i.Detail})
	}
	k.reply(m, "complete_reply", map[string]any{
		"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": end,
		"metadata": map[string]any{"_jupyter_types_experimental": kinds},
	})
}

// completions completes Go or the name of a command.
func (k *kernel) completions(text string, cursor int) cell.Completions {
	line := text[strings.LastIndexByte(text[:cursor], '\n')+1 : cursor]
	if name := strings.TrimLeft(line, "%:"); name != line && !strings.ContainsAny(name, " \t") && goOf(text[:cursor]) == "" {
		found := cell.Completions{Start: cursor - len(name), End: cursor}
		for _, command := range k.commandNames() {
			if strings.HasPrefix(command, name) {
				found.Items = append(found.Items, cell.Completion{Text: command, Kind: "keyword", Detail: "a command: see %help"})
			}
		}
		return found
	}
	if code := goOf(text); code != "" {
		text = code
	}
	return k.session.Complete(text, cursor)
}

// goOf is the Go code of a cell, in its place: without commands, but with the code
// of %time.
func goOf(text string) string {
	commands, rest := splitCommands(text)
	if rest == "" && len(commands) > 0 && commands[len(commands)-1].Name == "time" {
		return commands[len(commands)-1].Args
	}
	return rest
}

// docText is the documentation of a name as text.
func docText(d cell.Doc, detail int) string {
	text := d.Signature
	if d.Comment != "" {
		text += "\n\n" + strings.TrimSpace(d.Comment)
	}
	if d.Source != "" && (detail > 0 || d.Signature == "") {
		text += "\n\n" + d.Source
	}
	return text
}

func (k *kernel) inspect(_ context.Context, m *message) {
	c := content[cursorRequest](k, m)
	d, ok := cell.Doc{}, false
	if code := goOf(c.Code); code != "" {
		d, ok = k.session.Inspect(code, min(byteOffset(c.Code, c.Cursor), len(code)))
	}
	data := map[string]any{}
	if ok {
		data["text/plain"] = docText(d, c.Detail)
	}
	k.reply(m, "inspect_reply", map[string]any{"status": "ok", "found": ok, "data": data, "metadata": map[string]any{}})
}

func (k *kernel) isComplete(_ context.Context, m *message) {
	c := content[cursorRequest](k, m)
	is := cell.Completeness{Status: "complete"} // as commands are
	code := goOf(c.Code)
	if _, page := asked(c.Code); !page && (code != "" || strings.TrimSpace(c.Code) == "") {
		is = k.session.IsComplete(code)
	}
	reply := map[string]any{"status": is.Status}
	if is.Status == "incomplete" {
		reply["indent"] = is.Indent
	}
	k.reply(m, "is_complete_reply", reply)
}

func (k *kernel) commInfo(_ context.Context, m *message) {
	k.reply(m, "comm_info_reply", map[string]any{"status": "ok", "comms": map[string]any{}})
}

// commOpen closes the comm, which is how the protocol refuses it.
func (k *kernel) commOpen(_ context.Context, m *message) {
	c := content[struct {
		ID string `json:"comm_id"`
	}](k, m)
	k.publish(m, "comm_close", map[string]any{"comm_id": c.ID, "data": map[string]any{}})
}

func (k *kernel) debug(_ context.Context, m *message) {
	k.reply(m, "debug_reply", map[string]any{"success": false, "message": "noema has no debugger for cells"})
}

func (k *kernel) shutdown(_ context.Context, m *message) {
	c := content[struct {
		Restart bool `json:"restart"`
	}](k, m)
	k.reply(m, "shutdown_reply", map[string]any{"status": "ok", "restart": c.Restart})
	k.publish(m, "shutdown_reply", map[string]any{"status": "ok", "restart": c.Restart})
}

func (k *kernel) interrupted(_ context.Context, m *message) {
	k.interruptCell()
	k.reply(m, "interrupt_reply", map[string]any{"status": "ok"})
}
