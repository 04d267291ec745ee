// The kernels of the headers *_wide_amd64.h are written once for both widths of
// vectors. This header makes them AVX2: 8 elements in a register.

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define V11 Y11
#define V12 Y12
#define V13 Y13
#define V14 Y14

#define WIDTH 8

// dst = a OP b ? yes : no, by the predicate of VCMPPS. Overwrites Y15.
#define SELECT(pred, a, b, yes, no, dst) \
	VCMPPS    $pred, b, a, Y15     \
	VBLENDVPS Y15, yes, no, dst

// dst = a == b ? yes : no, of integers. Overwrites Y15.
#define SELECTEQ(a, b, yes, no, dst) \
	VPCMPEQD  b, a, Y15          \
	VBLENDVPS Y15, yes, no, dst

// dst = a > b ? yes : no, of signed integers. Overwrites Y15.
#define SELECTABOVE(a, b, yes, no, dst) \
	VPCMPGTD  b, a, Y15          \
	VBLENDVPS Y15, yes, no, dst

// best, arg = x, cell where x is above best, or NaN. Overwrites Y14 and Y15.
#define TAKEMAX(x, best, cell, arg) \
	VCMPPS    $GT, best, x, Y15      \
	VCMPPS    $UNORDERED, x, x, Y14  \
	VORPS     Y14, Y15, Y15          \
	VBLENDVPS Y15, x, best, best     \
	VBLENDVPS Y15, cell, arg, arg

// Bitwise operations.
#define AND(a, b, dst) VANDPS a, b, dst
#define OR(a, b, dst)  VORPS a, b, dst
#define XOR(a, b, dst) VXORPS a, b, dst

// Predicates of SELECT: ordered, quiet.
#define EQ 0x00
#define NE 0x04
#define LE 0x12
#define LT 0x11
#define GT 0x1e
#define GE 0x1d
#define UNORDERED 0x03
