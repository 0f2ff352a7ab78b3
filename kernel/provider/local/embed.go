package local

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"noema/kernel/provider/local/internal/checkpoint"
	"noema/kernel/provider/local/internal/network"
	"noema/kernel/provider/local/internal/tokenizer"
)

// Embedder turns texts into vectors by a model of the BERT family, such as
// MiniLM, so that texts of like meaning get vectors of a small angle. It is
// safe for concurrent use.
type Embedder struct {
	id        string
	tokenizer *tokenizer.Tokenizer
	encoder   *network.Encoder
	context   int
	first     bool // a text's vector is the state of its first token, not the mean of all
}

// NewEmbedder loads the model in dir. sentence_bert_config.json, where there
// is one, says how many tokens of a text count.
func NewEmbedder(dir string, o Options) (*Embedder, error) {
	e, err := loadEmbedder(dir, o)
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	return e, nil
}

func loadEmbedder(dir string, o Options) (*Embedder, error) {
	config, err := checkpoint.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.Read(dir)
	if err != nil {
		return nil, err
	}
	if t.Size() > config.Vocab {
		return nil, fmt.Errorf("tokenizer.json in %s has %d tokens, the model %d", dir, t.Size(), config.Vocab)
	}
	var sentences struct {
		Max int `json:"max_seq_length"`
	}
	if err := readOptional(dir, "sentence_bert_config.json", &sentences); err != nil {
		return nil, err
	}
	first, err := readPooling(dir)
	if err != nil {
		return nil, err
	}
	weights, err := checkpoint.OpenWeights(dir)
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	b, err := network.NewBackend(o.Backend)
	if err != nil {
		return nil, err
	}
	e := &Embedder{tokenizer: t, context: config.MaxContext, first: first}
	if e.encoder, err = network.LoadEncoder(b, config, weights); err != nil {
		return nil, err
	}
	for _, n := range []int{sentences.Max, o.Context} {
		if n > 0 {
			e.context = min(e.context, n)
		}
	}
	digest, err := checkpoint.Digest(dir)
	if err != nil {
		return nil, err
	}
	id := identity(dir, digest, Options{Backend: o.Backend, Context: e.context})
	e.id = fmt.Sprintf("%s weights=%s %s", Kind, digest, id.Config) // not the folder's name: it changes no vector
	return e, nil
}

// ID names the model with the digest of its files and what else changes its
// vectors. It is fit for the key of a cache.
func (e *Embedder) ID() string { return e.id }

// Embed gives a vector of length 1 for each text: the mean of its tokens'
// states in the last layer, or the first of them, as sentence-transformers makes
// it. What does not fit the model's context is left out. A text's vector does
// not depend on the others.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0)) // a short text by itself does not keep all cores busy
	for i, text := range texts {
		group.Go(func() (err error) {
			if vectors[i], err = e.one(ctx, text); err != nil {
				return fmt.Errorf("local: embed text %d: %w", i, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return vectors, nil
}

func (e *Embedder) one(ctx context.Context, text string) ([]float32, error) {
	states, err := e.encoder.Encode(ctx, e.tokens(text))
	if err != nil {
		return nil, err
	}
	width := e.encoder.Config().Hidden
	if e.first {
		states = states[:width]
	}
	return pooled(states, width)
}

// tokens cuts a text so that it fits together with what goes around it.
func (e *Embedder) tokens(text string) []int {
	around := len(e.tokenizer.Framed(nil))
	ids := e.tokenizer.Encode(tokenizer.Part{Text: text})
	ids = ids[:min(len(ids), max(0, e.context-around))]
	if framed := e.tokenizer.Framed(ids); len(framed) > 0 {
		return framed
	}
	return []int{0} // an empty text of a model that puts nothing around it
}
