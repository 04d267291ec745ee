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

// Places in elementBits.
#define SIGNS     0
#define ONE       1
#define TOP       2
#define BOTTOM    3
#define LOG2E     4
#define ROUNDER   5
#define LN2HIGH   6
#define LN2LOW    7
#define TANHSPLIT 8
#define ERFSPLIT  9
#define ERFTOP    10
#define HALF      11
#define ROOTHALF  12
#define DENSITY   13
#define LEAST     14
#define TWO23     15
#define MINUS23   16
#define HALFBITS  17
#define MANTISSA  18
#define MINUSINF  19
#define NAN       20
#define INF       21
#define TWO       22

// CONSTANT loads one of them into each element of v.
#define CONSTANT(i, v) VBROADCASTSS ·elementBits+4*i(SB), v

// HORNER: p = p·x + c[i] of a series, rounded twice.
#define HORNER(series, i, x, p, tmp) \
	VMULPS       x, p, p               \
	VBROADCASTSS series+4*i(SB), tmp   \
	VADDPS       tmp, p, p

// ABS: dst = |x|. Overwrites tmp.
#define ABS(x, dst, tmp) \
	AND(V14, x, tmp)     \
	XOR(tmp, x, dst)

// EXP: V0 = exp32(V0). Overwrites V1..V3.
#define EXP \
	CONSTANT(TOP, V1)                     \
	VMINPS V0, V1, V0                     \
	CONSTANT(BOTTOM, V1)                  \
	VMAXPS V0, V1, V0                     \
	CONSTANT(LOG2E, V1)                   \
	VMULPS V1, V0, V1                     \
	CONSTANT(ROUNDER, V2)                 \
	VADDPS V2, V1, V1                     \
	VSUBPS V2, V1, V3                     \
	VPSUBD V2, V1, V1                     \
	CONSTANT(LN2HIGH, V2)                 \
	VMULPS V2, V3, V2                     \
	VSUBPS V2, V0, V0                     \
	CONSTANT(LN2LOW, V2)                  \
	VMULPS V2, V3, V2                     \
	VSUBPS V2, V0, V0                     \
	VBROADCASTSS ·expSeries+20(SB), V2    \
	HORNER(·expSeries, 4, V0, V2, V3)     \
	HORNER(·expSeries, 3, V0, V2, V3)     \
	HORNER(·expSeries, 2, V0, V2, V3)     \
	HORNER(·expSeries, 1, V0, V2, V3)     \
	HORNER(·expSeries, 0, V0, V2, V3)     \
	VMULPS V0, V2, V2                     \
	VMULPS V0, V2, V2                     \
	VADDPS V0, V2, V2                     \
	CONSTANT(ONE, V3)                     \
	VADDPS V3, V2, V2                     \
	VPSRAD $1, V1, V0                     \
	VPSUBD V0, V1, V1                     \
	VPSLLD $23, V0, V0                    \
	VPADDD V3, V0, V0                     \
	VPSLLD $23, V1, V1                    \
	VPADDD V3, V1, V1                     \
	VMULPS V0, V2, V0                     \
	VMULPS V1, V0, V0

// TANH: V0 = tanh32(V5). Overwrites V1..V4 and V6.
#define TANH \
	ABS(V5, V6, V1)                       \
	VADDPS V6, V6, V0                     \
	EXP                                   \
	CONSTANT(ONE, V3)                     \
	VADDPS V3, V0, V0                     \
	CONSTANT(TWO, V1)                     \
	VDIVPS V0, V1, V0                     \
	VSUBPS V0, V3, V0                     \
	AND(V14, V5, V1)                      \
	OR(V1, V0, V0)                        \
	VMULPS V5, V5, V1                     \
	VBROADCASTSS ·tanhSeries+20(SB), V2   \
	HORNER(·tanhSeries, 4, V1, V2, V3)    \
	HORNER(·tanhSeries, 3, V1, V2, V3)    \
	HORNER(·tanhSeries, 2, V1, V2, V3)    \
	HORNER(·tanhSeries, 1, V1, V2, V3)    \
	HORNER(·tanhSeries, 0, V1, V2, V3)    \
	VMULPS V1, V2, V2                     \
	VMULPS V5, V2, V2                     \
	VADDPS V5, V2, V2                     \
	CONSTANT(TANHSPLIT, V1)               \
	SELECT(LT, V6, V1, V2, V0, V0)

// ERF: V0 = erf32(V5). Overwrites V1..V4 and V6.
#define ERF \
	ABS(V5, V6, V1)                       \
	CONSTANT(ERFTOP, V1)                  \
	VMINPS V6, V1, V1                     \
	VBROADCASTSS ·erfcSeries+28(SB), V0   \
	HORNER(·erfcSeries, 6, V1, V0, V3)    \
	HORNER(·erfcSeries, 5, V1, V0, V3)    \
	HORNER(·erfcSeries, 4, V1, V0, V3)    \
	HORNER(·erfcSeries, 3, V1, V0, V3)    \
	HORNER(·erfcSeries, 2, V1, V0, V3)    \
	HORNER(·erfcSeries, 1, V1, V0, V3)    \
	HORNER(·erfcSeries, 0, V1, V0, V3)    \
	EXP                                   \
	CONSTANT(ONE, V3)                     \
	VSUBPS V0, V3, V0                     \
	AND(V14, V5, V1)                      \
	OR(V1, V0, V0)                        \
	VMULPS V5, V5, V1                     \
	VBROADCASTSS ·erfSeries+24(SB), V2    \
	HORNER(·erfSeries, 5, V1, V2, V3)     \
	HORNER(·erfSeries, 4, V1, V2, V3)     \
	HORNER(·erfSeries, 3, V1, V2, V3)     \
	HORNER(·erfSeries, 2, V1, V2, V3)     \
	HORNER(·erfSeries, 1, V1, V2, V3)     \
	HORNER(·erfSeries, 0, V1, V2, V3)     \
	VMULPS V5, V2, V2                     \
	VADDPS V5, V2, V2                     \
	CONSTANT(ERFSPLIT, V1)                \
	SELECT(LT, V6, V1, V2, V0, V0)

TEXT ADD(SB), NOSPLIT, $0-36
	ARGS

add:
	LOADA
	VADDPS (DX)(BX*1), V0, V0
	NEXT(add, V0)

TEXT AXPY(SB), NOSPLIT, $0-36
	ARGS

axpy:
	LOADA
	VMULPS (DX)(BX*1), V10, V1
	VADDPS V1, V0, V0           // a + b·x
	NEXT(axpy, V0)

TEXT SCALE(SB), NOSPLIT, $0-36
	ARGS

scale:
	VMULPS (SI)(BX*1), V10, V0
	NEXT(scale, V0)

TEXT DIVIDE(SB), NOSPLIT, $0-36
	ARGS

divide:
	LOADA
	VDIVPS V10, V0, V0
	NEXT(divide, V0)

TEXT ADDQUOTIENT(SB), NOSPLIT, $0-36
	ARGS

quotient:
	LOADB
	VDIVPS V10, V1, V1
	VADDPS (SI)(BX*1), V1, V0   // a + b/x
	NEXT(quotient, V0)

TEXT SHIFT(SB), NOSPLIT, $0-36
	ARGS

shift:
	LOADA
	VSUBPS V10, V0, V0
	NEXT(shift, V0)

TEXT EXPONENTIAL(SB), NOSPLIT, $0-36
	ARGS

exp:
	LOADA
	EXP
	NEXT(exp, V0)

TEXT LOGARITHM(SB), NOSPLIT, $0-36
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

TEXT ERRORFUNCTION(SB), NOSPLIT, $0-36
	ARGS

erf:
	VMOVUPS (SI)(BX*1), V5
	ERF
	NEXT(erf, V0)

TEXT TANHYPERBOLIC(SB), NOSPLIT, $0-36
	ARGS

tanh:
	VMOVUPS (SI)(BX*1), V5
	TANH
	NEXT(tanh, V0)

TEXT TANHGRAD(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ONE, V13)

tanhgrad:
	LOADA
	LOADB
	VMULPS V1, V1, V1
	VSUBPS V1, V13, V1
	VMULPS V1, V0, V0           // dy·(1−y²)
	NEXT(tanhgrad, V0)

TEXT SIGMOID(SB), NOSPLIT, $0-36
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

TEXT SIGMOIDGRAD(SB), NOSPLIT, $0-36
	ARGS
	CONSTANT(ONE, V13)

sigmoidgrad:
	LOADA
	LOADB
	VMULPS V1, V0, V0
	VSUBPS V1, V13, V1
	VMULPS V1, V0, V0           // (dy·y)·(1−y)
	NEXT(sigmoidgrad, V0)

TEXT GELU(SB), NOSPLIT, $0-36
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

TEXT GELUGRAD(SB), NOSPLIT, $0-36
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

TEXT RELU(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

relu:
	LOADA
	SELECT(LE, V0, V13, V13, V0, V0)
	NEXT(relu, V0)

TEXT RELUGRAD(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

relugrad:
	LOADA
	LOADB
	SELECT(LE, V1, V13, V13, V0, V0)
	NEXT(relugrad, V0)

TEXT LEAKYRELU(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

leaky:
	LOADA
	VMULPS V10, V0, V1
	SELECT(LE, V0, V13, V1, V0, V0)
	NEXT(leaky, V0)

TEXT LEAKYRELUGRAD(SB), NOSPLIT, $0-36
	ARGS
	XOR(V13, V13, V13)

leakygrad:
	LOADA
	LOADB
	VMULPS V10, V0, V2
	SELECT(LE, V1, V13, V2, V0, V0)
	NEXT(leakygrad, V0)
