package local

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
	"noema/kernel/model/provider/local/internal/tokenizer"
)

// Embedder turns texts into vectors with a model of the BERT family, such as
// MiniLM: the closer two texts are in meaning, the smaller the angle between
// their vectors. It is safe for concurrent use.
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
	f, err := readFolder(dir)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
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
	encoder, err := loadEncoder(f)
	if err != nil {
		return nil, err
	}
	digest, err := f.digest()
	if err != nil {
		return nil, err
	}
	e := &Embedder{tokenizer: f.tokenizer, encoder: encoder, context: f.config.MaxContext, first: first}
	for _, n := range []int{sentences.Max, o.Context} {
		if n > 0 {
			e.context = min(e.context, n)
		}
	}
	id := identity(dir, digest, Options{Context: e.context})
	e.id = fmt.Sprintf("%s weights=%s %s", Kind, digest, id.Config) // not the folder's name: it changes no vector
	return e, nil
}

func loadEncoder(s source) (*network.Encoder, error) {
	weights, err := checkpoint.OpenWeights(s.path)
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	return network.LoadEncoder(s.config, weights)
}

// ID names the model with the digest of its files and what else changes its
// vectors. It can be part of a cache key.
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
