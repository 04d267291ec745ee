//go:build !noasm

#include "go_asm.h"
#include "textflag.h"

// The kernel of listed rows takes four rows at a time: row i has its sums in Y(2i)
// and Y(2i+1), low and high half of 16 columns, and its next element in R(10+i).
//
//	R8  index    R9 value   BX b    DX stride of b in bytes
//	DI  c        SI start   R15 stride of c in bytes
//	CX  turns    Y15 columns in use of the last half

// WIDE adds the next element of a row.
#define WIDE(at, low, high) \
	MOVLQSX (R8)(at*4), AX          \
	IMULQ DX, AX                    \
	VBROADCASTSS (R9)(at*4), Y14    \
	VMASKMOVPS 32(BX)(AX*1), Y15, Y13  \
	VFMADD231PS (BX)(AX*1), Y14, low   \
	VFMADD231PS Y13, Y14, high         \
	INCQ at

// THIN is WIDE for columns of the low half.
#define THIN(at, low) \
	MOVLQSX (R8)(at*4), AX          \
	IMULQ DX, AX                    \
	VBROADCASTSS (R9)(at*4), Y14    \
	VMASKMOVPS (BX)(AX*1), Y15, Y13 \
	VFMADD231PS Y13, Y14, low       \
	INCQ at

#define GET(low, high) VMOVUPS (R14), low; VMASKMOVPS 32(R14), Y15, high; ADDQ R15, R14
#define PUT(low, high) VMOVUPS low, (DI); VMASKMOVPS high, Y15, 32(DI); ADDQ R15, DI
#define PUTFULL(low, high) VMOVUPS low, (DI); VMOVUPS high, 32(DI); ADDQ R15, DI
#define GETTHIN(low) VMASKMOVPS (R14), Y15, low; ADDQ R15, R14
#define PUTTHIN(low) VMASKMOVPS low, Y15, (DI); ADDQ R15, DI

// Eight columns in use begin at the start, none at 32.
DATA lanes<>+0(SB)/8, $-1
DATA lanes<>+8(SB)/8, $-1
DATA lanes<>+16(SB)/8, $-1
DATA lanes<>+24(SB)/8, $-1
DATA lanes<>+32(SB)/8, $0
DATA lanes<>+40(SB)/8, $0
DATA lanes<>+48(SB)/8, $0
DATA lanes<>+56(SB)/8, $0
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// func gatherAVX2(p *gather)
TEXT ·gatherAVX2(SB), NOSPLIT, $8-8
	MOVQ p+0(FP), AX
	MOVQ gather_cols(AX), CX
	DECQ CX
	ANDQ $7, CX               // columns in use of the last half, less 1
	SHLQ $2, CX
	LEAQ lanes<>+28(SB), BX
	SUBQ CX, BX
	VMOVUPS (BX), Y15
	MOVQ gather_index(AX), R8
	MOVQ gather_value(AX), R9
	MOVQ gather_start(AX), SI
	MOVQ gather_b(AX), BX
	MOVQ gather_bs(AX), DX
	SHLQ $2, DX
	MOVQ gather_c(AX), DI
	MOVQ gather_ldc(AX), R15
	SHLQ $2, R15
	MOVQ gather_rows(AX), CX
	MOVQ CX, left-8(SP)

group: // of four rows, or of one where fewer are left
	MOVQ p+0(FP), AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ left-8(SP), CX
	MOVQ DI, R14
	CMPB gather_add(AX), $0
	JEQ  lists
	CMPQ gather_cols(AX), $8
	JLE  getthin
	GET(Y0, Y1)
	CMPQ CX, $1
	JEQ  lists
	GET(Y2, Y3)
	CMPQ CX, $2
	JEQ  lists
	GET(Y4, Y5)
	CMPQ CX, $3
	JEQ  lists
	GET(Y6, Y7)
	JMP  lists

getthin:
	GETTHIN(Y0)
	CMPQ CX, $1
	JEQ  lists
	GETTHIN(Y2)
	CMPQ CX, $2
	JEQ  lists
	GETTHIN(Y4)
	CMPQ CX, $3
	JEQ  lists
	GETTHIN(Y6)

lists:
	MOVLQSX (SI), R10
	CMPQ CX, $4
	JLT  one
	MOVLQSX 4(SI), R11
	MOVLQSX 8(SI), R12
	MOVLQSX 12(SI), R13
	MOVQ R11, CX              // turns = the shortest row
	SUBQ R10, CX
	MOVQ R12, AX
	SUBQ R11, AX
	CMPQ AX, CX
	CMOVQLT AX, CX
	MOVQ R13, AX
	SUBQ R12, AX
	CMPQ AX, CX
	CMOVQLT AX, CX
	MOVLQSX 16(SI), AX
	SUBQ R13, AX
	CMPQ AX, CX
	CMOVQLT AX, CX
	MOVQ p+0(FP), AX
	CMPQ gather_cols(AX), $8
	JLE  thin
	TESTQ CX, CX
	JEQ  rest0

wide:
	WIDE(R10, Y0, Y1)
	WIDE(R11, Y2, Y3)
	WIDE(R12, Y4, Y5)
	WIDE(R13, Y6, Y7)
	DECQ CX
	JNE  wide

rest0:
	MOVLQSX 4(SI), CX
	SUBQ R10, CX
	JEQ  rest1

wide0:
	WIDE(R10, Y0, Y1)
	DECQ CX
	JNE  wide0

rest1:
	MOVLQSX 8(SI), CX
	SUBQ R11, CX
	JEQ  rest2

wide1:
	WIDE(R11, Y2, Y3)
	DECQ CX
	JNE  wide1

rest2:
	MOVLQSX 12(SI), CX
	SUBQ R12, CX
	JEQ  rest3

wide2:
	WIDE(R12, Y4, Y5)
	DECQ CX
	JNE  wide2

rest3:
	MOVLQSX 16(SI), CX
	SUBQ R13, CX
	JEQ  finish

wide3:
	WIDE(R13, Y6, Y7)
	DECQ CX
	JNE  wide3

	JMP  finish

thin:
	TESTQ CX, CX
	JEQ  last0

narrow:
	THIN(R10, Y0)
	THIN(R11, Y2)
	THIN(R12, Y4)
	THIN(R13, Y6)
	DECQ CX
	JNE  narrow

last0:
	MOVLQSX 4(SI), CX
	SUBQ R10, CX
	JEQ  last1

thin0:
	THIN(R10, Y0)
	DECQ CX
	JNE  thin0

last1:
	MOVLQSX 8(SI), CX
	SUBQ R11, CX
	JEQ  last2

thin1:
	THIN(R11, Y2)
	DECQ CX
	JNE  thin1

last2:
	MOVLQSX 12(SI), CX
	SUBQ R12, CX
	JEQ  last3

thin2:
	THIN(R12, Y4)
	DECQ CX
	JNE  thin2

last3:
	MOVLQSX 16(SI), CX
	SUBQ R13, CX
	JEQ  finish

thin3:
	THIN(R13, Y6)
	DECQ CX
	JNE  thin3

	JMP  finish

one: // fewer than four rows are left: take one
	MOVQ left-8(SP), R13
	DECQ R13                  // rows behind this one
	MOVLQSX 4(SI), CX
	SUBQ R10, CX
	JEQ  single
	MOVQ p+0(FP), AX
	CMPQ gather_cols(AX), $8
	JLE  onethin

onewide:
	WIDE(R10, Y0, Y1)
	DECQ CX
	JNE  onewide
	JMP  single

onethin:
	THIN(R10, Y0)
	DECQ CX
	JNE  onethin

single:
	MOVQ $1, R12
	JMP  end

finish:
	MOVQ left-8(SP), R13
	SUBQ $4, R13              // rows behind these
	MOVQ $4, R12

end: // R12 rows end here
	MOVQ p+0(FP), AX
	MOVQ gather_bias(AX), R14
	TESTQ R14, R14
	JEQ  relu
	CMPQ gather_cols(AX), $8
	JLE  biasthin
	VMOVUPS (R14), Y12
	VMASKMOVPS 32(R14), Y15, Y13
	VADDPS Y12, Y0, Y0
	VADDPS Y13, Y1, Y1
	VADDPS Y12, Y2, Y2
	VADDPS Y13, Y3, Y3
	VADDPS Y12, Y4, Y4
	VADDPS Y13, Y5, Y5
	VADDPS Y12, Y6, Y6
	VADDPS Y13, Y7, Y7
	JMP  relu

biasthin:
	VMASKMOVPS (R14), Y15, Y12
	VADDPS Y12, Y0, Y0
	VADDPS Y12, Y2, Y2
	VADDPS Y12, Y4, Y4
	VADDPS Y12, Y6, Y6

relu: // the greater of 0 and the sum; a NaN stays
	CMPB gather_relu(AX), $0
	JEQ  store
	VXORPS Y14, Y14, Y14
	VMAXPS Y0, Y14, Y0
	VMAXPS Y1, Y14, Y1
	VMAXPS Y2, Y14, Y2
	VMAXPS Y3, Y14, Y3
	VMAXPS Y4, Y14, Y4
	VMAXPS Y5, Y14, Y5
	VMAXPS Y6, Y14, Y6
	VMAXPS Y7, Y14, Y7

store:
	MOVQ R12, CX
	CMPQ gather_cols(AX), $8
	JLE  putthin
	CMPQ gather_cols(AX), $16
	JEQ  putfull              // masked stores are slow
	PUT(Y0, Y1)
	CMPQ CX, $1
	JEQ  next
	PUT(Y2, Y3)
	PUT(Y4, Y5)
	PUT(Y6, Y7)
	JMP  next

putfull:
	PUTFULL(Y0, Y1)
	CMPQ CX, $1
	JEQ  next
	PUTFULL(Y2, Y3)
	PUTFULL(Y4, Y5)
	PUTFULL(Y6, Y7)
	JMP  next

putthin:
	PUTTHIN(Y0)
	CMPQ CX, $1
	JEQ  next
	PUTTHIN(Y2)
	PUTTHIN(Y4)
	PUTTHIN(Y6)

next:
	LEAQ (SI)(R12*4), SI
	MOVQ R13, left-8(SP)
	TESTQ R13, R13
	JNE  group
	VZEROUPPER
	RET

// func spreadAVX2(p *gather)
TEXT ·spreadAVX2(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	MOVQ gather_cols(AX), CX
	DECQ CX
	ANDQ $7, CX               // columns in use of the last half, less 1
	SHLQ $2, CX
	LEAQ lanes<>+28(SB), BX
	SUBQ CX, BX
	VMOVUPS (BX), Y15
	MOVQ gather_cols(AX), R13
	MOVQ gather_index(AX), R8
	MOVQ gather_value(AX), R9
	MOVQ gather_start(AX), SI
	MOVQ gather_b(AX), BX
	MOVQ gather_bs(AX), DX
	SHLQ $2, DX
	MOVQ gather_c(AX), DI
	MOVQ gather_rows(AX), R12
	MOVLQSX (SI), R10

row:
	ADDQ $4, SI
	MOVLQSX (SI), CX
	SUBQ R10, CX
	JEQ  next
	CMPQ R13, $8
	JLE  thin
	VMOVUPS (BX), Y2
	VMASKMOVPS 32(BX), Y15, Y3

loop:
	MOVLQSX (R8)(R10*4), AX
	SHLQ $6, AX
	VBROADCASTSS (R9)(R10*4), Y14
	VMOVUPS (DI)(AX*1), Y0
	VMOVUPS 32(DI)(AX*1), Y1
	VFMADD231PS Y2, Y14, Y0
	VFMADD231PS Y3, Y14, Y1
	VMOVUPS Y0, (DI)(AX*1)
	VMOVUPS Y1, 32(DI)(AX*1)
	INCQ R10
	DECQ CX
	JNE  loop
	JMP  next

thin:
	VMASKMOVPS (BX), Y15, Y2

slim:
	MOVLQSX (R8)(R10*4), AX
	SHLQ $6, AX
	VBROADCASTSS (R9)(R10*4), Y14
	VMOVUPS (DI)(AX*1), Y0
	VFMADD231PS Y2, Y14, Y0
	VMOVUPS Y0, (DI)(AX*1)
	INCQ R10
	DECQ CX
	JNE  slim

next:
	ADDQ DX, BX
	DECQ R12
	JNE  row
	VZEROUPPER
	RET

// func scanAVX2(index *int32, value, x *float32, n int) int
//
// n is a multiple of 8 and not 0. The permutation that moves the elements found to
// the front is made of their mask: a byte of it for each element.
TEXT ·scanAVX2(SB), NOSPLIT, $0-40
	MOVQ index+0(FP), DI
	MOVQ value+8(FP), SI
	MOVQ x+16(FP), BX
	MOVQ n+24(FP), CX
	XORQ AX, AX               // elements found
	MOVQ $0x0101010101010101, R10
	MOVQ $0x0706050403020100, R11
	XORQ R12, R12             // column
	VXORPS Y0, Y0, Y0

scan: // 8 elements per turn
	VMOVUPS (BX)(R12*4), Y3
	VCMPPS $4, Y0, Y3, Y4     // not equal, or not a number
	VMOVMSKPS Y4, R8
	PDEPQ R10, R8, R9         // a bit in the byte of each element found
	IMULQ $255, R9
	PEXTQ R9, R11, R9         // their numbers, in the low bytes
	VMOVQ R9, X5
	VPMOVZXBD X5, Y5
	VPERMPS Y3, Y5, Y3
	VMOVQ R12, X6
	VPBROADCASTD X6, Y6
	VPADDD Y6, Y5, Y5
	VMOVUPS Y3, (SI)(AX*4)
	VMOVDQU Y5, (DI)(AX*4)
	POPCNTL R8, R8
	ADDQ R8, AX
	ADDQ $8, R12
	CMPQ R12, CX
	JLT  scan
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET
