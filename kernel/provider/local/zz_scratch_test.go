package local

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

func TestScratch(t *testing.T) {
	b, err := compute.NewWithConfig("go")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	for _, s := range [][2]int{{576, 576}, {1536, 576}, {2048, 2048}, {49152, 576}} {
		out, in := s[0], s[1]
		wt := tensors.FromFlatDataAndDimensions(fill(out*in), out, in)
		wn := tensors.FromFlatDataAndDimensions(fill(out*in), in, out)
		xs := fill(64 * in)
		for _, tr := range []bool{true, false} {
			var ref []float32
			for _, m := range []int{1, 2, 3, 4, 8, 64} {
				x := tensors.FromFlatDataAndDimensions(xs[:m*in], m, in)
				e, err := graph.NewExec(b, func(x, w *graph.Node) *graph.Node {
					if tr {
						return graph.DotGeneral(x, []int{1}, nil, w, []int{1}, nil)
					}
					return graph.DotGeneral(x, []int{1}, nil, w, []int{0}, nil)
				})
				if err != nil {
					t.Fatal(err)
				}
				w := wn
				if tr {
					w = wt
				}
				r, err := e.Exec(x, w)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				t0 := time.Now()
				for time.Since(t0) < 150*time.Millisecond {
					e.Exec(x, w)
					n++
				}
				el := time.Since(t0) / time.Duration(n)
				data := tensors.MustCopyFlatData[float32](r[0])
				diff := make([]int, m)
				if m == 1 {
					ref = data
				}
				_ = ref
				for row := range m {
					// compare with single-row result of that row
					xr := tensors.FromFlatDataAndDimensions(xs[row*in:(row+1)*in], 1, in)
					if row >= 5 {
						break
					}
					rr, _ := e.Exec(xr, w)
					d := tensors.MustCopyFlatData[float32](rr[0])
					for i := range d {
						if d[i] != data[row*out+i] {
							diff[row]++
						}
					}
				}
				fmt.Printf("out %d in %d transposed %v m %d: %v  %.2f GFLOP/s %.2f GB/s  diff %v\n", out, in, tr, m, el, 2*float64(m*out*in)/el.Seconds()/1e9, 4*float64(out*in)/el.Seconds()/1e9, diff[:min(m, 5)])
			}
		}
	}
}
