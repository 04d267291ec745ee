//go:build !noasm

#include "go_asm.h"
#include "textflag.h"

// The kernel of listed rows takes four rows at a time: row i has its sums in Z(2i)
// and Z(2i+1), low and high half of 32 columns, and its next element in R(10+i).
//
//	R8  index    R9 value   BX b    DX stride of b in bytes
//	DI  c        SI start   R15 stride of c in bytes
//	CX  turns    K1 K2 columns in use

// WIDE adds the next element of a row.
#define WIDE(at, low, high) \
	MOVLQSX (R8)(at*4), AX          \
	IMULQ DX, AX                    \
	VBROADCASTSS (R9)(at*4), Z30    \
	VFMADD231PS (BX)(AX*1), Z30, K1, low     \
	VFMADD231PS 64(BX)(AX*1), Z30, K2, high  \
	INCQ at

// THIN is WIDE for columns of the low half.
#define THIN(at, low) \
	MOVLQSX (R8)(at*4), AX          \
	IMULQ DX, AX                    \
	VBROADCASTSS (R9)(at*4), Z30    \
	VFMADD231PS (BX)(AX*1), Z30, K1, low  \
	INCQ at

#define GET(low, high) VMOVUPS.Z (R14), K1, low; VMOVUPS.Z 64(R14), K2, high; ADDQ R15, R14
#define PUT(low, high) VMOVUPS low, K1, (DI); VMOVUPS high, K2, 64(DI); ADDQ R15, DI

// func gatherAVX512(p *gather)
TEXT ·gatherAVX512(SB), NOSPLIT, $8-8
	MOVQ p+0(FP), AX
	MOVQ gather_cols(AX), CX
	MOVQ $-1, BX
	BZHIQ CX, BX, BX          // a bit for each column
	KMOVW BX, K1
	SHRQ $16, BX
	KMOVW BX, K2
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
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	MOVQ left-8(SP), CX
	MOVQ DI, R14
	CMPB gather_add(AX), $0
	JEQ  lists
	GET(Z0, Z1)
	CMPQ CX, $1
	JEQ  lists
	GET(Z2, Z3)
	CMPQ CX, $2
	JEQ  lists
	GET(Z4, Z5)
	CMPQ CX, $3
	JEQ  lists
	GET(Z6, Z7)

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
	CMPQ gather_cols(AX), $16
	JLE  thin
	TESTQ CX, CX
	JEQ  rest0

wide:
	WIDE(R10, Z0, Z1)
	WIDE(R11, Z2, Z3)
	WIDE(R12, Z4, Z5)
	WIDE(R13, Z6, Z7)
	DECQ CX
	JNE  wide

rest0:
	MOVLQSX 4(SI), CX
	SUBQ R10, CX
	JEQ  rest1

wide0:
	WIDE(R10, Z0, Z1)
	DECQ CX
	JNE  wide0

rest1:
	MOVLQSX 8(SI), CX
	SUBQ R11, CX
	JEQ  rest2

wide1:
	WIDE(R11, Z2, Z3)
	DECQ CX
	JNE  wide1

rest2:
	MOVLQSX 12(SI), CX
	SUBQ R12, CX
	JEQ  rest3

wide2:
	WIDE(R12, Z4, Z5)
	DECQ CX
	JNE  wide2

rest3:
	MOVLQSX 16(SI), CX
	SUBQ R13, CX
	JEQ  finish

wide3:
	WIDE(R13, Z6, Z7)
	DECQ CX
	JNE  wide3

	JMP  finish

thin:
	TESTQ CX, CX
	JEQ  last0

narrow:
	THIN(R10, Z0)
	THIN(R11, Z2)
	THIN(R12, Z4)
	THIN(R13, Z6)
	DECQ CX
	JNE  narrow

last0:
	MOVLQSX 4(SI), CX
	SUBQ R10, CX
	JEQ  last1

thin0:
	THIN(R10, Z0)
	DECQ CX
	JNE  thin0

last1:
	MOVLQSX 8(SI), CX
	SUBQ R11, CX
	JEQ  last2

thin1:
	THIN(R11, Z2)
	DECQ CX
	JNE  thin1

last2:
	MOVLQSX 12(SI), CX
	SUBQ R12, CX
	JEQ  last3

thin2:
	THIN(R12, Z4)
	DECQ CX
	JNE  thin2

last3:
	MOVLQSX 16(SI), CX
	SUBQ R13, CX
	JEQ  finish

thin3:
	THIN(R13, Z6)
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
	CMPQ gather_cols(AX), $16
	JLE  onethin

onewide:
	WIDE(R10, Z0, Z1)
	DECQ CX
	JNE  onewide
	JMP  single

onethin:
	THIN(R10, Z0)
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
	VMOVUPS.Z (R14), K1, Z28
	VMOVUPS.Z 64(R14), K2, Z29
	VADDPS Z28, Z0, Z0
	VADDPS Z29, Z1, Z1
	VADDPS Z28, Z2, Z2
	VADDPS Z29, Z3, Z3
	VADDPS Z28, Z4, Z4
	VADDPS Z29, Z5, Z5
	VADDPS Z28, Z6, Z6
	VADDPS Z29, Z7, Z7

relu: // the greater of 0 and the sum; a NaN stays
	CMPB gather_relu(AX), $0
	JEQ  store
	VPXORD Z30, Z30, Z30
	VMAXPS Z0, Z30, Z0
	VMAXPS Z1, Z30, Z1
	VMAXPS Z2, Z30, Z2
	VMAXPS Z3, Z30, Z3
	VMAXPS Z4, Z30, Z4
	VMAXPS Z5, Z30, Z5
	VMAXPS Z6, Z30, Z6
	VMAXPS Z7, Z30, Z7

store:
	MOVQ R12, CX
	PUT(Z0, Z1)
	CMPQ CX, $1
	JEQ  next
	PUT(Z2, Z3)
	PUT(Z4, Z5)
	PUT(Z6, Z7)

next:
	LEAQ (SI)(R12*4), SI
	MOVQ R13, left-8(SP)
	TESTQ R13, R13
	JNE  group
	VZEROUPPER
	RET

// func spreadAVX512(p *gather)
TEXT ·spreadAVX512(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	MOVQ gather_cols(AX), CX
	MOVQ $-1, BX
	BZHIQ CX, BX, BX          // a bit for each column
	KMOVW BX, K1
	SHRQ $16, BX
	KMOVW BX, K2
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
	VMOVUPS.Z (BX), K1, Z1

loop:
	MOVLQSX (R8)(R10*4), AX
	SHLQ $6, AX
	VBROADCASTSS (R9)(R10*4), Z30
	VMOVUPS (DI)(AX*1), Z0
	VFMADD231PS Z1, Z30, Z0
	VMOVUPS Z0, (DI)(AX*1)
	INCQ R10
	DECQ CX
	JNE  loop

next:
	ADDQ DX, BX
	DECQ R12
	JNE  row
	VZEROUPPER
	RET

DATA count<>+0(SB)/8, $0x0706050403020100
DATA count<>+8(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL count<>(SB), RODATA|NOPTR, $16

// func scanAVX512(index *int32, value, x *float32, n int) int
TEXT ·scanAVX512(SB), NOSPLIT, $0-40
	MOVQ index+0(FP), DI
	MOVQ value+8(FP), SI
	MOVQ x+16(FP), BX
	MOVQ n+24(FP), CX
	XORQ AX, AX               // elements found
	VPMOVZXBD count<>(SB), Z1 // columns
	MOVQ $16, DX
	VPBROADCASTD DX, Z2
	VPXORD Z0, Z0, Z0

scan: // 16 elements per turn
	SUBQ $16, CX
	JLT  rest
	VMOVUPS (BX), Z3
	VCMPPS $4, Z0, Z3, K1     // not equal, or not a number
	VCOMPRESSPS Z3, K1, Z4
	VPCOMPRESSD Z1, K1, Z5
	VMOVUPS Z4, (SI)(AX*4)
	VMOVDQU32 Z5, (DI)(AX*4)
	KMOVW K1, R8
	POPCNTL R8, R8
	ADDQ R8, AX
	VPADDD Z2, Z1, Z1
	ADDQ $64, BX
	JMP  scan

rest:
	ADDQ $16, CX
	JEQ  done
	MOVQ $-1, R8
	BZHIQ CX, R8, R8
	KMOVW R8, K2
	VMOVUPS.Z (BX), K2, Z3
	VCMPPS $4, Z0, Z3, K2, K1
	VCOMPRESSPS Z3, K1, Z4
	VPCOMPRESSD Z1, K1, Z5
	VMOVUPS Z4, (SI)(AX*4)
	VMOVDQU32 Z5, (DI)(AX*4)
	KMOVW K1, R8
	POPCNTL R8, R8
	ADDQ R8, AX

done:
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET
