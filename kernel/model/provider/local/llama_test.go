package local

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"
	"testing"
	"time"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
	"noema/methods"
)

// peerFolder is a folder in which npm installed node-llama-cpp. Tests that need it
// are skipped where it is not named.
func peerFolder(t testing.TB) string {
	t.Helper()
	peer := os.Getenv("NOEMA_TEST_LLAMA")
	if peer == "" {
		t.Skip("set NOEMA_TEST_LLAMA to a folder in which \"npm install node-llama-cpp\" ran")
	}
	return peer
}

// llama runs a job on llama.cpp.
func llama(t testing.TB, peer string, job, answer any) {
	t.Helper()
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/llama.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script, peer)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(in, '\n')), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("answer %.200q: %v", out, err)
	}
}

// questions are the prompts of the parity test.
func questions() []string {
	return []string{
		"What is the capital of France?", "What is 17 + 25?", "Name three colours.", "Write a haiku about the sea.",
		"Translate \"good morning\" into Spanish.", "Is the earth flat?", "Why is the sky blue?", "List the first five primes.",
		"Who wrote Hamlet?", "Give a synonym of happy.", "What comes after Tuesday?", "Describe a cat in one sentence.",
		"Reverse the word stone.", "How many legs has a spider?", "What is H2O?", "Finish: roses are red,",
		"Explain gravity to a child.", "Which is larger, 9.9 or 9.11?", "Write a line of Python that prints hello.", "What is the opposite of hot?",
	}
}

// TestLlamaCpp holds a quantised model to llama.cpp on the same file: greedy
// tokens of 20 prompts, and log probabilities of the 20 likeliest tokens at each.
// Both round what meets the weights to 8 bits. One code that falls on the other
// side changes others in the next layer, so after 30 layers two programs are as far
// apart as each is from sums without rounding. A copy with its weights expanded to 32
// bits, which are not rounded, is the judge: our engine must be no farther from it than llama.cpp is. In two
// layers, see TestLlamaCppSmall, the two agree.
func TestLlamaCpp(t *testing.T) {
	file, peer := localtest.Real(t), peerFolder(t)
	p, err := New(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	judge := &Provider{engine: &engine{decoder: expanded(t, file)}}
	var prompts [][]int
	for _, q := range questions() {
		ids, err := p.template.encode(p.tokenizer, methods.Ask(q))
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, ids)
	}
	const steps = 12
	var theirs [][]place
	llama(t, peer, map[string]any{"file": file, "context": 1024, "threads": 1, "prompts": prompts, "steps": steps}, &theirs)
	var ours, llamas distances // from sums without rounding
	same := 0
	for i, prompt := range prompts {
		got, exact := follow(t, p, prompt, theirs[i]), follow(t, judge, prompt, theirs[i])
		differs := false
		for step, their := range theirs[i] {
			margin := their.Top[0].Logprob - their.Top[1].Logprob
			if token := greatest(got[step], nil); token != their.Token && !differs {
				differs = true
				t.Logf("%q: token %d differs: %q, llama.cpp has %q by a margin of %.3g; without rounding it is %q", questions()[i], step,
					p.tokenizer.Bytes(token), p.tokenizer.Bytes(their.Token), margin, p.tokenizer.Bytes(greatest(exact[step], nil)))
				if margin > 0.5 {
					t.Errorf("a margin of %.3g is more than rounding explains", margin)
				}
			}
			if !differs {
				same++
			}
			a, b := logSum(got[step]), logSum(exact[step])
			for _, c := range their.Top {
				want := b.of(exact[step][c.Token])
				ours.add(a.of(got[step][c.Token]) - want)
				llamas.add(c.Logprob - want)
			}
		}
	}
	t.Logf("%d of %d greedy tokens are the same before the first difference", same, len(prompts)*steps)
	t.Logf("log probabilities differ from those without rounding by %.3g, at most %.3g; in llama.cpp by %.3g, at most %.3g",
		ours.mean(), ours.worst, llamas.mean(), llamas.worst)
	if !(ours.mean() < 1.25*llamas.mean()) {
		t.Error("our engine is farther from sums without rounding than llama.cpp is")
	}
}

// expanded gives the decoder of a file of the Llama family from a copy of its weights in
// 32-bit floats.
func expanded(t *testing.T, file string) *network.Decoder {
	t.Helper()
	s, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	c, dir := s.config, t.TempDir()
	header, data := map[string]any{}, []byte{}
	add := func(name string, rows, cols int) {
		shape, values := []int{cols}, make([]float32, rows*cols)
		if rows > 1 {
			shape = []int{rows, cols}
			m, err := s.weights.Matrix(name, rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				m.Row(i, values[i*cols:(i+1)*cols])
			}
		} else if values, err = s.weights.Read(name, cols); err != nil {
			t.Fatal(err)
		}
		from := len(data)
		data, _ = binary.Append(data, binary.LittleEndian, values)
		header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{from, len(data)}}
	}
	add("model.embed_tokens.weight", c.Vocab, c.Hidden)
	add("model.norm.weight", 1, c.Hidden)
	if !c.Tied {
		add("lm_head.weight", c.Vocab, c.Hidden)
	}
	for i := range c.Layers {
		name, q, kv := fmt.Sprintf("model.layers.%d.", i), c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
		add(name+"input_layernorm.weight", 1, c.Hidden)
		add(name+"post_attention_layernorm.weight", 1, c.Hidden)
		add(name+"self_attn.q_proj.weight", q, c.Hidden)
		add(name+"self_attn.k_proj.weight", kv, c.Hidden)
		add(name+"self_attn.v_proj.weight", kv, c.Hidden)
		add(name+"self_attn.o_proj.weight", c.Hidden, q)
		add(name+"mlp.gate_proj.weight", c.Inner, c.Hidden)
		add(name+"mlp.up_proj.weight", c.Inner, c.Hidden)
		add(name+"mlp.down_proj.weight", c.Hidden, c.Inner)
	}
	head, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	head = append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), append(head, data...), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := checkpoint.OpenWeights(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d, err := network.LoadDecoder(c, w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestExpanded holds that the judge is the model: on a file in 32-bit floats, the scores
// are the same to the last bit.
func TestExpanded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model.gguf")
	if err := localtest.WriteGGUF(file, localtest.Spec{Arch: "smollm", Seed: 1}, "F32"); err != nil {
		t.Fatal(err)
	}
	p, err := New(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	prompt, reply := []int{65, 70, 300}, []place{{Token: 12}, {Token: 7}}
	got := follow(t, &Provider{engine: &engine{decoder: expanded(t, file)}}, prompt, reply)
	if want := follow(t, p, prompt, reply); !reflect.DeepEqual(got, want) {
		t.Error("the scores differ")
	}
}

// follow feeds a prompt and llama.cpp's reply, and gives the logits at each place.
func follow(t *testing.T, p *Provider, prompt []int, reply []place) [][]float32 {
	t.Helper()
	s := &network.Sequence{}
	logits, err := p.engine.decoder.Prefill(s, prompt, t.Context().Err)
	all := [][]float32{logits}
	for i := 0; err == nil && i < len(reply)-1; i++ {
		var next [][]float32
		next, err = p.engine.decoder.Next([]*network.Sequence{s}, []int{reply[i].Token})
		all = append(all, next...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// distances are differences, of which there is a quadratic mean.
type distances struct{ sum, worst, n float64 }

func (e *distances) add(d float64) { e.sum, e.worst, e.n = e.sum+d*d, max(e.worst, math.Abs(d)), e.n+1 }

func (e *distances) mean() float64 { return math.Sqrt(e.sum / e.n) }

// place is what llama.cpp has at one place of a reply.
type place struct {
	Token int
	Top   []struct {
		Token   int
		Logprob float64
	}
}

// apart gives how far the log probabilities of the likeliest tokens are apart.
func (p place) apart(logits []float32) (worst float64) {
	sum := logSum(logits)
	for _, c := range p.Top {
		worst = max(worst, math.Abs(sum.of(logits[c.Token])-c.Logprob))
	}
	return worst
}

// TestLlamaCppSmall holds files that tests write to llama.cpp: log probabilities
// within 1e-4 in 32 bits, and within 1e-2 quantised.
func TestLlamaCppSmall(t *testing.T) {
	peer := peerFolder(t)
	prompt := []int{65, 70, 300, 12, 7, 90, 91, 92, 301, 55}
	for _, arch := range []string{"smollm", "qwen3"} {
		for kind, limit := range map[string]float64{"F32": 1e-4, "Q8_0": 1e-2} {
			file := filepath.Join(t.TempDir(), "model.gguf")
			if err := localtest.WriteGGUF(file, localtest.Spec{Arch: arch, Seed: 1, Hidden: 128, Inner: 256}, kind); err != nil {
				t.Fatal(err)
			}
			p, err := New(file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var theirs [][]place
			llama(t, peer, map[string]any{"file": file, "context": 256, "threads": 1, "prompts": [][]int{prompt}, "steps": 1}, &theirs)
			logits, err := p.engine.decoder.Prefill(&network.Sequence{}, prompt, func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			apart := theirs[0][0].apart(logits)
			t.Logf("%s, %s: log probabilities differ by up to %.2g", arch, kind, apart)
			if !(apart <= limit) {
				t.Errorf("%s, %s: they differ by %g, want %g at most", arch, kind, apart, limit)
			}
		}
	}
}

// speedJob is what the benchmark measures: prompts and batches by tokens; NOEMA_BENCH=2
// adds a prompt of 4,096.
type speedJob struct {
	File      string `json:"file"`
	Context   int    `json:"context"`
	Sequences int    `json:"sequences"`
	Threads   int    `json:"threads"`
	Prefill   []int  `json:"prefill"`
	Decode    []int  `json:"decode"`
	Steps     int    `json:"steps"`
}

// speed are tokens by second, of processor time and of the clock, and the memory of
// the process in bytes.
type speed struct {
	CPU, Clock map[string]float64
	Memory     float64
}

// measure adds the rate of so many tokens.
func (s *speed) measure(b *testing.B, name string, tokens int, work func()) {
	usage := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start, cpu := time.Now(), usage()
	work()
	s.Clock[name], s.CPU[name] = float64(tokens)/time.Since(start).Seconds(), float64(tokens)/(usage()-cpu).Seconds()
}

// run does the job on our engine.
func (j speedJob) run(b *testing.B) speed {
	p, err := New(j.File, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(j.Threads))
	d, s := p.engine.decoder, speed{map[string]float64{}, map[string]float64{}, 0}
	for _, n := range j.Prefill {
		prompt := make([]int, n)
		for i := range prompt {
			prompt[i] = 300 + i%1000
		}
		s.measure(b, fmt.Sprintf("prefill%d", n), n, func() {
			if _, err := d.Prefill(&network.Sequence{}, prompt, b.Context().Err); err != nil {
				b.Fatal(err)
			}
		})
	}
	for _, n := range j.Decode {
		all, fed, steps := make([]*network.Sequence, n), make([]int, n), max(4, j.Steps/n)
		for i := range all {
			all[i], fed[i] = &network.Sequence{}, 300
		}
		next := func(steps int) {
			for range steps {
				if _, err := d.Next(all, fed); err != nil {
					b.Fatal(err)
				}
			}
		}
		next(4) // as llama.cpp gets four tokens first
		s.measure(b, fmt.Sprintf("decode%d", n), n*steps, func() { next(steps) })
	}
	var pages, resident int
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fmt.Sscan(string(text), &pages, &resident)
	}
	s.Memory = float64(resident * os.Getpagesize())
	return s
}

// BenchmarkLlamaCpp measures our engine beside llama.cpp in one run, as tokens by
// second and as ratios to llama.cpp: on one thread by processor time, which tells more
// than a clock on a machine that others use, and on two by the clock as well.
func BenchmarkLlamaCpp(b *testing.B) {
	if os.Getenv("NOEMA_BENCH") == "" {
		b.Skip("takes minutes: set NOEMA_BENCH=1")
	}
	peer := peerFolder(b)
	job := speedJob{File: localtest.Real(b), Context: 4608, Sequences: 16, Prefill: []int{512}, Decode: []int{1, 16}, Steps: 32}
	if os.Getenv("NOEMA_BENCH") == "2" {
		job.Prefill = append(job.Prefill, 4096)
	}
	for _, job.Threads = range []int{1, 2} {
		var theirs speed
		show := func(b *testing.B, s speed) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(s.Memory/(1<<20), "MiB")
			for name := range s.CPU {
				b.ReportMetric(s.CPU[name], name+"-tokens/cpu-s")
				b.ReportMetric(s.CPU[name]/theirs.CPU[name], name+"-x")
				if job.Threads > 1 {
					b.ReportMetric(s.Clock[name], name+"-tokens/s")
					b.ReportMetric(s.Clock[name]/theirs.Clock[name], name+"-clock-x")
				}
			}
		}
		b.Run(fmt.Sprintf("llama.cpp/%d", job.Threads), func(b *testing.B) {
			llama(b, peer, job, &theirs)
			show(b, theirs)
		})
		b.Run(fmt.Sprintf("noema/%d", job.Threads), func(b *testing.B) { show(b, job.run(b)) })
	}
}
