package generalanot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// SeedKind is the kind under which the store keeps what [Method] compiles.
const SeedKind = "formula"

// Compiled is what the store keeps of a compilation: the Formula Seed, or why
// there is none. A compilation that failed is kept too, so that a hundred
// restaurants do not each try again what cannot succeed.
type Compiled struct {
	Seed    *FormulaSeed `json:"formula_seed,omitempty"`
	Refused string       `json:"refused,omitempty"` // what was wrong with the last round's seed
	Notes   []Note       `json:"notes,omitempty"`   // what happened on the way, in order
}

// Note is an event of a compilation.
type Note struct {
	Path string            `json:"path"`
	Kind methods.EventKind `json:"kind"`
	Text string            `json:"text"`
}

// ParseCompiled reads what the store keeps under [SeedKind]. The seed in it
// may be edited and used with the method's option seed.
func ParseCompiled(raw []byte) (*Compiled, error) {
	c := &Compiled{}
	if err := methods.DecodeJSON(raw, c); err != nil {
		return nil, fmt.Errorf("read compiled seed: %w", err)
	}
	if c.Seed == nil && c.Refused == "" {
		return nil, errors.New("read compiled seed: neither a seed nor a reason for its absence")
	}
	return c, nil
}

// refusedError says what could not be done, and why.
type refusedError struct{ what, reason string }

func (e *refusedError) Error() string { return e.what + ": " + e.reason }

// program is the compile phase: it returns the problem's seed, ready to run.
func (t *trial) program(ctx context.Context) (*Program, error) {
	t.emit(phaseCompile, methods.PhaseStart, 1, nil, "compile: %s", reply.OneLine(t.Query, 120))
	p, err := t.given()
	if p == nil && err == nil {
		p, err = t.compiled(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range p.Moved {
		t.emit(phaseCompile, methods.Repair, 1, nil, "step %s runs after the steps that it uses, not where the seed has it", name)
	}
	s := p.Seed
	t.emit(phaseCompile, methods.Plan, 2, s, "Formula Seed %q", s.TaskName)
	t.emit(phaseCompile, methods.PhaseEnd, 1, nil, "%d keywords, %d extraction fields, %d steps, %d output fields",
		len(s.FilterKeywords), len(s.ExtractionFields), len(s.ComputeDAG), len(s.OutputFields))
	return p, nil
}

// given is the seed of the option seed; nil if there is none.
func (t *trial) given() (*Program, error) {
	if strings.TrimSpace(t.opts.Seed) == "" {
		return nil, nil
	}
	s, err := Read([]byte(t.opts.Seed))
	if err != nil {
		return nil, fmt.Errorf("option seed: %w", err)
	}
	p, faults := NewProgram(s, t.Answer)
	if len(faults) > 0 {
		return nil, fmt.Errorf("option seed: %w", faultsError(faults))
	}
	return p, nil
}

// compiled is the seed from the store, compiled first if it is not there.
func (t *trial) compiled(ctx context.Context) (*Program, error) {
	t.shown = t.shownTask()
	raw, err := t.Host.Seed(ctx, t.seedKey(), t.compile)
	if err != nil {
		return nil, fmt.Errorf("compile the policy: %w", err)
	}
	c, err := ParseCompiled(raw)
	if err != nil {
		return nil, err
	}
	// The notes become events of every trial alike, whichever of them compiled.
	for _, n := range c.Notes {
		t.emit(n.Path, n.Kind, 1, nil, "%s", n.Text)
	}
	if c.Seed == nil {
		return nil, &refusedError{"compile the policy: no valid Formula Seed", c.Refused}
	}
	p, faults := NewProgram(c.Seed, t.Answer)
	if len(faults) > 0 {
		return nil, fmt.Errorf("stored formula seed: %w", faultsError(faults))
	}
	return p, nil
}

// seedKey names the seed by all that the prompts show.
func (t *trial) seedKey() methods.SeedKey {
	content := map[string]any{"policy": t.Query, "fields": t.Answer.Names, "labels": t.Answer.Labels}
	if t.Answer.Kind != methods.Fields {
		content = map[string]any{"kind": t.Answer.Kind, "task": t.shown}
	}
	if t.opts.Compile == compileThree {
		content["compile"] = compileThree
	}
	return methods.SeedKey{Kind: SeedKind, Content: string(plainJSON(content))}
}

// compile asks for a seed, or for one part of it after the other, until it is
// valid or no round is left.
func (t *trial) compile(ctx context.Context) ([]byte, error) {
	c := &Compiled{}
	var err error
	if t.opts.Compile == compileThree {
		err = t.compileSteps(ctx, c)
	} else {
		err = t.compileOnce(ctx, c)
	}
	if invalid, ok := errors.AsType[*reply.InvalidError](err); ok {
		c.Refused = reply.OneLine(invalid.Error(), maxReason)
		err = nil
	}
	return plainJSON(c), err
}

func (t *trial) compileOnce(ctx context.Context, c *Compiled) error {
	req := t.Request(phaseCompile, methods.Ask(t.compilePrompt())...)
	req.Schema = compileSchema()
	return t.compileStep(ctx, c, req, func(raw json.RawMessage) error {
		s, err := Parse(raw)
		if err != nil {
			return err
		}
		if faults := Validate(s, t.Answer); len(faults) > 0 {
			return faultsError(faults)
		}
		c.Seed = s
		return nil
	})
}

// compileStep is a conversation of up to Rounds rounds that ends with a reply
// that check accepts.
func (t *trial) compileStep(ctx context.Context, c *Compiled, req methods.Request, check func(json.RawMessage) error) error {
	_, _, err := reply.JSON(ctx, notebook{t.Host, &c.Notes}, req, check, reply.Options{Retries: t.opts.Rounds - 1})
	return err
}

// notebook is a host that notes events instead of sending them. What happens
// while a seed is built must not be told in the one trial that built it.
type notebook struct {
	methods.Host
	notes *[]Note
}

func (n notebook) Emit(e methods.Event) {
	*n.notes = append(*n.notes, Note{Path: e.Path, Kind: e.Kind, Text: e.Text})
}
