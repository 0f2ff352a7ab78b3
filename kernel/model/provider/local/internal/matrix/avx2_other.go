//go:build !amd64

package matrix

var avx2 = false

func nibblesRow(w *uint8, codes *int8, d, least, scale, total *float32, sums *int32, offset int32, blocks int, acc *float32) {
}

func bytesRow(w *uint8, pairs *int32, d, least, scale, total *float32, sub, subs int, acc *float32) {
}

func floatsRow(w, x *float32, stride, n int, sum *float32) {}
