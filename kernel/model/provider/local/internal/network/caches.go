package network

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// caches are what a sequence remembers for GoMLX. The zero value is empty.
type caches struct {
	kv, dim      int
	size         int               // places
	keys, values []*tensors.Tensor // by layer, [kv, size, dim]
	copied       bool              // not yet in the backend's memory
}

// minCache is the least number of places; it doubles as a sequence grows.
const minCache = 128

// places is the cache size for n tokens. It depends on n alone, so a sequence
// takes the same graphs however it is served.
func places(n int) int {
	if n == 0 {
		return 0
	}
	size := minCache
	for size < n {
		size *= 2
	}
	return size
}

// cut gives a copy for the first n tokens.
func (c caches) cut(n int) caches {
	if c.size == 0 {
		return c
	}
	to := caches{kv: c.kv, dim: c.dim, size: places(n), copied: true}
	for i := range c.keys {
		to.keys = append(to.keys, tensors.FromFlatDataAndDimensions(c.resized(c.keys[i], to.size), c.kv, to.size, c.dim))
		to.values = append(to.values, tensors.FromFlatDataAndDimensions(c.resized(c.values[i], to.size), c.kv, to.size, c.dim))
	}
	return to
}

func (c caches) bytes() int { return 2 * 4 * len(c.keys) * c.kv * c.size * c.dim }

// resized copies a cache, which may be nil, to another number of places.
func (c caches) resized(cache *tensors.Tensor, size int) []float32 {
	values := make([]float32, c.kv*size*c.dim)
	if cache != nil {
		n := min(c.size, size) * c.dim
		_ = cache.ConstFlatData(func(from any) { // fails only for what was given back
			for h := range c.kv {
				copy(values[h*size*c.dim:][:n], from.([]float32)[h*c.size*c.dim:])
			}
		})
	}
	return values
}

// grow moves caches to another number of places.
func (c *caches) grow(b compute.Backend, layers, size int) error {
	if size == c.size && !c.copied {
		return nil
	}
	if c.size == 0 {
		c.keys, c.values = make([]*tensors.Tensor, layers), make([]*tensors.Tensor, layers)
	}
	for i := range layers {
		for _, cache := range []**tensors.Tensor{&c.keys[i], &c.values[i]} {
			larger, err := onDevice(b, c.resized(*cache, size), c.kv, size, c.dim)
			if err != nil {
				return err
			}
			if *cache != nil {
				release([]*tensors.Tensor{*cache})
			}
			*cache = larger
		}
	}
	c.size, c.copied = size, false
	return nil
}

// remember appends n tokens' keys and values to the caches of their sequence.
// states holds them by layer, keys and values in turn, each [T, kv·dim].
func (g *graphEngine) remember(r row, n int, states []*tensors.Tensor) error {
	c := &r.caches
	c.kv, c.dim = g.config.KVHeads, g.config.HeadDim
	if err := c.grow(g.backend, len(g.layers), places(r.at+n)); err != nil {
		return err
	}
	for i := range g.layers {
		if err := errors.Join(c.store(c.keys[i], states[2*i], r.at, n), c.store(c.values[i], states[2*i+1], r.at, n)); err != nil {
			return err
		}
	}
	return nil
}

// store copies n tokens of a state to a place in a cache.
func (c *caches) store(cache, state *tensors.Tensor, at, n int) error {
	var failed error
	err := cache.MutableFlatData(func(to any) {
		failed = state.ConstFlatData(func(from any) {
			dst, src := to.([]float32), from.([]float32)
			for t := range n {
				for h := range c.kv {
					copy(dst[(h*c.size+at+t)*c.dim:][:c.dim], src[(t*c.kv+h)*c.dim:])
				}
			}
		})
	})
	return errors.Join(err, failed)
}
