// exp, tanh and erf of vectors, and the constants of all ops. V14 = signs.

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
