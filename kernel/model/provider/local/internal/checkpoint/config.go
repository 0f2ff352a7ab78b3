// Package checkpoint reads a model folder as Hugging Face lays it out:
// config.json, and the weights in model.safetensors or in shards of it. It
// turns both into one description that the network is built from, and it says
// in one line which file is wrong and why: an incomplete copy of a folder is the
// most common fault of local models, and otherwise shows only as a panic in a
// matrix multiplication.
package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
)

// Family is how the layers of a model are put together.
type Family string

// The families. Models of other names that share a family's layout, such as
// SmolLM, name it in model_type.
const (
	Llama   Family = "llama"   // RMS norm, rotary positions, gated MLP
	Mistral Family = "mistral" // llama with a sliding window
	Qwen2   Family = "qwen2"   // llama with biases on q, k and v
	Qwen3   Family = "qwen3"   // llama with norms on the heads of q and k
	Gemma3  Family = "gemma3"  // qwen3 with more norms, and windows in most layers
	GPT2    Family = "gpt2"    // layer norm, learned positions, plain MLP
	BERT    Family = "bert"    // GPT-2's parts, both directions, norms after
)

// families lists what can be read, for error messages.
var families = []Family{BERT, Gemma3, GPT2, Llama, Mistral, Qwen2, Qwen3}

// Config is what a network is built from.
type Config struct {
	Family     Family
	Hidden     int // width of the residual stream
	Inner      int // width within the MLP
	Layers     int
	Heads      int
	KVHeads    int // heads of keys and values; a divisor of Heads
	HeadDim    int
	Vocab      int
	MaxContext int     // positions that the model was made for
	Window     int     // positions that a token sees back, itself included; 0 for all
	Epsilon    float64 // of the norms
	Activation string  // "silu", "gelu_new" or "gelu"
	Tied       bool    // the output weights are the token embeddings
	Types      int     // token types of BERT
	Rope       Rope
	EOS        IDs
	QueryScale float64 // of the products of queries and keys

	// Of Gemma 3. Zero leaves each out.
	FarEvery       int // every so many layers, one sees all positions and turns them by Rope, the others by NearRope
	NearRope       Rope
	EmbeddingScale float64
	NormOffset     float64 // added to the weights of norms
	ScoreCap       float64 // bounds of the scores of attention and of tokens
	LogitCap       float64
}

// Rope holds the parameters of rotary positions.
type Rope struct {
	Theta  float64
	Type   string  // "default", "linear" or "llama3"
	Factor float64 // of linear and llama3
	// Of llama3: wavelengths above OldContext/LowFreq are stretched by Factor,
	// those below OldContext/HighFreq are kept.
	LowFreq, HighFreq float64
	OldContext        float64
}

// raw is config.json, by the names of all families.
type raw struct {
	ModelType     string   `json:"model_type"`
	Architectures []string `json:"architectures"`

	Hidden  int  `json:"hidden_size"`
	Inner   int  `json:"intermediate_size"`
	Layers  int  `json:"num_hidden_layers"`
	Heads   int  `json:"num_attention_heads"`
	KVHeads *int `json:"num_key_value_heads"`
	HeadDim *int `json:"head_dim"`
	Vocab   int  `json:"vocab_size"`
	MaxPos  int  `json:"max_position_embeddings"`
	Types   int  `json:"type_vocab_size"`

	NEmbd  int  `json:"n_embd"`
	NHead  int  `json:"n_head"`
	NLayer int  `json:"n_layer"`
	NPos   int  `json:"n_positions"`
	NInner *int `json:"n_inner"`

	RMSEps    *float64 `json:"rms_norm_eps"`
	LNEps     *float64 `json:"layer_norm_epsilon"`
	BertEps   *float64 `json:"layer_norm_eps"`
	HiddenAct string   `json:"hidden_act"`
	Act       string   `json:"activation_function"`

	Tied        *bool    `json:"tie_word_embeddings"`
	Window      *int     `json:"sliding_window"`
	UseWindow   bool     `json:"use_sliding_window"`
	LayerTypes  []string `json:"layer_types"`
	Theta       *float64 `json:"rope_theta"`
	Scaling     *rawRope `json:"rope_scaling"`
	Parameters  *rawRope `json:"rope_parameters"`
	EOS         IDs      `json:"eos_token_id"`
	Positions   string   `json:"position_embedding_type"`
	ScaleByIdx  bool     `json:"scale_attn_by_inverse_layer_idx"`
	ScaleAttn   *bool    `json:"scale_attn_weights"`
	CrossAttend bool     `json:"add_cross_attention"`

	HiddenActivation string   `json:"hidden_activation"`
	QueryScalar      *float64 `json:"query_pre_attn_scalar"`
	Pattern          *int     `json:"sliding_window_pattern"`
	NearTheta        *float64 `json:"rope_local_base_freq"`
	ScoreCap         *float64 `json:"attn_logit_softcapping"`
	LogitCap         *float64 `json:"final_logit_softcapping"`
	Bidirectional    bool     `json:"use_bidirectional_attention"`
}

type rawRope struct {
	Theta      *float64 `json:"rope_theta"`
	Type       string   `json:"rope_type"`
	OldType    string   `json:"type"`
	Factor     float64  `json:"factor"`
	LowFreq    float64  `json:"low_freq_factor"`
	HighFreq   float64  `json:"high_freq_factor"`
	OldContext float64  `json:"original_max_position_embeddings"`
	Partial    *float64 `json:"partial_rotary_factor"`

	Far  *rawRope `json:"full_attention"` // by the type of a layer, in newer files of Gemma
	Near *rawRope `json:"sliding_attention"`
}

// ReadConfig reads dir/config.json.
func ReadConfig(dir string) (Config, error) {
	file := filepath.Join(dir, "config.json")
	data, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return Config{}, fmt.Errorf("read model config: %w", err)
	}
	c, err := parseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("read model config %s: %w", file, err)
	}
	return c, nil
}

func parseConfig(data []byte) (Config, error) {
	var r raw
	if err := json.Unmarshal(data, &r); err != nil {
		return Config{}, err
	}
	c := Config{Family: Family(r.ModelType), EOS: r.EOS}
	switch r.ModelType {
	case "gemma3_text":
		c.Family = Gemma3
	case "gemma3":
		return Config{}, errors.New("a Gemma 3 that reads pictures is not supported: use its text model (gemma3_text), or a GGUF file of it")
	}
	if !slices.Contains(families, c.Family) {
		return Config{}, fmt.Errorf("unknown architecture %q (%s); known are %v", r.ModelType, strings.Join(r.Architectures, ", "), families)
	}
	c.sizes(&r)
	if err := c.positions(&r); err != nil {
		return Config{}, err
	}
	return c, c.check()
}

func (c *Config) sizes(r *raw) {
	c.Hidden, c.Inner, c.Layers, c.Heads = r.Hidden, r.Inner, r.Layers, r.Heads
	c.Vocab, c.MaxContext, c.Types = r.Vocab, r.MaxPos, r.Types
	c.Epsilon, c.Activation = either(r.RMSEps, 1e-6), r.HiddenAct
	c.Tied = r.Tied != nil && *r.Tied
	switch c.Family {
	case GPT2:
		c.Hidden, c.Layers, c.Heads, c.MaxContext = r.NEmbd, r.NLayer, r.NHead, r.NPos
		c.Inner = either(r.NInner, 4*r.NEmbd)
		c.Epsilon, c.Activation = either(r.LNEps, 1e-5), r.Act
		c.Tied = r.Tied == nil || *r.Tied
	case BERT:
		c.Epsilon = either(r.BertEps, 1e-12)
	}
	c.KVHeads = either(r.KVHeads, c.Heads)
	if c.Heads > 0 {
		c.HeadDim = either(r.HeadDim, c.Hidden/c.Heads)
	}
	if c.Activation == "" {
		c.Activation = map[Family]string{GPT2: "gelu_new", BERT: "gelu"}[c.Family]
	}
	c.Activation = cmp.Or(c.Activation, "silu")
	if c.Family == Gemma3 {
		c.gemma(r)
	}
	if c.QueryScale == 0 {
		c.QueryScale = 1 / math.Sqrt(float64(c.HeadDim))
	}
}

// gemma reads what only Gemma 3 has.
func (c *Config) gemma(r *raw) {
	c.HeadDim = either(r.HeadDim, 256)
	c.Activation = cmp.Or(r.HiddenActivation, "gelu_pytorch_tanh")
	c.Tied = r.Tied == nil || *r.Tied
	c.QueryScale = 1 / math.Sqrt(either(r.QueryScalar, 256))
	c.NormOffset, c.EmbeddingScale = 1, math.Sqrt(float64(c.Hidden))
	c.ScoreCap, c.LogitCap = either(r.ScoreCap, 0), either(r.LogitCap, 0)
	c.Window, c.FarEvery = either(r.Window, 4096), either(r.Pattern, 6)
}

// either is *p, or other if p is nil.
func either[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// IDs are tokens that end a reply: in a file a number, a list of numbers, or
// null.
type IDs []int

// UnmarshalJSON reads any of the forms.
func (ids *IDs) UnmarshalJSON(data []byte) error {
	var one int
	if string(data) != "null" && json.Unmarshal(data, &one) == nil {
		*ids = IDs{one}
		return nil
	}
	if json.Unmarshal(data, (*[]int)(ids)) != nil {
		return errors.New("eos_token_id is not a number or a list of numbers")
	}
	return nil
}

// positions reads the window and the rotary parameters, and refuses the
// variants that would silently give other answers.
func (c *Config) positions(r *raw) error {
	switch c.Family {
	case Mistral:
		c.Window = either(r.Window, 0)
	case Gemma3:
		return c.gemmaPositions(r)
	case Qwen2, Qwen3, Llama:
		if r.UseWindow || slices.Contains(r.LayerTypes, "sliding_attention") {
			return fmt.Errorf("sliding windows of some layers are not supported for %s", c.Family)
		}
	case GPT2:
		if r.ScaleByIdx || r.CrossAttend || (r.ScaleAttn != nil && !*r.ScaleAttn) {
			return errors.New("cross attention and scaling of attention by layer are not supported")
		}
	case BERT:
		if r.Positions != "" && r.Positions != "absolute" {
			return fmt.Errorf("position_embedding_type %q is not supported", r.Positions)
		}
	}
	if c.Family == GPT2 || c.Family == BERT {
		return nil
	}
	return c.Rope.read(r)
}

// gemmaPositions reads the rotary parameters of both types of layers, and
// checks that the layers take turns as they are supported.
func (c *Config) gemmaPositions(r *raw) error {
	if r.Bidirectional {
		return errors.New("use_bidirectional_attention is not supported")
	}
	if c.FarEvery < 1 {
		return fmt.Errorf("sliding_window_pattern %d is not positive", c.FarEvery)
	}
	for i, kind := range r.LayerTypes {
		if far := (i+1)%c.FarEvery == 0; far != (kind == "full_attention") {
			return fmt.Errorf("layer_types: layer %d is %q, where every %d-th layer has full attention", i, kind, c.FarEvery)
		}
	}
	far, near := *r, raw{Theta: r.NearTheta}
	if p := r.Parameters; p != nil && p.Far != nil && p.Near != nil {
		far.Parameters, near.Parameters = p.Far, p.Near
	}
	if far.Theta == nil {
		far.Theta = new(1e6)
	}
	return errors.Join(c.Rope.read(&far), c.NearRope.read(&near))
}

// read takes the parameters from rope_parameters, where newer files have
// them, or from rope_theta and rope_scaling.
func (p *Rope) read(r *raw) error {
	p.Theta, p.Type = either(r.Theta, 10000), "default"
	s := r.Parameters
	if s == nil {
		s = r.Scaling
	}
	if s == nil {
		return nil
	}
	p.Theta = either(s.Theta, p.Theta)
	if s.Partial != nil && *s.Partial != 1 {
		return fmt.Errorf("partial_rotary_factor %g is not supported", *s.Partial)
	}
	if s.Type == "" {
		s.Type = s.OldType
	}
	switch s.Type {
	case "", "default":
		return nil
	case "linear", "llama3":
	default:
		return fmt.Errorf("rope type %q is not supported; supported are default, linear and llama3", s.Type)
	}
	p.Type, p.Factor = s.Type, s.Factor
	p.LowFreq, p.HighFreq, p.OldContext = s.LowFreq, s.HighFreq, s.OldContext
	if p.Factor <= 0 || p.Type == "llama3" && (p.HighFreq <= p.LowFreq || p.LowFreq <= 0 || p.OldContext <= 0) {
		return fmt.Errorf("rope type %q has wrong or missing factors", s.Type)
	}
	return nil
}

// check catches what would otherwise fail deep in the network.
func (c *Config) check() error {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"hidden size", c.Hidden}, {"intermediate size", c.Inner}, {"number of layers", c.Layers},
		{"number of attention heads", c.Heads}, {"number of key/value heads", c.KVHeads},
		{"head size", c.HeadDim}, {"vocabulary size", c.Vocab}, {"maximum of positions", c.MaxContext},
	} {
		if n.value <= 0 {
			return fmt.Errorf("%s is missing or not positive", n.name)
		}
	}
	if c.Family != GPT2 && c.Family != BERT && !(c.Rope.Theta > 0) {
		return fmt.Errorf("rope_theta %g is not positive", c.Rope.Theta)
	}
	for _, id := range c.EOS {
		if id < 0 || id >= c.Vocab {
			return fmt.Errorf("eos_token_id %d is not among the %d tokens", id, c.Vocab)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("%d attention heads are not a multiple of %d key/value heads", c.Heads, c.KVHeads)
	}
	if c.Family != GPT2 && c.Family != BERT && c.HeadDim%2 != 0 {
		return fmt.Errorf("head size %d is odd, which rotary positions rule out", c.HeadDim)
	}
	if (c.Family == GPT2 || c.Family == BERT) && c.HeadDim*c.Heads != c.Hidden {
		return fmt.Errorf("hidden size %d is not a multiple of %d heads", c.Hidden, c.Heads)
	}
	if !slices.Contains([]string{"silu", "gelu_new", "gelu_pytorch_tanh", "gelu"}, c.Activation) {
		return fmt.Errorf("activation %q is not supported", c.Activation)
	}
	return nil
}
