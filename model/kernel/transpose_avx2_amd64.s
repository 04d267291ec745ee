//go:build !noasm

#include "textflag.h"

// Eight lanes begin at the start, none at 32.
DATA first<>+0(SB)/8, $-1
DATA first<>+8(SB)/8, $-1
DATA first<>+16(SB)/8, $-1
DATA first<>+24(SB)/8, $-1
DATA first<>+32(SB)/8, $0
DATA first<>+40(SB)/8, $0
DATA first<>+48(SB)/8, $0
DATA first<>+56(SB)/8, $0
GLOBL first<>(SB), RODATA|NOPTR, $64

// MASK loads the mask of the first n lanes; it destroys n.
#define MASK(n, y) SHLQ $2, n; LEAQ first<>+32(SB), AX; SUBQ n, AX; VMOVUPS (AX), y

// func transposeAVX2(dst, src *float32, rows, cols, to, from int)
//
// A block of up to 8 by 8: rows of dst, and columns of dst, which are rows of src.
// Rows of src beyond cols are the last one again; their lanes are not stored.
TEXT ·transposeAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+16(FP), DX
	MOVQ cols+24(FP), CX
	MOVQ to+32(FP), R8
	MOVQ from+40(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ DX, R10
	MASK(R10, Y15)            // elements of a row of src
	XORQ BX, BX

#define GET(y) VMASKMOVPS (SI), Y15, y; DECQ CX; CMOVQEQ BX, R9; ADDQ R9, SI
#define PUT(y) VMASKMOVPS y, Y0, (DI); ADDQ R8, DI; DECQ DX; JEQ done
#define PUTFULL(y) VMOVUPS y, (DI); ADDQ R8, DI; DECQ DX; JEQ done

	GET(Y0)
	GET(Y1)
	GET(Y2)
	GET(Y3)
	GET(Y4)
	GET(Y5)
	GET(Y6)
	GET(Y7)
	VUNPCKLPS Y1, Y0, Y8
	VUNPCKHPS Y1, Y0, Y9
	VUNPCKLPS Y3, Y2, Y10
	VUNPCKHPS Y3, Y2, Y11
	VUNPCKLPS Y5, Y4, Y12
	VUNPCKHPS Y5, Y4, Y13
	VUNPCKLPS Y7, Y6, Y14
	VUNPCKHPS Y7, Y6, Y15
	VUNPCKLPD Y10, Y8, Y0
	VUNPCKHPD Y10, Y8, Y1
	VUNPCKLPD Y11, Y9, Y2
	VUNPCKHPD Y11, Y9, Y3
	VUNPCKLPD Y14, Y12, Y4
	VUNPCKHPD Y14, Y12, Y5
	VUNPCKLPD Y15, Y13, Y6
	VUNPCKHPD Y15, Y13, Y7
	VPERM2F128 $0x20, Y4, Y0, Y8
	VPERM2F128 $0x31, Y4, Y0, Y12
	VPERM2F128 $0x20, Y5, Y1, Y9
	VPERM2F128 $0x31, Y5, Y1, Y13
	VPERM2F128 $0x20, Y6, Y2, Y10
	VPERM2F128 $0x31, Y6, Y2, Y14
	VPERM2F128 $0x20, Y7, Y3, Y11
	VPERM2F128 $0x31, Y7, Y3, Y15
	MOVQ cols+24(FP), CX
	CMPQ CX, $8
	JEQ  full                 // masked stores are slow
	MASK(CX, Y0)              // elements of a row of dst
	PUT(Y8)
	PUT(Y9)
	PUT(Y10)
	PUT(Y11)
	PUT(Y12)
	PUT(Y13)
	PUT(Y14)
	PUT(Y15)

full:
	PUTFULL(Y8)
	PUTFULL(Y9)
	PUTFULL(Y10)
	PUTFULL(Y11)
	PUTFULL(Y12)
	PUTFULL(Y13)
	PUTFULL(Y14)
	PUTFULL(Y15)

done:
	VZEROUPPER
	RET

// func copyRowsAVX2(dst, src *float32, rows, cols, to, from int)
//
// rows and cols are not 0.
TEXT ·copyRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+16(FP), DX
	MOVQ cols+24(FP), R10
	MOVQ to+32(FP), R8
	MOVQ from+40(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ R10, R11
	ANDQ $7, R11              // columns of the last vector: masked stores are slow
	ANDQ $-8, R10
	SHLQ $2, R10
	MOVQ R11, R12
	MASK(R12, Y15)

row:
	XORQ AX, AX

loop: // 8 elements per turn
	CMPQ AX, R10
	JGE  last
	VMOVUPS (SI)(AX*1), Y0
	VMOVUPS Y0, (DI)(AX*1)
	ADDQ $32, AX
	JMP  loop

last:
	TESTQ R11, R11
	JEQ  next
	VMASKMOVPS (SI)(AX*1), Y15, Y0
	VMASKMOVPS Y0, Y15, (DI)(AX*1)

next:
	ADDQ R9, SI
	ADDQ R8, DI
	DECQ DX
	JNE  row
	VZEROUPPER
	RET
