// Package local is the provider of models in the process: a GGUF file, or a
// folder as Hugging Face lays it out, is loaded and run in pure Go, so experiments
// need neither a server nor a key. The same request gives the same bytes, on any
// number of threads and whatever else is asked at the time.
//
// Texts are written by noema's own engine: package matrix multiplies weights as they
// are stored. Embeddings are made on GoMLX.
//
// # Files
//
// A GGUF file of architecture llama (also SmolLM and Mistral), qwen2, qwen3
// or gemma3, with its tokenizer and chat template in it, as llama.cpp has them: weights of
// type F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K or Q6_K. Or a
// folder: config.json, model.safetensors (or shards with their index, in F32, F16 or
// BF16), tokenizer.json, and where there are tokenizer_config.json,
// generation_config.json and chat_template.jinja. Families: Llama (also
// SmolLM), Mistral, Qwen2, Qwen3, Gemma 3, GPT-2; BERT for embeddings. Weights of
// folders are held as 32-bit floats, so a model of a billion parameters takes 4 GB;
// quantised ones take 0.75 or 1.25 bytes each.
//
// # Chat templates
//
// Chat templates are programs in Jinja. They are not run: a template's family
// is recognised by its special tokens, which are those of ChatML, Llama 3,
// Llama 2, Mistral, Gemma, and Zephyr and Phi. The default system message of a ChatML
// template is kept; dates and tool descriptions that some templates add are
// not. A model without a template gets lines of "role: text"; one with a
// template of another family is refused.
//
// The text of messages is never read as a special token.
//
// # Decoding
//
// Temperature 0 takes the likeliest token, the first one of equals. Otherwise
// top-k and then top-p narrow the choice, and a PCG generator seeded with the
// request's seed and draw makes it. A schema bounds every token, so the reply
// is valid against it; near the length limit the value is closed in the shortest
// way. Package grammar says which schemas are known; another one is an error
// that names the keyword and its place. A reply ends at the model's end tokens, at a stop string, which
// is not part of it, at the length limit or at the end of the context.
//
// # Time
//
// The latency of a reply is the time that the engine takes for it alone: waiting
// for others is not part of it, and a step that several replies share counts as
// the step of one (see meter). What a prompt has in common with an earlier one
// is not read again, but counts.
//
// # Identity
//
// A model is its folder's name, a digest over its files, and the version of what
// this package makes of them. The engine rounds every sum alike on all
// processors. Its functions such as e to the x are those of Go's package math, whose last
// of 64 bits may differ between processor architectures; they are rounded to 32 bits.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/hub"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/local/internal/grammar"
	"noema/kernel/model/provider/local/internal/network"
	"noema/kernel/model/provider/local/internal/tokenizer"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "local"

// Native is the only engine. Earlier versions had another: runs that name it are
// replayed under its name.
const Native = "native"

// replies is the version of what the engine answers. It is raised when the same
// files give other replies than before, which then are not taken for stored ones.
// Version 2 allows white space in the values of schemas.
const replies = ".2"

// defaultMaxTokens is how long a reply gets if neither the request nor the
// options say.
const defaultMaxTokens = 1024

// Options are the options of a local model. The zero value is the default; an
// option that is given becomes part of the model's identity, so none has a
// default in its tag.
type Options struct {
	MaxTokens int    `json:"max_tokens" min:"0" doc:"tokens of a reply if the request sets no limit; 0 means 1024"`
	Context   int    `json:"context" min:"0" doc:"tokens of prompt and reply together; 0 means what the model was made for"`
	Batch     int    `json:"batch" min:"0" max:"16" doc:"replies written at once; 0 means 16"`
	Engine    string `json:"engine" doc:"leave it empty: native is the only engine"`
}

// Provider serves one model. It is safe for concurrent use.
type Provider struct {
	info      provider.Info
	tokenizer *tokenizer.Tokenizer
	template  chatTemplate
	ends      map[int]bool // tokens that end a reply
	vocab     *grammar.Vocab
	used      []bool // ids that have a token
	size      int    // ids of the model
	context   int
	maxTokens int
	engine    *engine
	grammars  grammars
}

var _ provider.Provider = (*Provider)(nil)

// New loads the model of a folder or a GGUF file, which takes seconds for each GB.
func New(path string, o Options) (*Provider, error) {
	if err := methods.ParseOptions(nil, &o); err != nil { // checks the ranges
		return nil, fmt.Errorf("local: %w", err)
	}
	if !slices.Contains([]string{"", Native, "gomlx"}, o.Engine) { // the last in runs of earlier builds, which are read
		return nil, fmt.Errorf("local: unknown engine %q: leave engine out", o.Engine)
	}
	p, err := load(path, o)
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	return p, nil
}

func load(path string, o Options) (*Provider, error) {
	s, err := open(path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if o.Context > s.config.MaxContext {
		return nil, fmt.Errorf("a context of %d tokens is more than the %d of the model in %s", o.Context, s.config.MaxContext, path)
	}
	decoder, err := network.LoadDecoder(s.config, s.weights)
	if err != nil {
		return nil, err
	}
	digest, err := s.digest()
	if err != nil {
		return nil, err
	}
	p := &Provider{
		info:      provider.Info{ID: identity(s.path, digest+replies, o), MaxConnections: 2 * network.MaxRows},
		tokenizer: s.tokenizer, template: s.template, ends: s.ends, size: s.config.Vocab,
		context: cmp.Or(o.Context, s.config.MaxContext), maxTokens: cmp.Or(o.MaxTokens, defaultMaxTokens),
		engine:   &engine{decoder: decoder, most: cmp.Or(o.Batch, network.MaxRows)},
		grammars: grammars{room: maxMaskBytes},
	}
	p.index()
	return p, nil
}

// index lists the tokens that schemas choose from, and the ids that have one.
func (p *Provider) index() {
	p.used = make([]bool, p.size)
	spelled := make([][]byte, p.size)
	for id := range spelled {
		if !p.ends[id] { // which end a reply, also in the middle of a value
			spelled[id] = p.tokenizer.Bytes(id)
		}
		p.used[id] = p.tokenizer.Token(id) != ""
	}
	p.vocab = grammar.NewVocab(spelled)
}

// identity names the model by its folder or file. Only options that change answers
// are in it.
func identity(dir, digest string, o Options) methods.ModelID {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(abs)
		if known, ok := hub.NameOf(abs); ok { // with its commit, as --model takes it
			name = "hf/" + known
		}
	}
	var config []string
	if o.Context > 0 {
		config = append(config, fmt.Sprintf("context=%d", o.Context))
	}
	if o.Engine != "" && o.Engine != Native {
		config = append(config, "engine="+o.Engine)
	}
	if o.MaxTokens > 0 {
		config = append(config, fmt.Sprintf("max_tokens=%d", o.MaxTokens))
	}
	return methods.ModelID{Provider: Kind, Model: name, Weights: digest, Config: strings.Join(config, "&")}
}

// Info describes the provider.
func (p *Provider) Info() provider.Info { return p.info }

// Complete writes a reply.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := ctx.Err(); err != nil {
		return methods.Completion{}, fmt.Errorf("local: %w", err)
	}
	prompt, err := p.prompt(r)
	if err != nil {
		return methods.Completion{}, err
	}
	w, err := p.newWriter(r, p.context-len(prompt))
	if err != nil {
		return methods.Completion{}, err
	}
	spent, err := p.engine.write(ctx, prompt, w)
	if err != nil {
		if ctx.Err() != nil {
			return methods.Completion{}, fmt.Errorf("local: %w", ctx.Err())
		}
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Err: err}
	}
	c := w.completion()
	c.Model = p.info.ID.Model
	c.Usage = methods.Usage{Calls: 1, InputTokens: int64(len(prompt)), OutputTokens: int64(w.written), Latency: max(spent, 1)}
	return c, nil
}

// prompt gives the tokens of a conversation, or an error if they do not fit.
func (p *Provider) prompt(r methods.Request) ([]int, error) {
	if err := provider.CheckLogprobs(r.Sampling); err != nil {
		return nil, err
	}
	if err := check(r); err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Err: err}
	}
	prompt, err := p.template.encode(p.tokenizer, r.Messages)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Err: err}
	}
	if len(prompt) >= p.context {
		return nil, &provider.Error{
			Kind: provider.ContextLength,
			Err:  fmt.Errorf("a prompt of %d tokens leaves no room for a reply in a context of %d", len(prompt), p.context),
			Hint: "shorten the prompt, or use a model with a longer context",
		}
	}
	return prompt, nil
}

// check refuses requests that no local model can answer.
func check(r methods.Request) error {
	s := r.Sampling
	switch {
	case len(r.Messages) == 0:
		return errors.New("the request has no messages")
	case len(r.Tools) > 0:
		return errors.New("tools are not supported by local models")
	case !(s.Temperature >= 0) || !(s.TopP >= 0 && s.TopP <= 1) || s.TopK < 0 || s.MaxTokens < 0:
		return fmt.Errorf("sampling %+v is out of range", s)
	}
	for _, m := range r.Messages {
		if m.Role == methods.Tool || len(m.ToolCalls) > 0 {
			return errors.New("tool calls in messages are not supported by local models")
		}
	}
	return nil
}

// Features says what becomes of the parts of a request.
func Features() provider.Features {
	f := provider.AllNative("in the process",
		"The same request gives the same bytes, on any number of threads and whatever other requests run.",
		"A schema with an unsupported keyword is refused; the error names its place and the supported keywords.",
		"A chat template is not run: its family is recognised by its special tokens; without one, messages are lines of \"role: text\"; another family is refused.",
		"Tools and tool calls are refused.",
		"Log probabilities are the model's own, at temperature 1, before top_k, top_p or a schema narrow the choice.")
	f.Provider, f.Tools, f.Streaming = Kind, provider.Unsupported, provider.Unsupported
	return f
}
