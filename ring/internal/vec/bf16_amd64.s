//go:build !noasm

#include "textflag.h"

// ROUND leaves the bfloat16 of the 8 float32 in v in the low halves of v's
// elements. It takes t; Y13 = 1, Y14 = 0x7fff, Y15 = 0x7fc00000, the one NaN.
#define ROUND(v, t) \
	VCMPPS    $3, v, v, t  \ // t = which are NaN
	VBLENDVPS t, Y15, v, v \
	VPSRLD    $16, v, t    \
	VPAND     Y13, t, t    \ // t = the bit that an even one has not
	VPADDD    Y14, v, v    \
	VPADDD    t, v, v      \
	VPSRLD    $16, v, v

// func putBF16AVX2(b *byte, src *float32, n int)
TEXT ·putBF16AVX2(SB), NOSPLIT, $0-24
	MOVQ         b+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VPCMPEQD     Y13, Y13, Y13
	VPSRLD       $17, Y13, Y14
	VPSRLD       $31, Y13, Y13
	MOVL         $0x7fc00000, AX
	VMOVD        AX, X15
	VPBROADCASTD X15, Y15

loop: // 32 elements per turn
	VMOVUPS   (SI), Y0       // Y0..Y3 = src[0:32]
	VMOVUPS   32(SI), Y1
	VMOVUPS   64(SI), Y2
	VMOVUPS   96(SI), Y3
	ROUND(Y0, Y4)
	ROUND(Y1, Y5)
	ROUND(Y2, Y6)
	ROUND(Y3, Y7)
	VPACKUSDW Y1, Y0, Y0     // Y0 = quarters 0 2 1 3 of the first 16 halves
	VPACKUSDW Y3, Y2, Y2     // Y2 = likewise of the second
	VPERMQ    $0xd8, Y0, Y0  // in order
	VPERMQ    $0xd8, Y2, Y2
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y2, 32(DI)
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET

// func getBF16AVX2(dst *float32, b *byte, n int)
TEXT ·getBF16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ n+16(FP), CX

loop: // 32 elements per turn
	VPMOVZXWD (SI), Y0       // Y0..Y3 = b[0:32], each in the low half
	VPMOVZXWD 16(SI), Y1
	VPMOVZXWD 32(SI), Y2
	VPMOVZXWD 48(SI), Y3
	VPSLLD    $16, Y0, Y0    // a bfloat16 is the upper half
	VPSLLD    $16, Y1, Y1
	VPSLLD    $16, Y2, Y2
	VPSLLD    $16, Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $64, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET

// func addBF16AVX2(dst *float32, b *byte, n int)
TEXT ·addBF16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ n+16(FP), CX

loop: // 32 elements per turn
	VPMOVZXWD (SI), Y0       // Y0..Y3 = b[0:32], each in the low half
	VPMOVZXWD 16(SI), Y1
	VPMOVZXWD 32(SI), Y2
	VPMOVZXWD 48(SI), Y3
	VPSLLD    $16, Y0, Y0    // a bfloat16 is the upper half
	VPSLLD    $16, Y1, Y1
	VPSLLD    $16, Y2, Y2
	VPSLLD    $16, Y3, Y3
	VADDPS    (DI), Y0, Y0   // += dst[0:32]
	VADDPS    32(DI), Y1, Y1
	VADDPS    64(DI), Y2, Y2
	VADDPS    96(DI), Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $64, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET
