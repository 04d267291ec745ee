//go:build !noasm

#include "textflag.h"

// func unitAVX2(dst *float32, src *byte, n int)
//
// A division takes long, so the quotient is a product with 1/255, corrected by its
// exact remainder. Both steps are fused, which makes the quotient the rounded one:
// TestUnit compares all 256.
TEXT ·unitAVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS inverse<>(SB), Y6 // Y6 = 1/255
	VBROADCASTSS divisor<>(SB), Y7 // Y7 = 255

loop: // 16 elements per turn
	VPMOVZXBD    (SI), Y0
	VPMOVZXBD    8(SI), Y1
	VCVTDQ2PS    Y0, Y0            // Y0, Y1 = v
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y6, Y0, Y2        // Y2, Y3 = q, near v/255
	VMULPS       Y6, Y1, Y3
	VFNMADD231PS Y7, Y2, Y0        // Y0, Y1 = v − 255·q
	VFNMADD231PS Y7, Y3, Y1
	VFMADD231PS  Y6, Y0, Y2        // q += Y0/255
	VFMADD231PS  Y6, Y1, Y3
	VMOVUPS      Y2, (DI)
	VMOVUPS      Y3, 32(DI)
	ADDQ         $16, SI
	ADDQ         $64, DI
	SUBQ         $16, CX
	JNE          loop
	VZEROUPPER
	RET

DATA inverse<>+0(SB)/4, $0x3b808081
GLOBL inverse<>(SB), RODATA|NOPTR, $4

DATA divisor<>+0(SB)/4, $0x437f0000
GLOBL divisor<>(SB), RODATA|NOPTR, $4
