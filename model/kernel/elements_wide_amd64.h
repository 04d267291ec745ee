// The ops of elements.go, one TEXT each. n is a multiple of WIDTH and not 0.
//
//	DI = dst   SI = a   DX = b   BX = offset in bytes   CX = end
//	V0 = a   V1 = b   V10 = x, where an op has it   V14 = signs

#define ARGS \
	MOVQ         dst+0(FP), DI    \
	MOVQ         a+8(FP), SI      \
	MOVQ         b+16(FP), DX     \
	MOVQ         n+24(FP), CX     \
	VBROADCASTSS x+32(FP), V10    \
	VBROADCASTSS ·elementBits+4*SIGNS(SB), V14 \
	SHLQ         $2, CX           \
	XORL         BX, BX

#define LOADA VMOVUPS (SI)(BX*1), V0
#define LOADB VMOVUPS (DX)(BX*1), V1

// NEXT stores dst and goes on with the next WIDTH elements.
#define NEXT(label, dst) \
	VMOVUPS dst, (DI)(BX*1)  \
	ADDQ    $(4*WIDTH), BX   \
	CMPQ    BX, CX           \
	JNE     label            \
	VZEROUPPER               \
	RET

#include "exp_wide_amd64.h"

TEXT add<>(SB), NOSPLIT, $0-36
	ARGS

add:
	LOADA
	VADDPS (DX)(BX*1), V0, V0
	NEXT(add, V0)

TEXT multiply<>(SB), NOSPLIT, $0-36
	ARGS

multiply:
	LOADA
	VMULPS (DX)(BX*1), V0, V0
	NEXT(multiply, V0)

TEXT axpy<>(SB), NOSPLIT, $0-36
	ARGS

axpy:
	LOADA
	VMULPS (DX)(BX*1), V10, V1
	VADDPS V1, V0, V0           // a + b·x
	NEXT(axpy, V0)

TEXT scale<>(SB), NOSPLIT, $0-36
	ARGS

scale:
	VMULPS (SI)(BX*1), V10, V0
	NEXT(scale, V0)

TEXT divide<>(SB), NOSPLIT, $0-36
	ARGS

divide:
	LOADA
	VDIVPS V10, V0, V0
	NEXT(divide, V0)

TEXT addQuotient<>(SB), NOSPLIT, $0-36
	ARGS

quotient:
	LOADB
	VDIVPS V10, V1, V1
	VADDPS (SI)(BX*1), V1, V0   // a + b/x
	NEXT(quotient, V0)

TEXT shift<>(SB), NOSPLIT, $0-36
	ARGS

shift:
	LOADA
	VSUBPS V10, V0, V0
	NEXT(shift, V0)

TEXT clamp<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V14, V10, V11)          // V11 = −x

clamp:
	LOADA
	VMINPS V0, V10, V0
	VMAXPS V0, V11, V0
	NEXT(clamp, V0)

TEXT average<>(SB), NOSPLIT, $0-36
	ARGS

average:
	LOADA
	LOADB
	VSUBPS V1, V0, V1
	VMULPS V10, V1, V1
	VSUBPS V1, V0, V0           // a − (a−b)·x
	NEXT(average, V0)

TEXT exp<>(SB), NOSPLIT, $0-36
	ARGS

exp:
	LOADA
	EXP
	NEXT(exp, V0)

TEXT log<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

log:
	LOADA
	CONSTANT(LEAST, V2)
	CONSTANT(TWO23, V3)
	VMULPS V3, V0, V3
	SELECT(LT, V0, V2, V3, V0, V4) // V4 = m
	CONSTANT(MINUS23, V3)
	SELECT(LT, V0, V2, V3, V13, V5) // V5 = shift
	CONSTANT(HALFBITS, V6)
	VPSUBD    V6, V4, V4            // V4 = bits
	VPSRAD    $23, V4, V3
	VCVTDQ2PS V3, V3
	VADDPS    V5, V3, V5            // V5 = k
	CONSTANT(MANTISSA, V3)
	AND(V3, V4, V4)
	VPADDD    V6, V4, V4
	CONSTANT(ONE, V3)
	VSUBPS    V3, V4, V4            // V4 = f
	VBROADCASTSS ·logSeries+32(SB), V2
	HORNER(·logSeries, 7, V4, V2, V3)
	HORNER(·logSeries, 6, V4, V2, V3)
	HORNER(·logSeries, 5, V4, V2, V3)
	HORNER(·logSeries, 4, V4, V2, V3)
	HORNER(·logSeries, 3, V4, V2, V3)
	HORNER(·logSeries, 2, V4, V2, V3)
	HORNER(·logSeries, 1, V4, V2, V3)
	HORNER(·logSeries, 0, V4, V2, V3)
	VMULPS    V4, V4, V6            // V6 = z
	VMULPS    V4, V2, V2
	VMULPS    V6, V2, V2
	CONSTANT(LN2LOW, V3)
	VMULPS    V3, V5, V3
	VADDPS    V3, V2, V2
	CONSTANT(HALF, V3)
	VMULPS    V3, V6, V6
	VSUBPS    V6, V2, V2
	VADDPS    V4, V2, V2
	CONSTANT(LN2HIGH, V3)
	VMULPS    V3, V5, V3
	VADDPS    V3, V2, V2            // V2 = f + y + k·ln 2
	CONSTANT(MINUSINF, V3)
	SELECT(EQ, V0, V13, V3, V2, V2)
	CONSTANT(NAN, V3)
	SELECT(GE, V0, V13, V2, V3, V2)
	CONSTANT(INF, V3)
	SELECT(EQ, V0, V3, V0, V2, V2)
	NEXT(log, V2)

TEXT tanh<>(SB), NOSPLIT, $0-36
	ARGS

tanh:
	VMOVUPS (SI)(BX*1), V5
	TANH
	NEXT(tanh, V0)

TEXT tanhGrad<>(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ONE, V13)

tanhgrad:
	LOADA
	LOADB
	VMULPS V1, V1, V1
	VSUBPS V1, V13, V1
	VMULPS V1, V0, V0           // dy·(1−y²)
	NEXT(tanhgrad, V0)

TEXT sigmoid<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

sigmoid:
	VMOVUPS (SI)(BX*1), V5
	OR(V14, V5, V0)
	EXP                         // V0 = exp(−|x|)
	CONSTANT(ONE, V3)
	SELECT(LT, V5, V13, V0, V3, V1)
	VADDPS V3, V0, V0
	VDIVPS V0, V1, V0
	NEXT(sigmoid, V0)

TEXT sigmoidGrad<>(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ONE, V13)

sigmoidgrad:
	LOADA
	LOADB
	VMULPS V1, V0, V0
	VSUBPS V1, V13, V1
	VMULPS V1, V0, V0           // (dy·y)·(1−y)
	NEXT(sigmoidgrad, V0)

TEXT gelu<>(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ROOTHALF, V12)
	CONSTANT(HALF, V13)

gelu:
	VMOVUPS (SI)(BX*1), V8
	VMULPS  V12, V8, V5
	ERF
	CONSTANT(ONE, V3)
	VADDPS  V3, V0, V0
	VMULPS  V13, V8, V8
	VMULPS  V8, V0, V0          // (x/2)·(1+erf)
	NEXT(gelu, V0)

TEXT geluGrad<>(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ROOTHALF, V12)
	CONSTANT(HALF, V13)
	CONSTANT(DENSITY, V11)

gelugrad:
	VMOVUPS (DX)(BX*1), V8      // V8 = x
	VMULPS  V12, V8, V5
	ERF
	CONSTANT(ONE, V3)
	VADDPS  V3, V0, V0
	VMULPS  V13, V0, V9         // V9 = Φ(x)
	VMULPS  V8, V8, V0
	VMULPS  V13, V0, V0
	XOR(V14, V0, V0)
	EXP
	VMULPS  V11, V0, V0         // V0 = φ(x)
	VMULPS  V8, V0, V0
	VADDPS  V9, V0, V0
	VMULPS  (SI)(BX*1), V0, V0
	NEXT(gelugrad, V0)

TEXT relu<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

relu:
	LOADA
	SELECT(LE, V0, V13, V13, V0, V0)
	NEXT(relu, V0)

TEXT reluGrad<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

relugrad:
	LOADA
	LOADB
	SELECT(LE, V1, V13, V13, V0, V0)
	NEXT(relugrad, V0)

TEXT leakyReLU<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

leaky:
	LOADA
	VMULPS V10, V0, V1
	SELECT(LE, V0, V13, V1, V0, V0)
	NEXT(leaky, V0)

TEXT leakyReLUGrad<>(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

leakygrad:
	LOADA
	LOADB
	VMULPS V10, V0, V2
	SELECT(LE, V1, V13, V2, V0, V0)
	NEXT(leakygrad, V0)

// ELEMENTS jumps to the body of op o.
TEXT ELEMENTS(SB), NOSPLIT, $0-48
	MOVQ o+40(FP), AX
	LEAQ bodies<>(SB), CX
	JMP  (CX)(AX*8)

DATA bodies<>+(8*const_opAdd)(SB)/8, $add<>(SB)
DATA bodies<>+(8*const_opMultiply)(SB)/8, $multiply<>(SB)
DATA bodies<>+(8*const_opAxpy)(SB)/8, $axpy<>(SB)
DATA bodies<>+(8*const_opScale)(SB)/8, $scale<>(SB)
DATA bodies<>+(8*const_opDivide)(SB)/8, $divide<>(SB)
DATA bodies<>+(8*const_opAddQuotient)(SB)/8, $addQuotient<>(SB)
DATA bodies<>+(8*const_opShift)(SB)/8, $shift<>(SB)
DATA bodies<>+(8*const_opClamp)(SB)/8, $clamp<>(SB)
DATA bodies<>+(8*const_opAverage)(SB)/8, $average<>(SB)
DATA bodies<>+(8*const_opExp)(SB)/8, $exp<>(SB)
DATA bodies<>+(8*const_opLog)(SB)/8, $log<>(SB)
DATA bodies<>+(8*const_opTanh)(SB)/8, $tanh<>(SB)
DATA bodies<>+(8*const_opTanhGrad)(SB)/8, $tanhGrad<>(SB)
DATA bodies<>+(8*const_opSigmoid)(SB)/8, $sigmoid<>(SB)
DATA bodies<>+(8*const_opSigmoidGrad)(SB)/8, $sigmoidGrad<>(SB)
DATA bodies<>+(8*const_opGELU)(SB)/8, $gelu<>(SB)
DATA bodies<>+(8*const_opGELUGrad)(SB)/8, $geluGrad<>(SB)
DATA bodies<>+(8*const_opReLU)(SB)/8, $relu<>(SB)
DATA bodies<>+(8*const_opReLUGrad)(SB)/8, $reluGrad<>(SB)
DATA bodies<>+(8*const_opLeakyReLU)(SB)/8, $leakyReLU<>(SB)
DATA bodies<>+(8*const_opLeakyReLUGrad)(SB)/8, $leakyReLUGrad<>(SB)
GLOBL bodies<>(SB), RODATA, $(8*const_opCount)
