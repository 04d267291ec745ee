//go:build !noasm

#include "textflag.h"

// func putInt8AVX2(b *byte, src *float32, n int, inv float32)
TEXT ·putInt8AVX2(SB), NOSPLIT, $0-28
	MOVQ         b+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS inv+24(FP), Y12
	MOVL         $0x4b400000, AX
	VMOVD        AX, X13
	VPBROADCASTD X13, Y13    // Y13 = 1.5·2^23: in a sum with it the unit is 1
	VPCMPEQD     Y14, Y14, Y14
	VPSRLD       $24, Y14, Y14 // Y14 = 0xff
	MOVQ         $0x0703060205010400, AX
	VMOVQ        AX, X15
	VPMOVZXBD    X15, Y15    // Y15 = 0 4 1 5 2 6 3 7

loop: // 32 elements per turn
	VMULPS    (SI), Y12, Y0  // Y0..Y3 = src[0:32] · inv
	VMULPS    32(SI), Y12, Y1
	VMULPS    64(SI), Y12, Y2
	VMULPS    96(SI), Y12, Y3
	VADDPS    Y13, Y0, Y0    // rounded, the code in the low byte
	VADDPS    Y13, Y1, Y1
	VADDPS    Y13, Y2, Y2
	VADDPS    Y13, Y3, Y3
	VPAND     Y14, Y0, Y0    // the low byte
	VPAND     Y14, Y1, Y1
	VPAND     Y14, Y2, Y2
	VPAND     Y14, Y3, Y3
	VPACKUSDW Y1, Y0, Y0     // 16 codes, 2 bytes each
	VPACKUSDW Y3, Y2, Y2
	VPACKUSWB Y2, Y0, Y0     // 32 codes, in fours: 0 2 4 6, 1 3 5 7
	VPERMD    Y0, Y15, Y0    // in order
	VMOVDQU   Y0, (DI)
	ADDQ      $128, SI
	ADDQ      $32, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET

// func getInt8AVX2(dst *float32, b *byte, n int, scale float32)
TEXT ·getInt8AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         b+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y12

loop: // 32 elements per turn
	VPMOVSXBD (SI), Y0       // Y0..Y3 = b[0:32]
	VPMOVSXBD 8(SI), Y1
	VPMOVSXBD 16(SI), Y2
	VPMOVSXBD 24(SI), Y3
	VCVTDQ2PS Y0, Y0         // as floats
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VCVTDQ2PS Y3, Y3
	VMULPS    Y12, Y0, Y0    // · scale
	VMULPS    Y12, Y1, Y1
	VMULPS    Y12, Y2, Y2
	VMULPS    Y12, Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $32, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET

// func addInt8AVX2(dst *float32, b *byte, n int, scale float32)
TEXT ·addInt8AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         b+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y12

loop: // 32 elements per turn
	VPMOVSXBD (SI), Y0       // Y0..Y3 = b[0:32]
	VPMOVSXBD 8(SI), Y1
	VPMOVSXBD 16(SI), Y2
	VPMOVSXBD 24(SI), Y3
	VCVTDQ2PS Y0, Y0         // as floats
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VCVTDQ2PS Y3, Y3
	VMULPS    Y12, Y0, Y0    // · scale, rounded
	VMULPS    Y12, Y1, Y1
	VMULPS    Y12, Y2, Y2
	VMULPS    Y12, Y3, Y3
	VADDPS    (DI), Y0, Y0   // += dst[0:32], rounded
	VADDPS    32(DI), Y1, Y1
	VADDPS    64(DI), Y2, Y2
	VADDPS    96(DI), Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $32, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNE       loop
	VZEROUPPER
	RET
