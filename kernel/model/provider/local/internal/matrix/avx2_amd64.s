#include "textflag.h"

// SCALED adds the sums of a block in Y2 and Y3, times its scales, to Y10 and Y11.
#define SCALED(d, scale) \
	VCVTDQ2PS Y2, Y2; \
	VCVTDQ2PS Y3, Y3; \
	VBROADCASTSS scale, Y6; \
	VMULPS (d), Y6, Y7; \
	VMULPS 32(d), Y6, Y8; \
	VMULPS Y7, Y2, Y2; \
	VMULPS Y8, Y3, Y3; \
	VADDPS Y2, Y10, Y10; \
	VADDPS Y3, Y11, Y11

// LEAST adds what is added to a block, times the sum of its numbers.
#define LEAST(least, total) \
	VBROADCASTSS total, Y6; \
	VMULPS (least), Y6, Y7; \
	VMULPS 32(least), Y6, Y8; \
	VADDPS Y7, Y10, Y10; \
	VADDPS Y8, Y11, Y11

// NIBBLES adds the products of columns k, k+1, k+16 and k+17 to the words of Y0 and Y1.
#define NIBBLES(k) \
	VMOVDQU (k*16)(SI), X2; \
	VMOVDQU (k*16+16)(SI), X3; \
	VPUNPCKLBW X3, X2, X4; \
	VPUNPCKHBW X3, X2, X5; \
	VINSERTI128 $1, X5, Y4, Y4; \
	VPAND Y4, Y15, Y6; \
	VPSRLW $4, Y4, Y7; \
	VPAND Y7, Y15, Y7; \
	VPBROADCASTW k(DI), Y8; \
	VPBROADCASTW (k+16)(DI), Y9; \
	VPMADDUBSW Y8, Y6, Y6; \
	VPMADDUBSW Y9, Y7, Y7; \
	VPADDW Y6, Y0, Y0; \
	VPADDW Y7, Y1, Y1

// func nibblesRow(w *uint8, codes *int8, d, least, scale, total *float32, sums *int32, offset int32, blocks int, acc *float32)
TEXT ·nibblesRow(SB), NOSPLIT, $0-80
	MOVQ w+0(FP), SI
	MOVQ codes+8(FP), DI
	MOVQ d+16(FP), R8
	MOVQ least+24(FP), R9
	MOVQ scale+32(FP), R10
	MOVQ total+40(FP), R11
	MOVQ sums+48(FP), R12
	MOVL offset+56(FP), R13
	MOVQ blocks+64(FP), CX
	MOVQ acc+72(FP), DX
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
nibbles:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	NIBBLES(0)
	NIBBLES(2)
	NIBBLES(4)
	NIBBLES(6)
	NIBBLES(8)
	NIBBLES(10)
	NIBBLES(12)
	NIBBLES(14)
	VPMOVSXWD X0, Y2
	VEXTRACTI128 $1, Y0, X3
	VPMOVSXWD X3, Y3
	VPMOVSXWD X1, Y4
	VEXTRACTI128 $1, Y1, X5
	VPMOVSXWD X5, Y5
	VPADDD Y4, Y2, Y2
	VPADDD Y5, Y3, Y3
	MOVL (R12), AX
	IMULL R13, AX
	VMOVD AX, X6
	VPBROADCASTD X6, Y6
	VPSUBD Y6, Y2, Y2
	VPSUBD Y6, Y3, Y3
	SCALED(R8, (R10))
	TESTQ R9, R9
	JZ nibblesNext
	LEAST(R9, (R11))
	ADDQ $64, R9
nibblesNext:
	ADDQ $256, SI
	ADDQ $32, DI
	ADDQ $64, R8
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	DECQ CX
	JNZ nibbles
	VMOVUPS Y10, (DX)
	VMOVUPS Y11, 32(DX)
	VZEROUPPER
	RET

// func bytesRow(w *uint8, pairs *int32, d, least, scale, total *float32, sub, subs int, acc *float32)
TEXT ·bytesRow(SB), NOSPLIT, $0-72
	MOVQ w+0(FP), SI
	MOVQ pairs+8(FP), DI
	MOVQ d+16(FP), R8
	MOVQ least+24(FP), R9
	MOVQ scale+32(FP), R10
	MOVQ total+40(FP), R11
	MOVQ sub+48(FP), R12
	MOVQ subs+56(FP), CX
	MOVQ acc+64(FP), DX
	MOVL $0x80808080, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	XORQ BX, BX // columns so far
bytes:
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ R12, R13
columns:
	VPXOR (SI), X15, X4
	VPXOR 16(SI), X15, X5
	VPUNPCKLBW X5, X4, X6
	VPUNPCKHBW X5, X4, X7
	VPMOVSXBW X6, Y6
	VPMOVSXBW X7, Y7
	VPBROADCASTD (DI), Y8
	VPMADDWD Y8, Y6, Y6
	VPMADDWD Y8, Y7, Y7
	VPADDD Y6, Y2, Y2
	VPADDD Y7, Y3, Y3
	ADDQ $32, SI
	ADDQ $4, DI
	SUBQ $2, R13
	JNZ columns
	MOVQ BX, AX
	SHRQ $5, AX
	SCALED(R8, (R10)(AX*4))
	TESTQ R9, R9
	JZ bytesNext
	LEAST(R9, (R11)(AX*4))
	ADDQ $64, R9
bytesNext:
	ADDQ $64, R8
	ADDQ R12, BX
	DECQ CX
	JNZ bytes
	VMOVUPS Y10, (DX)
	VMOVUPS Y11, 32(DX)
	VZEROUPPER
	RET

// func floatsRow(w, x *float32, stride, n int, sum *float32)
TEXT ·floatsRow(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ sum+32(FP), DX
	SHLQ $2, R8
	VMOVUPS (DX), Y0
	VMOVUPS 32(DX), Y1
floats:
	VBROADCASTSS (DI), Y2
	VMULPS (SI), Y2, Y3
	VMULPS 32(SI), Y2, Y4
	VADDPS Y3, Y0, Y0
	VADDPS Y4, Y1, Y1
	ADDQ R8, SI
	ADDQ $4, DI
	DECQ CX
	JNZ floats
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	VZEROUPPER
	RET
