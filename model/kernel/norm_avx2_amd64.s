//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "fold_avx2_amd64.h"

// Rows of any width: whole groups of 16 elements, then what is left one by one.
// BX = offset in bytes, DX = bytes of a row's groups, R15 = bytes of a row, X12 = its
// width, CX = rows left.
#define WIDTH \
	MOVQ       normArgs_rows(AX), CX   \
	MOVQ       normArgs_width(AX), R15 \
	VCVTSI2SSQ R15, X12, X12           \
	MOVQ       R15, DX                 \
	ANDQ       $-16, DX                \
	SHLQ       $2, DX                  \
	SHLQ       $2, R15

// GROUPS begins with the first element, and goes to rest in a row without groups.
#define GROUPS(rest) \
	XORL  BX, BX \
	TESTQ DX, DX \
	JEQ   rest

// NEXTGROUP goes on with the next group, NEXTONE with the next element.
#define NEXTGROUP(label) \
	ADDQ $64, BX \
	CMPQ BX, DX  \
	JNE  label

#define NEXTONE(label) \
	ADDQ $4, BX \
	JMP  label

// func normForwardAVX2(a *normArgs)
TEXT ·normForwardAVX2(SB), NOSPLIT, $0-8
	MOVQ   a+0(FP), AX
	MOVQ   normArgs_x(AX), SI
	MOVQ   normArgs_y(AX), DI
	MOVQ   normArgs_gamma(AX), R8
	MOVQ   normArgs_beta(AX), R9
	MOVQ   normArgs_mean(AX), R10
	MOVQ   normArgs_inv(AX), R11
	WIDTH
	VMOVSS normArgs_epsilon(AX), X13
	MOVL   $0x3f800000, BX
	VMOVD  BX, X14                      // X14 = 1

row:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	GROUPS(sumrest)

sum: // 16 elements per turn
	VADDPS (SI)(BX*1), Y0, Y0
	VADDPS 32(SI)(BX*1), Y1, Y1
	NEXTGROUP(sum)
	FOLD(Y0, Y1, X0, X2)

sumrest: // one element per turn
	CMPQ   BX, R15
	JEQ    mean
	VADDSS (SI)(BX*1), X0, X0
	NEXTONE(sumrest)

mean:
	VDIVSS       X12, X0, X0
	VMOVSS       X0, (R10)
	VBROADCASTSS X0, Y8                 // Y8 = mean
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	GROUPS(squaresrest)

squares: // 16 elements per turn
	VMOVUPS (SI)(BX*1), Y2
	VMOVUPS 32(SI)(BX*1), Y3
	VSUBPS  Y8, Y2, Y2
	VSUBPS  Y8, Y3, Y3
	VMULPS  Y2, Y2, Y2
	VMULPS  Y3, Y3, Y3
	VADDPS  Y2, Y0, Y0
	VADDPS  Y3, Y1, Y1
	NEXTGROUP(squares)
	FOLD(Y0, Y1, X0, X2)

squaresrest: // one element per turn
	CMPQ   BX, R15
	JEQ    inv
	VMOVSS (SI)(BX*1), X2
	VSUBSS X8, X2, X2
	VMULSS X2, X2, X2
	VADDSS X2, X0, X0
	NEXTONE(squaresrest)

inv:
	VDIVSS       X12, X0, X0            // variance
	VADDSS       X13, X0, X0
	VSQRTSS      X0, X0, X0
	VDIVSS       X0, X14, X0
	VMOVSS       X0, (R11)
	VBROADCASTSS X0, Y9                 // Y9 = inv
	GROUPS(normrest)

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
	NEXTGROUP(norm)

normrest: // one element per turn
	CMPQ   BX, R15
	JEQ    next
	VMOVSS (SI)(BX*1), X2
	VSUBSS X8, X2, X2
	VMULSS X9, X2, X2
	VMULSS (R8)(BX*1), X2, X2
	VADDSS (R9)(BX*1), X2, X2
	VMOVSS X2, (DI)(BX*1)
	NEXTONE(normrest)

next:
	ADDQ R15, SI
	ADDQ R15, DI
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

// GATHERONE is GATHER for one element, whose sums are X0 and X2.
#define GATHERONE \
	VMOVSS (SI)(BX*1), X4      \
	VSUBSS X8, X4, X4          \
	VMULSS X9, X4, X4          \
	VMOVSS (R12)(BX*1), X5     \
	VMULSS X4, X5, X6          \
	VADDSS (R9)(BX*1), X6, X6  \
	VMOVSS X6, (R9)(BX*1)      \
	VADDSS (R13)(BX*1), X5, X6 \
	VMOVSS X6, (R13)(BX*1)     \
	VMULSS (R8)(BX*1), X5, X5  \
	VADDSS X5, X0, X0          \
	VMULSS X4, X5, X5          \
	VADDSS X5, X2, X2

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

// SPREADONE makes X5 the gradient of one element.
#define SPREADONE \
	VMOVSS (SI)(BX*1), X4     \
	VSUBSS X8, X4, X4         \
	VMULSS X9, X4, X4         \
	VMULSS X11, X4, X4        \
	VMOVSS (R12)(BX*1), X5    \
	VMULSS (R8)(BX*1), X5, X5 \
	VSUBSS X10, X5, X5        \
	VSUBSS X4, X5, X5         \
	VMULSS X9, X5, X5

// func normBackwardAVX2(a *normArgs)
TEXT ·normBackwardAVX2(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), AX
	MOVQ normArgs_x(AX), SI
	MOVQ normArgs_dx(AX), DI
	MOVQ normArgs_dy(AX), R12
	MOVQ normArgs_gamma(AX), R8
	MOVQ normArgs_dGamma(AX), R9
	MOVQ normArgs_dBeta(AX), R13
	MOVQ normArgs_mean(AX), R10
	MOVQ normArgs_inv(AX), R11
	WIDTH

row:
	VBROADCASTSS (R10), Y8              // Y8 = mean
	VBROADCASTSS (R11), Y9              // Y9 = inv
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3
	GROUPS(gatherrest)

gather: // 16 elements per turn
	GATHER(0, Y0, Y2)
	GATHER(32, Y1, Y3)
	NEXTGROUP(gather)
	FOLD(Y0, Y1, X0, X4)
	FOLD(Y2, Y3, X2, X4)

gatherrest: // one element per turn
	CMPQ BX, R15
	JEQ  gathered
	GATHERONE
	NEXTONE(gatherrest)

gathered:
	TESTQ        DI, DI
	JEQ          next                   // nobody wants dx
	VDIVSS       X12, X0, X0
	VDIVSS       X12, X2, X2
	VBROADCASTSS X0, Y10                // Y10 = Σ g/width
	VBROADCASTSS X2, Y11                // Y11 = Σ g·h/width
	CMPB         normArgs_add(AX), $0
	JNE          adds
	GROUPS(writerest)

write: // 16 elements per turn
	SPREAD(0)
	VMOVUPS Y5, (DI)(BX*1)
	SPREAD(32)
	VMOVUPS Y5, 32(DI)(BX*1)
	NEXTGROUP(write)

writerest: // one element per turn
	CMPQ   BX, R15
	JEQ    written
	SPREADONE
	VMOVSS X5, (DI)(BX*1)
	NEXTONE(writerest)

adds:
	GROUPS(addrest)

add: // 16 elements per turn
	SPREAD(0)
	VADDPS  (DI)(BX*1), Y5, Y5
	VMOVUPS Y5, (DI)(BX*1)
	SPREAD(32)
	VADDPS  32(DI)(BX*1), Y5, Y5
	VMOVUPS Y5, 32(DI)(BX*1)
	NEXTGROUP(add)

addrest: // one element per turn
	CMPQ   BX, R15
	JEQ    written
	SPREADONE
	VADDSS (DI)(BX*1), X5, X5
	VMOVSS X5, (DI)(BX*1)
	NEXTONE(addrest)

written:
	ADDQ R15, DI

next:
	ADDQ R15, SI
	ADDQ R15, R12
	ADDQ $4, R10
	ADDQ $4, R11
	DECQ CX
	JNE  row
	VZEROUPPER
	RET
