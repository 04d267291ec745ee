//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"
#include "fold_avx2_amd64.h"

#define DROP ·dropAVX2
#define DROPADD ·dropAddAVX2

#include "rows_wide_amd64.h"

// func groupSumAVX2(x *float32, n int) float32
TEXT ·groupSumAVX2(SB), NOSPLIT, $0-20
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1

sum: // 16 elements per turn
	VADDPS (SI), Y0, Y0
	VADDPS 32(SI), Y1, Y1
	ADDQ   $64, SI
	SUBQ   $16, CX
	JNE    sum
	FOLD(Y0, Y1, X0, X2)
	VZEROUPPER
	MOVSS  X0, ret+16(FP)
	RET

// func groupSquaresAVX2(x *float32, n int, mean float32) float32
TEXT ·groupSquaresAVX2(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS mean+16(FP), Y4
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1

squares: // 16 elements per turn
	VMOVUPS (SI), Y2
	VMOVUPS 32(SI), Y3
	VSUBPS  Y4, Y2, Y2
	VSUBPS  Y4, Y3, Y3
	VMULPS  Y2, Y2, Y2
	VMULPS  Y3, Y3, Y3
	VADDPS  Y2, Y0, Y0
	VADDPS  Y3, Y1, Y1
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNE     squares
	FOLD(Y0, Y1, X0, X2)
	VZEROUPPER
	MOVSS   X0, ret+24(FP)
	RET
