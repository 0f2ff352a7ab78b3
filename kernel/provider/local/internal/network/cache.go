package network

import (
	"github.com/gomlx/gomlx/core/tensors"
)

// remember appends n tokens' keys and values to each sequence's caches.
// states holds them by layer, keys and values in turn, each [rows·T, kv·dim].
func (d *Decoder) remember(batch []*Sequence, states []*tensors.Tensor, n int) error {
	for row, s := range batch {
		if err := d.grow(s, places(s.length+n)); err != nil {
			return err
		}
		for i := range d.blocks {
			for j, cache := range []*tensors.Tensor{s.keys[i], s.values[i]} {
				if err := d.store(cache, states[2*i+j], row, s, n); err != nil {
					return err
				}
			}
		}
		s.length += n
	}
	return nil
}

// store copies n tokens of one row into a cache.
func (d *Decoder) store(cache, state *tensors.Tensor, row int, s *Sequence, n int) error {
	kv, dim := d.config.KVHeads, d.config.HeadDim
	var failed error
	err := cache.MutableFlatData(func(to any) {
		failed = state.ConstFlatData(func(from any) {
			dst, src := to.([]float32), from.([]float32)
			for t := range n {
				for h := range kv {
					copy(dst[(h*s.size+s.length+t)*dim:][:dim], src[((row+t)*kv+h)*dim:])
				}
			}
		})
	})
	if err != nil {
		return err
	}
	return failed
}

// grow moves a sequence to caches of the given size.
func (d *Decoder) grow(s *Sequence, size int) error {
	if size == s.size {
		return nil
	}
	for i := range d.blocks {
		if s.size == 0 {
			s.keys, s.values = append(s.keys, nil), append(s.values, nil)
		}
		for _, cache := range []**tensors.Tensor{&s.keys[i], &s.values[i]} {
			larger, err := d.moved(*cache, s, size)
			if err != nil {
				return err
			}
			if *cache != nil {
				release([]*tensors.Tensor{*cache})
			}
			*cache = larger
		}
	}
	s.size = size
	return nil
}

// moved copies a cache, which may be nil, into one of another size.
func (d *Decoder) moved(cache *tensors.Tensor, s *Sequence, size int) (*tensors.Tensor, error) {
	kv, dim := d.config.KVHeads, d.config.HeadDim
	values := make([]float32, kv*size*dim)
	if cache != nil {
		err := cache.ConstFlatData(func(from any) {
			for h := range kv {
				copy(values[h*size*dim:], from.([]float32)[h*s.size*dim:(h*s.size+s.length)*dim])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return onDevice(d.backend, values, kv, size, dim)
}

// Close gives the sequence's memory back to the backend.
func (s *Sequence) Close() {
	release(s.keys)
	release(s.values)
	*s = Sequence{}
}
