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
