package network

import (
	"fmt"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/matrix"
)

// LoadDecoder loads the weights of a decoder, which is every family but BERT.
func LoadDecoder(c checkpoint.Config, w *checkpoint.Weights) (*Decoder, error) {
	if c.Family == checkpoint.BERT {
		return nil, fmt.Errorf("load weights: a %s model makes embeddings, not text", c.Family)
	}
	l := &reader{source: w, config: c}
	d := &Decoder{config: c}
	if c.Family == checkpoint.GPT2 {
		l.gpt2(d)
	} else {
		l.llama(d)
	}
	if l.err != nil {
		return nil, l.err
	}
	return d, nil
}

// reader reads the weights of a decoder.
type reader struct {
	source *checkpoint.Weights
	config checkpoint.Config
	prefix string // of all names, in some checkpoints
	err    error  // the first one; later calls do nothing
}

func (l *reader) values(name string, shape ...int) []float32 {
	if l.err != nil {
		return nil
	}
	values, err := l.source.Read(l.prefix+name, shape...)
	l.err = err
	return values
}

// projection reads a weight of shape [out, in], with its bias if there is one.
func (l *reader) projection(name string, out, in int) (p projection) {
	if l.err != nil {
		return p
	}
	if p.weight, l.err = l.source.Matrix(l.prefix+name+".weight", out, in); l.err == nil && l.source.Has(l.prefix+name+".bias") {
		p.bias = l.values(name+".bias", out)
	}
	return p
}

// rms reads a norm. Gemma's checkpoints store how far it is from 1.
func (l *reader) rms(name string, n int) scaling {
	s := scaling{weight: l.values(name+".weight", n)}
	for i := range s.weight {
		s.weight[i] += float32(l.config.NormOffset)
	}
	return s
}

// llama reads the Llama family, with the parts that some members add.
func (l *reader) llama(d *Decoder) {
	c := l.config
	if l.source.Has("model.embed_tokens.weight") {
		l.prefix = "model."
	}
	d.embedding = l.projection("embed_tokens", c.Vocab, c.Hidden).weight
	for i := 0; i < c.Layers && l.err == nil; i++ {
		d.layers = append(d.layers, l.llamaLayer(fmt.Sprintf("layers.%d.", i)))
	}
	l.positions(d)
	d.final = l.rms("norm", c.Hidden)
	d.head = projection{weight: d.embedding}
	l.prefix = ""
	if !c.Tied {
		d.head = l.projection("lm_head", c.Vocab, c.Hidden)
	}
}

// positions gives each layer its window and its rotary positions, whose
// frequencies some files divide by factors.
func (l *reader) positions(d *Decoder) {
	c := l.config
	if l.err != nil {
		return
	}
	far, near := frequencies(c.Rope, c.HeadDim), frequencies(c.NearRope, c.HeadDim)
	if name := checkpoint.RopeFactors + ".weight"; l.source.Has(name) {
		var factors []float32
		factors, l.err = l.source.Read(name, c.HeadDim/2)
		for i, f := range factors {
			far[i] /= f
		}
	}
	for i := range d.layers {
		b := &d.layers[i]
		b.window, b.frequencies = c.Window, far
		if c.FarEvery > 0 && (i+1)%c.FarEvery == 0 {
			b.window = 0
		} else if c.FarEvery > 0 {
			b.frequencies = near
		}
	}
}

func (l *reader) llamaLayer(name string) layer {
	c := l.config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	b := layer{
		first:  l.rms(name+"input_layernorm", c.Hidden),
		second: l.rms(name+"post_attention_layernorm", c.Hidden),
		q:      l.projection(name+"self_attn.q_proj", q, c.Hidden),
		k:      l.projection(name+"self_attn.k_proj", kv, c.Hidden),
		v:      l.projection(name+"self_attn.v_proj", kv, c.Hidden),
		out:    l.projection(name+"self_attn.o_proj", c.Hidden, q),
		gate:   l.projection(name+"mlp.gate_proj", c.Inner, c.Hidden),
		up:     l.projection(name+"mlp.up_proj", c.Inner, c.Hidden),
		down:   l.projection(name+"mlp.down_proj", c.Hidden, c.Inner),
	}
	if c.Family == checkpoint.Qwen3 || c.Family == checkpoint.Gemma3 {
		b.qNorm = l.rms(name+"self_attn.q_norm", c.HeadDim)
		b.kNorm = l.rms(name+"self_attn.k_norm", c.HeadDim)
	}
	if c.Family == checkpoint.Gemma3 {
		b.afterFirst, b.second = b.second, l.rms(name+"pre_feedforward_layernorm", c.Hidden)
		b.afterMLP = l.rms(name+"post_feedforward_layernorm", c.Hidden)
	}
	return b
}

func (l *reader) gpt2(d *Decoder) {
	c := l.config
	if l.source.Has("transformer.wte.weight") {
		l.prefix = "transformer."
	}
	d.embedding = l.projection("wte", c.Vocab, c.Hidden).weight
	d.positions = l.values("wpe.weight", c.MaxContext, c.Hidden)
	for i := 0; i < c.Layers && l.err == nil; i++ {
		d.layers = append(d.layers, l.gpt2Layer(fmt.Sprintf("h.%d.", i)))
	}
	d.final = l.layerNorm("ln_f", c.Hidden)
	d.head = projection{weight: d.embedding}
	l.prefix = ""
	if !c.Tied {
		d.head = l.projection("lm_head", c.Vocab, c.Hidden)
	}
}

func (l *reader) layerNorm(name string, n int) scaling {
	return scaling{weight: l.values(name+".weight", n), bias: l.values(name+".bias", n)}
}

func (l *reader) gpt2Layer(name string) layer {
	c := l.config
	b := layer{
		first:  l.layerNorm(name+"ln_1", c.Hidden),
		second: l.layerNorm(name+"ln_2", c.Hidden),
		out:    l.turned(name+"attn.c_proj", 0, 1, c.Hidden, c.Hidden),
		up:     l.turned(name+"mlp.c_fc", 0, 1, c.Inner, c.Hidden),
		down:   l.turned(name+"mlp.c_proj", 0, 1, c.Hidden, c.Inner),
	}
	for i, p := range []*projection{&b.q, &b.k, &b.v} {
		*p = l.turned(name+"attn.c_attn", i, 3, c.Hidden, c.Hidden)
	}
	return b
}

// turned reads a weight that is stored as [in, out·parts], with its bias: one
// part of it, where several share a tensor.
func (l *reader) turned(name string, part, parts, out, in int) projection {
	total := out * parts
	stored, bias := l.values(name+".weight", in, total), l.values(name+".bias", total)
	if l.err != nil {
		return projection{}
	}
	values := make([]float32, out*in)
	for r := range in {
		for c := range out {
			values[c*in+r] = stored[r*total+part*out+c]
		}
	}
	return projection{weight: matrix.FromFloats(values, out, in), bias: bias[part*out:][:out]}
}
