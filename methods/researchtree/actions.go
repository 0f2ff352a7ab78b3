package researchtree

import (
	"context"
	"encoding/json"
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
	Page      int             `json:"page,omitempty"`
	ID        string          `json:"id,omitempty"`
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

// written is an action as the history shows it.
func (a action) written() string {
	raw, err := json.Marshal(a.Args)
	if err != nil {
		return a.Tool
	}
	return a.Tool + string(raw)
}

// schema is the JSON Schema of an action with one of the tools.
func schema(offered []tool) *methods.Schema {
	enum := methods.Must(json.Marshal(names(offered))) // strings always encode
	return &methods.Schema{Name: "action", JSON: json.RawMessage(
		`{"type":"object","properties":{"thought":{"type":"string"},"tool":{"type":"string","enum":` + string(enum) + `},"args":{"type":"object"}},"required":["tool","args"]}`)}
}

// choose asks for the next action, one of the tools on offer. A reply that is not an
// action is asked for again; one that cannot be carried out is an observation
// instead, and costs a step.
func (t *solver) choose(ctx context.Context, n int, offered []tool) (action, error) {
	left := slices.DeleteFunc(names(tools("")), func(name string) bool { return slices.Contains(names(offered), name) })
	req := t.Request(fmt.Sprintf("turn/%d", n), methods.Ask(turnPrompt(t.Query, t.state(), offered, left))...)
	req.Schema = schema(offered)
	var act action
	check := func(raw json.RawMessage) error {
		act = action{}
		if err := json.Unmarshal(raw, &act); err != nil {
			return err
		}
		if !slices.Contains(names(offered), act.Tool) {
			return fmt.Errorf("there is no tool %q; there are %s", act.Tool, strings.Join(names(offered), ", "))
		}
		return nil
	}
	_, _, err := reply.JSON(ctx, t.Host, req, check, reply.Options{Retries: t.opts.Retries})
	return act, err
}

// seen is what came of an action.
type seen struct {
	text    string
	refused bool // it had no result: the method or the tool refused it
}

func refusal(format string, args ...any) seen {
	return seen{"refused: " + fmt.Sprintf(format, args...), true}
}

// do carries an action out.
func (t *solver) do(ctx context.Context, act action, n int) (seen, error) {
	if turn, gave := t.triedBefore(act); turn > 0 {
		t.emit(n, methods.Dropped, "the same action as in turn %d: %s", turn, act.written())
		return refusal("turn %d did the same, and it gave: %s", turn, reply.OneLine(gave, 200)), nil
	}
	switch act.Tool {
	case "add_to_memory":
		return t.remember(act.Args), nil
	case "correct_memory":
		return t.correct(act.Args), nil
	case "manage_tasks":
		return t.manage(act.Args), nil
	}
	address := t.address(act.Args)
	if act.Tool == "read_section" && t.article(address) == nil {
		return refusal("inspect the article first, then read one of its sections"), nil
	}
	return t.call(ctx, act, address, n)
}

// remember adds a finding to the tree.
func (t *solver) remember(a arguments) seen {
	n, err := t.tree.Add(a.Parent, a.Topic, a.Content, a.SourceURL)
	if err != nil {
		return refusal("%v", err)
	}
	for _, to := range a.Links {
		if err := t.tree.Link(n.ID, to); err != nil {
			return seen{text: "kept as " + n.ID + ", but refused: " + err.Error()}
		}
	}
	return seen{text: "kept as " + n.ID}
}

// correct changes a finding, and says what rests on it.
func (t *solver) correct(a arguments) seen {
	done, err := t.tree.Correct(a.ID, a.Content, a.SourceURL, a.Parent)
	if err != nil {
		return refusal("%v", err)
	}
	if on := t.tree.restOn(a.ID); len(on) > 0 {
		done += "; these rest on it, check them: " + strings.Join(on, ", ")
	}
	return seen{text: done}
}

// manage changes the list of open questions.
func (t *solver) manage(a arguments) seen {
	for _, i := range a.Complete {
		if i < 1 || i > len(t.tasks) {
			return refusal("there is no task %d", i)
		}
	}
	for _, i := range a.Complete {
		t.tasks[i-1].done = true
	}
	for _, text := range a.Add {
		t.tasks = append(t.tasks, task{text: reply.OneLine(text, 200)})
	}
	if open := t.taskList(); open != "" {
		return seen{text: "open: " + strings.ReplaceAll(strings.TrimSpace(open), "\n", "; ")}
	}
	return seen{text: "nothing is open"}
}
