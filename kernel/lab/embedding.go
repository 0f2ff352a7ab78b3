package lab

import (
	"context"
	"errors"
	"fmt"

	"noema/cache"
	"noema/kernel/task"
)

// The options that every task takes besides its own.
const (
	embeddingsOption = "embeddings" // the embedding model, such as "local/models/all-MiniLM-L6-v2"
	searchOption     = "search"     // "meaning" or "hybrid"; without a model "words"
)

// withExtras opens a task by open, with what every task can be given: the tool python
// and an embedding model, if options name them. It takes these options out.
func (l *Lab) withExtras(options map[string]string, open func() (*Task, error)) (*Task, error) {
	return withPython(options, func() (*Task, error) { return l.withEmbeddings(options, open) })
}

// withEmbeddings opens a task by open, with the embedding model that options
// name, if they name one. It takes these options out.
func (l *Lab) withEmbeddings(options map[string]string, open func() (*Task, error)) (*Task, error) {
	model, search := options[embeddingsOption], options[searchOption]
	delete(options, embeddingsOption)
	delete(options, searchOption)
	switch {
	case search == "words" && model != "":
		return nil, Misused(errors.New("task option search=words needs no embedding model: leave embeddings out"))
	case search == "" || search == "words":
	case search != "meaning" && search != "hybrid":
		return nil, Misused(fmt.Errorf("task option search=%s: use words, meaning or hybrid", search))
	case model == "":
		return nil, Misused(fmt.Errorf("task option search=%s needs an embedding model: embeddings=local/FOLDER", search))
	}
	t, err := open()
	if err != nil || model == "" {
		return t, err
	}
	e, err := l.o.Catalog.Embedder(model)
	if err != nil {
		return nil, err
	}
	t, err = task.WithEmbedder(t, storedEmbedder{e, l.Store}, search == "hybrid")
	if err != nil {
		return nil, Misused(err)
	}
	return t, nil
}

// storedEmbedder keeps every vector in the store: a text is embedded once.
type storedEmbedder struct {
	task.Embedder
	store func() (*cache.Store, error) // asked when it is needed: listing a task needs none
}

// keptAtOnce is how many vectors go into the store in one write, and so how many
// are computed again after a kill.
const keptAtOnce = 32

// Embed implements [task.Embedder]. Each text is looked up once, however often
// it is asked for.
func (s storedEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	store, err := s.store()
	if err != nil {
		return nil, err
	}
	known := make(map[string][]float32, len(texts))
	var missing []string
	for _, text := range texts {
		if _, seen := known[text]; seen {
			continue
		}
		vector, err := store.Embedding(ctx, cache.EmbeddingKey(s.ID(), text))
		if errors.Is(err, cache.ErrNotFound) || errors.Is(err, cache.ErrCorrupt) {
			missing, vector, err = append(missing, text), nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look up an embedding: %w", err)
		}
		known[text] = vector
	}
	for len(missing) > 0 {
		part := missing[:min(keptAtOnce, len(missing))]
		missing = missing[len(part):]
		if err := s.make(ctx, store, part, known); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = known[text]
	}
	return vectors, nil
}

// make embeds texts and keeps their vectors.
func (s storedEmbedder) make(ctx context.Context, store *cache.Store, texts []string, into map[string][]float32) error {
	vectors, err := s.Embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	records := make([]cache.EmbeddingRecord, len(texts))
	for i, text := range texts {
		into[text] = vectors[i]
		records[i] = cache.EmbeddingRecord{Key: cache.EmbeddingKey(s.ID(), text), Vector: vectors[i]}
	}
	if err := store.PutEmbeddings(context.WithoutCancel(ctx), records); err != nil { // made is made
		return fmt.Errorf("keep embeddings: %w", err)
	}
	return nil
}
