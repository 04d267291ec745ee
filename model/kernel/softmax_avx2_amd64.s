//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "fold_avx2_amd64.h"

// ARGS: DI = p, SI = z, R9 = out, CX = rows, DX = bytes of a row, Y12 and Y13 = the
// lanes that a row has.
#define ARGS \
	MOVQ    a+0(FP), AX              \
	MOVQ    softmaxArgs_p(AX), DI    \
	MOVQ    softmaxArgs_z(AX), SI    \
	MOVQ    softmaxArgs_out(AX), R9  \
	MOVQ    softmaxArgs_rows(AX), CX \
	MOVQ    softmaxArgs_k(AX), DX    \
	LEAQ    ·laneMask+64(SB), R10    \
	SHLQ    $2, DX                   \
	SUBQ    DX, R10                  \
	VMOVUPS (R10), Y12               \
	VMOVUPS 32(R10), Y13

// func shiftRowsAVX2(a *softmaxArgs)
TEXT ·shiftRowsAVX2(SB), NOSPLIT, $0-8
	ARGS
	VBROADCASTSS ·laneBottom(SB), Y11

shift: // one row per turn
	VMASKMOVPS   (SI), Y12, Y4
	VMASKMOVPS   32(SI), Y13, Y5        // Y4, Y5 = z
	VBLENDVPS    Y12, Y4, Y11, Y0
	VBLENDVPS    Y13, Y5, Y11, Y1       // Y0, Y1 = z, or −Inf
	VMAXPS       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X1, X0, X0
	VPERMILPS    $0x0e, X0, X1
	VMAXPS       X1, X0, X0
	VPERMILPS    $0x01, X0, X1
	VMAXSS       X1, X0, X0
	VMOVSS       X0, (R9)               // out[0] = top
	VBROADCASTSS X0, Y0
	VSUBPS       Y0, Y4, Y4
	VSUBPS       Y0, Y5, Y5
	VMASKMOVPS   Y4, Y12, (DI)          // p = z − top
	VMASKMOVPS   Y5, Y13, 32(DI)
	ADDQ         DX, SI
	ADDQ         DX, DI
	ADDQ         $12, R9
	DECQ         CX
	JNE          shift
	VZEROUPPER
	RET

// func shareRowsAVX2(a *softmaxArgs)
TEXT ·shareRowsAVX2(SB), NOSPLIT, $0-8
	ARGS
	MOVQ    softmaxArgs_y(AX), R8
	MOVQ    softmaxArgs_step(AX), R11
	VMOVUPS ·laneNumber+0(SB), Y10
	VMOVUPS ·laneNumber+32(SB), Y11

share: // one row per turn
	VMASKMOVPS   (DI), Y12, Y4
	VMASKMOVPS   32(DI), Y13, Y5        // Y4, Y5 = e
	VBROADCASTSS (R8), Y6
	VCMPPS       $0, Y10, Y6, Y7
	VCMPPS       $0, Y11, Y6, Y8
	VANDNPS      Y4, Y7, Y7
	VANDNPS      Y5, Y8, Y8             // Y7, Y8 = e without the class's
	VMOVUPS      Y4, Y0
	FOLD(Y0, Y5, X0, X1)
	FOLD(Y7, Y8, X7, X2)
	VMOVSS       X0, 4(R9)              // out[1] = sum
	VMOVSS       X7, 8(R9)              // out[2] = sum of the others
	VBROADCASTSS X0, Y0
	VDIVPS       Y0, Y4, Y4
	VDIVPS       Y0, Y5, Y5
	VMASKMOVPS   Y4, Y12, (DI)          // p = e/sum
	VMASKMOVPS   Y5, Y13, 32(DI)
	ADDQ         DX, DI
	ADDQ         $12, R9
	ADDQ         R11, R8
	DECQ         CX
	JNE          share
	VZEROUPPER
	RET
