//go:build !noasm

#include "textflag.h"

// HALVE writes the 8 float32 at s, times Y14, as binary16 at d. It takes v
// and t; Y15 = 0x7fc00000, the one NaN.
#define HALVE(s, d, v, t) \
	VMULPS    s, Y14, v    \
	VCMPPS    $3, v, v, t  \ // t = which are NaN
	VBLENDVPS t, Y15, v, v \
	VCVTPS2PH $0, v, d       // to nearest, ties to even

// func putFP16AVX2(b *byte, src *float32, n int, scale float32)
TEXT ·putFP16AVX2(SB), NOSPLIT, $0-28
	MOVQ         b+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y14
	MOVL         $0x7fc00000, AX
	VMOVD        AX, X15
	VPBROADCASTD X15, Y15

loop: // 32 elements per turn
	HALVE((SI), (DI), Y0, Y4)
	HALVE(32(SI), 16(DI), Y1, Y5)
	HALVE(64(SI), 32(DI), Y2, Y6)
	HALVE(96(SI), 48(DI), Y3, Y7)
	ADDQ $128, SI
	ADDQ $64, DI
	SUBQ $32, CX
	JNE  loop
	VZEROUPPER
	RET

// func getFP16AVX2(dst *float32, b *byte, n int, scale float32)
TEXT ·getFP16AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         b+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y14

loop: // 32 elements per turn
	VCVTPH2PS (SI), Y0       // Y0..Y3 = b[0:32]
	VCVTPH2PS 16(SI), Y1
	VCVTPH2PS 32(SI), Y2
	VCVTPH2PS 48(SI), Y3
	VMULPS    Y14, Y0, Y0    // · scale
	VMULPS    Y14, Y1, Y1
	VMULPS    Y14, Y2, Y2
	VMULPS    Y14, Y3, Y3
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

// func addFP16AVX2(dst *float32, b *byte, n int, scale float32)
TEXT ·addFP16AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         b+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y14

loop: // 32 elements per turn
	VCVTPH2PS (SI), Y0       // Y0..Y3 = b[0:32]
	VCVTPH2PS 16(SI), Y1
	VCVTPH2PS 32(SI), Y2
	VCVTPH2PS 48(SI), Y3
	VMULPS    Y14, Y0, Y0    // · scale
	VMULPS    Y14, Y1, Y1
	VMULPS    Y14, Y2, Y2
	VMULPS    Y14, Y3, Y3
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
