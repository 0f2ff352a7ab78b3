package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"noema/cache/internal/kv"
)

// EmbeddingRecord is a recorded embedding: the vector of a text.
type EmbeddingRecord struct {
	Key    Key // see EmbeddingKey
	Vector []float32
}

// EmbeddingKey names the vector of a text by the embedding model with the given
// identity, which must cover all that changes a vector, its weights included.
func EmbeddingKey(embedder, text string) Key {
	e := newEncoder(embeddingDomain)
	e.text(tagModelName, embedder)
	e.text(tagContent, text)
	return e.sum()
}

// Embedding returns the vector under k.
func (s *Store) Embedding(ctx context.Context, k Key) ([]float32, error) {
	key := Embeddings.key(k[:])
	data, err := s.payload(ctx, Embeddings, key)
	if err != nil {
		return nil, err
	}
	vector, err := vectorFrom(data)
	if err != nil {
		return nil, s.corrupted(Embeddings, key, err)
	}
	return vector, nil
}

// PutEmbeddings stores vectors in one write, over whatever is under their keys.
func (s *Store) PutEmbeddings(ctx context.Context, records []EmbeddingRecord) error {
	if len(records) == 0 {
		return nil
	}
	ops := make([]kv.Op, len(records))
	for i, r := range records {
		if len(r.Vector) == 0 {
			return fmt.Errorf("store embedding %s: the vector is empty", r.Key)
		}
		data := make([]byte, 0, 4*len(r.Vector))
		for _, x := range r.Vector {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		op, err := s.sealed(Embeddings.key(r.Key[:]), data)
		if err != nil {
			return err
		}
		ops[i] = op
	}
	return s.kv.Apply(ctx, kv.Batch{Ops: ops, Again: true})
}

// vectorFrom is the inverse of what PutEmbeddings writes.
func vectorFrom(data []byte) ([]float32, error) {
	if len(data) == 0 || len(data)%4 != 0 {
		return nil, errors.New("an embedding is not a list of 4-byte numbers")
	}
	vector := make([]float32, len(data)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return vector, nil
}
