//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "fold_avx2_amd64.h"

// Rows of whole groups of 16 elements. BX = offset in bytes, DX = bytes of a row,
// X12 = its width, CX = rows left.

// func normForwardAVX2(a *normArgs)
TEXT ·normForwardAVX2(SB), NOSPLIT, $0-8
	MOVQ         a+0(FP), AX
	MOVQ         normArgs_x(AX), SI
	MOVQ         normArgs_y(AX), DI
	MOVQ         normArgs_gamma(AX), R8
	MOVQ         normArgs_beta(AX), R9
	MOVQ         normArgs_mean(AX), R10
	MOVQ         normArgs_inv(AX), R11
	MOVQ         normArgs_rows(AX), CX
	MOVQ         normArgs_width(AX), DX
	VCVTSI2SSQ   DX, X12, X12
	SHLQ         $2, DX
	VMOVSS       normArgs_epsilon(AX), X13
	MOVL         $0x3f800000, BX
	VMOVD        BX, X14                // X14 = 1

row:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	XORL   BX, BX

sum: // 16 elements per turn
	VADDPS       (SI)(BX*1), Y0, Y0
	VADDPS       32(SI)(BX*1), Y1, Y1
	ADDQ         $64, BX
	CMPQ         BX, DX
	JNE          sum
	FOLD(Y0, Y1, X0, X2)
	VDIVSS       X12, X0, X0
	VMOVSS       X0, (R10)              // mean
	VBROADCASTSS X0, Y8
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	XORL         BX, BX

squares: // 16 elements per turn
	VMOVUPS      (SI)(BX*1), Y2
	VMOVUPS      32(SI)(BX*1), Y3
	VSUBPS       Y8, Y2, Y2
	VSUBPS       Y8, Y3, Y3
	VMULPS       Y2, Y2, Y2
	VMULPS       Y3, Y3, Y3
	VADDPS       Y2, Y0, Y0
	VADDPS       Y3, Y1, Y1
	ADDQ         $64, BX
	CMPQ         BX, DX
	JNE          squares
	FOLD(Y0, Y1, X0, X2)
	VDIVSS       X12, X0, X0            // variance
	VADDSS       X13, X0, X0
	VSQRTSS      X0, X0, X0
	VDIVSS       X0, X14, X0
	VMOVSS       X0, (R11)              // inv
	VBROADCASTSS X0, Y9
	XORL         BX, BX

norm: // 16 elements per turn
	VMOVUPS (SI)(BX*1), Y2
	VMOVUPS 32(SI)(BX*1), Y3
	VSUBPS  Y8, Y2, Y2
	VSUBPS  Y8, Y3, Y3
	VMULPS  Y9, Y2, Y2
	VMULPS  Y9, Y3, Y3
	VMULPS  (R8)(BX*1), Y2, Y2
	VMULPS  32(R8)(BX*1), Y3, Y3
	VADDPS  (R9)(BX*1), Y2, Y2
	VADDPS  32(R9)(BX*1), Y3, Y3
	VMOVUPS Y2, (DI)(BX*1)
	VMOVUPS Y3, 32(DI)(BX*1)
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     norm

	ADDQ DX, SI
	ADDQ DX, DI
	ADDQ $4, R10
	ADDQ $4, R11
	DECQ CX
	JNE  row
	VZEROUPPER
	RET

// GATHER adds 8 elements to the sums: Y4 = h, Y5 = dy, then g; s and p are the lanes
// of Σ g and Σ g·h.
#define GATHER(at, s, p) \
	VMOVUPS at(SI)(BX*1), Y4      \
	VSUBPS  Y8, Y4, Y4            \
	VMULPS  Y9, Y4, Y4            \
	VMOVUPS at(R12)(BX*1), Y5     \
	VMULPS  Y4, Y5, Y6            \
	VADDPS  at(R9)(BX*1), Y6, Y6  \
	VMOVUPS Y6, at(R9)(BX*1)      \
	VADDPS  at(R13)(BX*1), Y5, Y6 \
	VMOVUPS Y6, at(R13)(BX*1)     \
	VMULPS  at(R8)(BX*1), Y5, Y5  \
	VADDPS  Y5, s, s              \
	VMULPS  Y4, Y5, Y5            \
	VADDPS  Y5, p, p

// SPREAD makes Y5 the gradient of 8 elements.
#define SPREAD(at) \
	VMOVUPS at(SI)(BX*1), Y4     \
	VSUBPS  Y8, Y4, Y4           \
	VMULPS  Y9, Y4, Y4           \
	VMULPS  Y11, Y4, Y4          \
	VMOVUPS at(R12)(BX*1), Y5    \
	VMULPS  at(R8)(BX*1), Y5, Y5 \
	VSUBPS  Y10, Y5, Y5          \
	VSUBPS  Y4, Y5, Y5           \
	VMULPS  Y9, Y5, Y5

// func normBackwardAVX2(a *normArgs)
TEXT ·normBackwardAVX2(SB), NOSPLIT, $0-8
	MOVQ       a+0(FP), AX
	MOVQ       normArgs_x(AX), SI
	MOVQ       normArgs_y(AX), DI          // DI = dx
	MOVQ       normArgs_dy(AX), R12
	MOVQ       normArgs_gamma(AX), R8
	MOVQ       normArgs_dGamma(AX), R9
	MOVQ       normArgs_beta(AX), R13      // R13 = sums of dBeta
	MOVQ       normArgs_mean(AX), R10
	MOVQ       normArgs_inv(AX), R11
	MOVQ       normArgs_rows(AX), CX
	MOVQ       normArgs_width(AX), DX
	VCVTSI2SSQ DX, X12, X12
	SHLQ       $2, DX

row:
	VBROADCASTSS (R10), Y8              // Y8 = mean
	VBROADCASTSS (R11), Y9              // Y9 = inv
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3
	XORL         BX, BX

gather: // 16 elements per turn
	GATHER(0, Y0, Y2)
	GATHER(32, Y1, Y3)
	ADDQ         $64, BX
	CMPQ         BX, DX
	JNE          gather
	TESTQ        DI, DI
	JEQ          next
	FOLD(Y0, Y1, X0, X4)
	FOLD(Y2, Y3, X2, X4)
	VDIVSS       X12, X0, X0
	VDIVSS       X12, X2, X2
	VBROADCASTSS X0, Y10                // Y10 = Σ g/width
	VBROADCASTSS X2, Y11                // Y11 = Σ g·h/width
	XORL         BX, BX
	CMPB         normArgs_add(AX), $0
	JNE          add

write: // 16 elements per turn
	SPREAD(0)
	VMOVUPS Y5, (DI)(BX*1)
	SPREAD(32)
	VMOVUPS Y5, 32(DI)(BX*1)
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     write
	ADDQ    DX, DI
	JMP     next

add: // 16 elements per turn
	SPREAD(0)
	VADDPS  (DI)(BX*1), Y5, Y5
	VMOVUPS Y5, (DI)(BX*1)
	SPREAD(32)
	VADDPS  32(DI)(BX*1), Y5, Y5
	VMOVUPS Y5, 32(DI)(BX*1)
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     add
	ADDQ    DX, DI

next:
	ADDQ DX, SI
	ADDQ DX, R12
	ADDQ $4, R10
	ADDQ $4, R11
	DECQ CX
	JNE  row
	VZEROUPPER
	RET
