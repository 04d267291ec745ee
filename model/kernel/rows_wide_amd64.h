// Dropout of a row. n is a multiple of WIDTH and not 0.
//
//	BX = offset in bytes   CX = end

#define LENGTH(arg) \
	MOVQ arg, CX \
	SHLQ $2, CX  \
	XORL BX, BX

#define NEXT(label) \
	ADDQ $(4*WIDTH), BX \
	CMPQ BX, CX         \
	JNE  label          \
	VZEROUPPER          \
	RET

// DROPMASK: V0 = src·scale, or 0 where the hash of the unit is below limit; V1 goes
// on to the next units. Overwrites V2 and V3.
#define DROPMASK \
	VMULPS   (SI)(BX*1), V5, V0 \
	VPMULLD  V6, V1, V2         \
	VPADDD   V7, V2, V2         \
	VPSRLD   $16, V2, V3        \
	XOR(V3, V2, V2)             \
	VPMULLD  V9, V2, V2         \
	VPSRLD   $13, V2, V3        \
	XOR(V3, V2, V2)             \
	XOR(V8, V2, V2)             \
	VPMULLD  V10, V2, V2        \
	VPSRLD   $16, V2, V3        \
	XOR(V3, V2, V2)             \
	XOR(V13, V2, V2)            \
	SELECTABOVE(V11, V2, V12, V0, V0) \
	VPADDD   V4, V1, V1

// DROPARGS: V1 = units, V4 = WIDTH, V5 = scale, V6, V9, V10 = factors, V7, V8 = a, b,
// V11 = limit with its sign bit flipped, V12 = 0, V13 = signs.
#define DROPARGS \
	MOVQ         dst+0(FP), DI           \
	MOVQ         src+8(FP), SI           \
	LENGTH(n+16(FP))                     \
	MOVQ         k+24(FP), AX            \
	VMOVUPS      ·dropBits+0(SB), V1     \
	VPBROADCASTD ·dropBits+64(SB), V6    \
	VPBROADCASTD ·dropBits+68(SB), V9    \
	VPBROADCASTD ·dropBits+72(SB), V10   \
	VPBROADCASTD ·dropBits+76(SB), V13   \
	VPBROADCASTD ·dropBits+76+WIDTH/2(SB), V4 \
	VPBROADCASTD dropKey_a(AX), V7       \
	VPBROADCASTD dropKey_b(AX), V8       \
	VPBROADCASTD dropKey_limit(AX), V11  \
	XOR(V13, V11, V11)                   \
	VBROADCASTSS dropKey_scale(AX), V5   \
	XOR(V12, V12, V12)

TEXT DROP(SB), NOSPLIT, $0-32
	DROPARGS

drop:
	DROPMASK
	VMOVUPS V0, (DI)(BX*1)
	NEXT(drop)

TEXT DROPADD(SB), NOSPLIT, $0-32
	DROPARGS

dropadd:
	DROPMASK
	VADDPS  (DI)(BX*1), V0, V0
	VMOVUPS V0, (DI)(BX*1)
	NEXT(dropadd)
