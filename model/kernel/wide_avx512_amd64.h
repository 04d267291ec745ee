// The kernels of the headers *_wide_amd64.h are written once for both widths of
// vectors. This header makes them AVX-512: 16 elements in a register.

#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define V10 Z10
#define V11 Z11
#define V12 Z12
#define V13 Z13
#define V14 Z14

#define WIDTH 16

// dst = a OP b ? yes : no, by the predicate of VCMPPS. Overwrites K1.
#define SELECT(pred, a, b, yes, no, dst) \
	VCMPPS    $pred, b, a, K1      \
	VBLENDMPS yes, no, K1, dst

// dst = a == b ? yes : no, of integers. Overwrites K1.
#define SELECTEQ(a, b, yes, no, dst) \
	VPCMPEQD  b, a, K1           \
	VBLENDMPS yes, no, K1, dst

// dst = a > b ? yes : no, of signed integers. Overwrites K1.
#define SELECTABOVE(a, b, yes, no, dst) \
	VPCMPGTD  b, a, K1           \
	VBLENDMPS yes, no, K1, dst

// best, arg = x, cell where x is above best, or NaN. Overwrites K1 and K2.
#define TAKEMAX(x, best, cell, arg) \
	VCMPPS    $GT, best, x, K1       \
	VCMPPS    $UNORDERED, x, x, K2   \
	KORW      K2, K1, K1             \
	VMOVUPS   x, K1, best            \
	VMOVDQU32 cell, K1, arg

// Bitwise operations.
#define AND(a, b, dst) VPANDD a, b, dst
#define OR(a, b, dst)  VPORD a, b, dst
#define XOR(a, b, dst) VPXORD a, b, dst

// Predicates of SELECT: ordered, quiet.
#define EQ 0x00
#define NE 0x04
#define LE 0x12
#define LT 0x11
#define GT 0x1e
#define GE 0x1d
#define UNORDERED 0x03
