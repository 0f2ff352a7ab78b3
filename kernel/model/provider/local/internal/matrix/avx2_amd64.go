package matrix

import "golang.org/x/sys/cpu"

// avx2 says whether the processor has the instructions of avx2_amd64.s. They give the
// same bits as plain Go.
var avx2 = cpu.X86.HasAVX2

// nibblesRow multiplies 16 rows of codes of 4 bits by a row of numbers.
//
//go:noescape
func nibblesRow(w *uint8, codes *int8, d, least, scale, total *float32, sums *int32, offset int32, blocks int, acc *float32)

// bytesRow is the same for codes of 8 bits; pairs are the codes of two numbers each.
//
//go:noescape
func bytesRow(w *uint8, pairs *int32, d, least, scale, total *float32, sub, subs int, acc *float32)

// floatsRow adds n times 16 numbers, which lie stride apart, by weight.
//
//go:noescape
func floatsRow(w, x *float32, stride, n int, sum *float32)
