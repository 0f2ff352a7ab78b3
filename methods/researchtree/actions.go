package researchtree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// action is what the model chooses in a turn.
type action struct {
	Thought string    `json:"thought"`
	Tool    string    `json:"tool"`
	Args    arguments `json:"args"`
}

// arguments are those of all actions.
type arguments struct {
	Query     string          `json:"query,omitempty"`
	URL       string          `json:"url,omitempty"`
	ResultID  string          `json:"result_id,omitempty"`
	Section   string          `json:"section,omitempty"`
	Parent    string          `json:"parent,omitempty"`
	Topic     string          `json:"topic,omitempty"`
	Content   string          `json:"content,omitempty"`
	SourceURL string          `json:"source_url,omitempty"`
	Links     []string        `json:"links,omitempty"`
	Add       []string        `json:"add,omitempty"`
	Complete  []int           `json:"complete,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Evidence  []string        `json:"evidence,omitempty"`
}

// tools are the names of all actions.
func tools() []string {
	return []string{"search", "inspect", "read_section", "add_to_memory", "manage_tasks", "answer"}
}

// written is an action as the history shows it.
func (a action) written() string {
	raw, err := json.Marshal(a.Args)
	if err != nil {
		return a.Tool
	}
	return a.Tool + string(raw)
}

// schema is the JSON Schema of an action.
const schema = `{"type":"object","properties":{"thought":{"type":"string"},"tool":{"type":"string","enum":["search","inspect","read_section","add_to_memory","manage_tasks","answer"]},"args":{"type":"object"}},"required":["tool","args"]}`

// choose asks for the next action. A reply that is no action is asked for again;
// one that cannot be carried out is an observation instead, and costs a step.
func (t *solver) choose(ctx context.Context, n int) (action, error) {
	prompt := turnPrompt(t.Query, t.form(), t.tree.View(t.opts.TreeView), t.taskList(), t.history())
	req := t.Request(fmt.Sprintf("turn/%d", n), methods.Ask(prompt)...)
	req.Schema = &methods.Schema{Name: "action", JSON: json.RawMessage(schema)}
	var act action
	check := func(raw json.RawMessage) error {
		act = action{}
		if err := json.Unmarshal(raw, &act); err != nil {
			return err
		}
		if !slices.Contains(tools(), act.Tool) {
			return fmt.Errorf("there is no tool %q; there are %s", act.Tool, strings.Join(tools(), ", "))
		}
		return nil
	}
	_, _, err := reply.JSON(ctx, t.Host, req, check, reply.Options{Retries: t.opts.Retries})
	return act, err
}

// do carries an action out and says what is observed.
func (t *solver) do(ctx context.Context, act action, n int) (string, error) {
	if k := len(t.past); k > 0 && t.past[k-1].action == act.written() {
		t.emit(n, methods.Dropped, "the same action again: %s", act.written())
		return "refused: this is the action before again; choose another", nil
	}
	switch act.Tool {
	case "add_to_memory":
		return t.remember(act.Args), nil
	case "manage_tasks":
		return t.manage(act.Args), nil
	}
	address := t.address(act.Args)
	if act.Tool == "read_section" && !t.inspected[key(address)] {
		return "refused: inspect the article first, then read one of its sections", nil
	}
	return t.call(ctx, act, address, n)
}

// address is the article that an action means: a result of the last search, or
// an address or title.
func (t *solver) address(a arguments) string {
	for _, id := range []string{a.ResultID, a.URL} {
		if url, ok := t.hits[id]; ok {
			return url
		}
	}
	return a.URL
}

// key is an address without the spelling that makes no difference.
func key(address string) string {
	if i := strings.LastIndex(address, "wiki/"); i >= 0 {
		address = address[i+len("wiki/"):]
	}
	return strings.ToLower(strings.ReplaceAll(address, "_", " "))
}

// call runs one of the problem's tools.
func (t *solver) call(ctx context.Context, act action, address string, n int) (string, error) {
	args := map[string]string{"query": act.Args.Query}
	if act.Tool != "search" {
		args = map[string]string{"url": address}
	}
	if act.Tool == "read_section" {
		args["section"] = act.Args.Section
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: act.Tool, Arguments: raw, Path: fmt.Sprintf("turn/%d/%s", n, act.Tool)})
	if err != nil {
		return "", err
	}
	if result.IsError {
		return "error: " + result.Content, nil
	}
	return t.understand(act.Tool, address, result.Content), nil
}

// understand turns a tool's result into an observation, and notes what it opens.
func (t *solver) understand(tool, address, content string) string {
	switch tool {
	case "search":
		var found struct {
			Results []struct{ Title, URL, Snippet string }
		}
		if json.Unmarshal([]byte(content), &found) != nil {
			return content
		}
		t.hits = map[string]string{}
		var lines []string
		for i, r := range found.Results {
			id := fmt.Sprintf("r%d", i+1)
			t.hits[id] = r.URL
			lines = append(lines, fmt.Sprintf("%s %s (%s): %s", id, r.Title, r.URL, reply.OneLine(r.Snippet, 160)))
		}
		if len(lines) == 0 {
			return "nothing found"
		}
		return strings.Join(lines, "\n")
	case "inspect":
		var page struct {
			Title, URL, Lead string
			Sections         []string
			Disambiguation   bool
		}
		if json.Unmarshal([]byte(content), &page) != nil {
			return content
		}
		for _, name := range []string{address, page.URL, page.Title} {
			t.inspected[key(name)] = true
		}
		text := fmt.Sprintf("%s (%s)\nsections: %s\nlead: %s", page.Title, page.URL, strings.Join(page.Sections, "; "), page.Lead)
		if page.Disambiguation {
			text = "a list of articles of this name, choose one: " + text
		}
		return text
	}
	var section struct{ Title, Section, Text string }
	if json.Unmarshal([]byte(content), &section) != nil {
		return content
	}
	return section.Title + ", " + section.Section + ":\n" + section.Text
}

// remember adds a finding to the tree.
func (t *solver) remember(a arguments) string {
	n, err := t.tree.Add(a.Parent, a.Topic, a.Content, a.SourceURL)
	if err != nil {
		return "refused: " + err.Error()
	}
	for _, to := range a.Links {
		if err := t.tree.Link(n.ID, to); err != nil {
			return "kept as " + n.ID + ", but refused: " + err.Error()
		}
	}
	return "kept as " + n.ID
}

// manage changes the list of open questions.
func (t *solver) manage(a arguments) string {
	for _, i := range a.Complete {
		if i < 1 || i > len(t.tasks) {
			return fmt.Sprintf("refused: there is no task %d", i)
		}
		t.tasks[i-1].done = true
	}
	for _, text := range a.Add {
		t.tasks = append(t.tasks, task{text: reply.OneLine(text, 200)})
	}
	if open := t.taskList(); open != "" {
		return "open: " + strings.ReplaceAll(strings.TrimSpace(open), "\n", "; ")
	}
	return "nothing is open"
}

// value reads an answer of the wanted kind.
func value(raw json.RawMessage, spec methods.AnswerSpec) (methods.Answer, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return methods.Answer{}, errors.New("there is no answer in it")
	}
	switch spec.Kind {
	case methods.Number:
		var x json.Number
		if err := json.Unmarshal(raw, &x); err != nil {
			return methods.Answer{}, fmt.Errorf("the answer %.80s is no number", raw)
		}
		return methods.Answer{Value: json.RawMessage(x.String()), Outcome: methods.Answered}, nil
	case methods.Set:
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return methods.Answer{}, fmt.Errorf("the answer %.80s is no list of texts", raw)
		}
		return methods.SetAnswer(list), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" {
		return methods.Answer{}, fmt.Errorf("the answer %.80s is no text", raw)
	}
	if spec.Kind == methods.Choice {
		i := slices.IndexFunc(spec.Labels, func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(text)) })
		if i < 0 {
			return methods.Answer{}, fmt.Errorf("%q is none of %s", text, strings.Join(spec.Labels, ", "))
		}
		return methods.ChoiceAnswer(spec.Labels[i]), nil
	}
	return methods.TextAnswer(text), nil
}
