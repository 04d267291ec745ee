// FOLD adds the lanes of a (0 to 7) and b (8 to 15) in pairs, as fold does: x, the
// low half of a, is the sum. Overwrites t.
#define FOLD(a, b, x, t) \
	VADDPS       b, a, a      \
	VEXTRACTF128 $1, a, t     \
	VADDPS       t, x, x      \
	VPERMILPS    $0x0e, x, t  \
	VADDPS       t, x, x      \
	VPERMILPS    $0x01, x, t  \
	VADDSS       t, x, x
