package checkpoint_test

import (
	"fmt"
	"math"
	"testing"

	"noema/kernel/model/provider/local/internal/checkpoint"
)

// TestBlocks holds every type of quantised weights to Python's gguf package, which
// made the file (see testdata/blocks.py): its values one by one, and products with
// rows of numbers up to the rounding of those.
func TestBlocks(t *testing.T) {
	g, err := checkpoint.OpenGGUF("testdata/blocks.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	w, err := g.Weights()
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"} {
		t.Run(kind, func(t *testing.T) {
			layer := fmt.Sprintf("model.layers.%d.mlp.", i)
			want, err := w.Read(layer+"down_proj.weight", 3, 256)
			if err != nil {
				t.Fatal(err)
			}
			m, err := w.Matrix(layer+"up_proj.weight", 3, 256)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, 256)
			for r := range 3 {
				m.Row(r, got)
				same(t, fmt.Sprintf("row %d", r), got, want[r*256:])
			}
			x, y := make([]float32, 5*256), make([]float32, 5*3)
			for j := range x {
				x[j] = float32(math.Sin(float64(j * j)))
			}
			m.Multiply(m.Quantise(x, 5), y)
			for j, v := range y {
				product, size := 0.0, 0.0
				for k := range 256 {
					p := float64(x[j/3*256+k]) * float64(want[j%3*256+k])
					product, size = product+p, size+p*p
				}
				if !(math.Abs(float64(v)-product) < 0.01*math.Sqrt(size)) {
					t.Errorf("row %d by row %d is %g, want %g", j/3, j%3, v, product)
				}
			}
		})
	}
}

// same compares numbers; processors that multiply and add at once round otherwise.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, g := range got {
		if !(math.Abs(float64(g-want[i])) <= 1e-6*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s: value %d is %g, want %g", what, i, g, want[i])
		}
	}
}
