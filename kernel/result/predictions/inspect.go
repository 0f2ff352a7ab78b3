package predictions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/files"
	"noema/methods"
)

// inspectHead is how a JSON log of Inspect begins.
var inspectHead = regexp.MustCompile(`^(\x{feff})?\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"`)

// inspectHeader is what is read of a log beside its samples.
type inspectHeader struct {
	Version int    `json:"version"`
	Status  string `json:"status"`
	Eval    struct {
		Task     string         `json:"task"`
		Model    string         `json:"model"`
		Solver   string         `json:"solver"`
		Metadata map[string]any `json:"metadata"`
	} `json:"eval"`
}

// inspectSample is what is read of a sample of a log.
type inspectSample struct {
	ID     json.RawMessage `json:"id"`
	Epoch  int             `json:"epoch"`
	Input  json.RawMessage `json:"input"`
	Output struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Stop string `json:"stop_reason"`
		} `json:"choices"`
	} `json:"output"`
	Scores map[string]struct {
		Answer *string         `json:"answer"`
		Value  json.RawMessage `json:"value"`
	} `json:"scores"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
	UUID   string                  `json:"uuid"`
	Usage  map[string]inspectUsage `json:"model_usage"`
	Events []struct {
		Event string  `json:"event"`
		Time  float64 `json:"working_time"`
	} `json:"events"`
	Attachments map[string]string `json:"attachments"`
}

type inspectUsage struct {
	Input      int64    `json:"input_tokens"`
	Output     int64    `json:"output_tokens"`
	CacheRead  int64    `json:"input_tokens_cache_read"`
	CacheWrite int64    `json:"input_tokens_cache_write"`
	Reasoning  int64    `json:"reasoning_tokens"`
	Cost       *float64 `json:"total_cost"`
}

// readInspectJSON reads a log of Inspect in JSON, a sample at a time.
func (f *File) readInspectJSON(ctx context.Context, path string) error {
	in, err := files.Open(path)
	if err != nil {
		return err
	}
	defer in.Close() // opened for reading: closing cannot lose anything
	part := &portion{r: in, left: maxSample}
	d := json.NewDecoder(files.Finite(part))
	if err := f.logObject(ctx, d, part); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends in the middle: it was cut short")
		}
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: byte %d: something follows the log", f.Name, d.InputOffset())
	}
	return nil
}

// logObject reads the keys of a log. The header comes before the samples.
func (f *File) logObject(ctx context.Context, d *json.Decoder, part *portion) error {
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	var h inspectHeader
	for d.More() {
		part.left = maxSample
		key, err := d.Token()
		if err != nil {
			return err
		}
		var into any = new(json.RawMessage)
		switch key {
		case "version":
			into = &h.Version
		case "status":
			into = &h.Status
		case "eval":
			into = &h.Eval
		case "samples":
			if err := f.takeHeader(h); err != nil {
				return err
			}
			if err := f.logSamples(ctx, d, part); err != nil {
				return err
			}
			continue
		}
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("%q: %w", key, words(err))
		}
	}
	_, err := d.Token()
	return err
}

func (f *File) logSamples(ctx context.Context, d *json.Decoder, part *portion) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, errors.New(`"samples" is not a list`))
	}
	for number := 1; d.More(); number++ {
		part.left = maxSample
		var s inspectSample
		place := fmt.Sprintf("%s: sample %d", f.Name, number)
		if err := d.Decode(&s); err != nil {
			return fmt.Errorf("sample %d: %w", number, words(err))
		}
		p, err := s.prediction(place)
		if err == nil {
			err = f.add(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// takeHeader takes what a log says of itself. A log that noema wrote is not data of
// another harness, and its rankings are of shuffled items.
func (f *File) takeHeader(h inspectHeader) error {
	f.Harness = Inspect
	if h.Version != 2 && !(f.scored && h.Version == 3) { // which keeps its messages elsewhere
		return fmt.Errorf("it is a log of version %d: version 2 is read: convert it with \"inspect log convert\"", h.Version)
	}
	if _, ours := h.Eval.Metadata["noema_config_digest"]; ours && !f.scored {
		return errors.New("noema itself wrote this log: compare the run that it was exported from")
	}
	f.Method, f.Model, f.Task = h.Eval.Solver, h.Eval.Model, h.Eval.Task
	f.Notes = append(f.Notes, fmt.Sprintf("task %q of Inspect", h.Eval.Task))
	if h.Status != "success" {
		f.Notes = append(f.Notes, fmt.Sprintf("the log says that its evaluation ended with %q, not with success", h.Status))
	}
	return nil
}

// prediction takes the answer that the log's scorers read, where they agree, and
// else the reply.
func (s inspectSample) prediction(place string) (p Prediction, err error) {
	fault := func(what string, err error) error { return fmt.Errorf("%s: %s: %w", place, what, err) }
	p.Place, p.Epoch = place, max(s.Epoch, 1)-1
	if len(s.ID) == 0 {
		return p, fault("id", errors.New("it is missing"))
	}
	if p.ID, err = scalar(s.ID); err != nil {
		return p, fault("id", err)
	}
	question, err := s.text(s.Input)
	if err != nil {
		return p, fault("input", err)
	}
	if question != "" {
		p.Questions = []string{question}
	}
	if p.Usage, err = s.usage(); err != nil {
		return p, fault("model_usage", err)
	}
	p.Scores, p.Trial = s.scores(), s.UUID
	if s.Error != nil {
		p.Failure = "the log says: " + s.Error.Message
		return p, nil
	}
	var answers []string
	for _, score := range s.Scores {
		if score.Answer != nil && !slices.Contains(answers, *score.Answer) {
			answers = append(answers, *score.Answer)
		}
	}
	if len(answers) == 1 {
		p.Text = s.attached(answers[0])
		return p, nil
	}
	if len(s.Output.Choices) > 0 {
		p.Text, err = s.text(s.Output.Choices[0].Message.Content)
		stop := s.Output.Choices[0].Stop
		p.Cut, p.Refused = stop == "max_tokens" || stop == "model_length", stop == "content_filter"
	}
	if err != nil {
		err = fault("output", err)
	}
	return p, err
}

// scores are the numbers of the sample's scorers, those of one that gives several by its
// name and theirs.
func (s inspectSample) scores() map[string]float64 {
	all := map[string]float64{}
	for name, score := range s.Scores {
		var several map[string]json.RawMessage
		if x, ok := scoreOf(score.Value); ok {
			all[name] = x
		} else if json.Unmarshal(score.Value, &several) == nil {
			for part, raw := range several {
				if x, ok := scoreOf(raw); ok {
					all[name+"."+part] = x
				}
			}
		}
	}
	return all
}

// text is a text, or those of the parts of a message, or of the last message of a
// user.
func (s inspectSample) text(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		var text string // stays empty for null
		if len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
			return "", fmt.Errorf("want a text or a list, not %.60s", raw)
		}
		return s.attached(text), nil
	}
	var parts []struct {
		Role, Type, Text string
		Content          json.RawMessage
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", words(err)
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Role == "user":
			text, err := s.text(p.Content)
			if err != nil {
				return "", err
			}
			texts = []string{text}
		case p.Role == "" && p.Type == "text":
			texts = append(texts, s.attached(p.Text))
		}
	}
	return strings.Join(texts, "\n"), nil
}

// attached is the text that a reference such as attachment://1f… stands for.
func (s inspectSample) attached(text string) string {
	if id, ok := strings.CutPrefix(text, "attachment://"); ok {
		if content, ok := s.Attachments[id]; ok {
			return content
		}
	}
	return text
}

// usage is what a sample took, where the log says it. Inspect counts what was read
// from a provider's cache, or written to it, beside the other input.
func (s inspectSample) usage() (methods.Usage, error) {
	u := unknown
	for _, e := range s.Events {
		if e.Event == "model" && e.Time >= 0 && e.Time < maxAmount {
			u.Calls++
			u.Latency += time.Duration(e.Time * float64(time.Second))
		}
	}
	if len(s.Usage) == 0 {
		return u, nil
	}
	u.Unmetered = 0
	cost, priced := 0.0, u.Calls > 0
	for model, one := range s.Usage {
		for _, n := range []int64{one.Input, one.Output, one.CacheRead, one.CacheWrite, one.Reasoning} {
			if n < 0 || n > maxAmount {
				return u, fmt.Errorf("%d tokens of %.60q", n, model)
			}
		}
		u.InputTokens += one.Input + one.CacheRead + one.CacheWrite
		u.OutputTokens += one.Output
		u.CachedTokens += one.CacheRead
		u.CacheWriteTokens += one.CacheWrite
		u.ReasoningTokens += one.Reasoning
		if one.Cost == nil || !(*one.Cost >= 0 && *one.Cost < maxAmount/1e6) {
			priced = false
			continue
		}
		cost += *one.Cost
	}
	if priced {
		u.Cost, u.Unpriced = methods.NanoUSD(math.Round(cost*1e9)), 0
	}
	return u, nil
}

// words says what is wrong with JSON without the names of Go's types.
func words(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s is not what belongs there", mistyped.Field, mistyped.Value)
	}
	return err
}
