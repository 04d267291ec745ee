//go:build !noasm

#include "textflag.h"

// func sumAVX2(dst, a, b *float32, n int)
TEXT ·sumAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

loop: // 32 elements per turn
	VMOVUPS (SI), Y0         // Y0..Y3 = a[0:32]
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	VADDPS  (DX), Y0, Y0     // += b[0:32]
	VADDPS  32(DX), Y1, Y1
	VADDPS  64(DX), Y2, Y2
	VADDPS  96(DX), Y3, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DX
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNE     loop
	VZEROUPPER
	RET

// func subtractAVX2(dst, src *float32, n int)
TEXT ·subtractAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loop: // 32 elements per turn
	VMOVUPS (DI), Y0         // Y0..Y3 = dst[0:32]
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VSUBPS  (SI), Y0, Y0     // -= src[0:32]
	VSUBPS  32(SI), Y1, Y1
	VSUBPS  64(SI), Y2, Y2
	VSUBPS  96(SI), Y3, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNE     loop
	VZEROUPPER
	RET
