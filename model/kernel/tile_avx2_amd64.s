//go:build !noasm

#include "go_asm.h"
#include "textflag.h"

// The micro-kernel of 6 rows by 16 columns. Row i has its sums in Y(2i) and
// Y(2i+1), low and high half. Rows 0 to 2 are addressed from R8, rows 3 to 5 from
// R9, with the stride R11.
//
//	Y12 Y13  a row of b             BX  address of the row of b
//	Y14      an element of a        CX  rows of b left
//	Y15      columns in use of the  DX  stride of b
//	         last half              R13 step of a along k
//	SI       runs of k left         DI  jump of a between runs
//	R15      rows in use

#define ADDRESSES \
	SHLQ $2, R11              \ // elements to bytes
	LEAQ (R8)(R11*2), R9      \
	ADDQ R11, R9                 // row 3

#define MUL0 VBROADCASTSS (R8), Y14; VFMADD231PS Y12, Y14, Y0; VFMADD231PS Y13, Y14, Y1
#define MUL1 VBROADCASTSS (R8)(R11*1), Y14; VFMADD231PS Y12, Y14, Y2; VFMADD231PS Y13, Y14, Y3
#define MUL2 VBROADCASTSS (R8)(R11*2), Y14; VFMADD231PS Y12, Y14, Y4; VFMADD231PS Y13, Y14, Y5
#define MUL3 VBROADCASTSS (R9), Y14; VFMADD231PS Y12, Y14, Y6; VFMADD231PS Y13, Y14, Y7
#define MUL4 VBROADCASTSS (R9)(R11*1), Y14; VFMADD231PS Y12, Y14, Y8; VFMADD231PS Y13, Y14, Y9
#define MUL5 VBROADCASTSS (R9)(R11*2), Y14; VFMADD231PS Y12, Y14, Y10; VFMADD231PS Y13, Y14, Y11

#define NARROW0 VBROADCASTSS (R8), Y14; VFMADD231PS Y12, Y14, Y0
#define NARROW1 VBROADCASTSS (R8)(R11*1), Y14; VFMADD231PS Y12, Y14, Y2
#define NARROW2 VBROADCASTSS (R8)(R11*2), Y14; VFMADD231PS Y12, Y14, Y4
#define NARROW3 VBROADCASTSS (R9), Y14; VFMADD231PS Y12, Y14, Y6
#define NARROW4 VBROADCASTSS (R9)(R11*1), Y14; VFMADD231PS Y12, Y14, Y8
#define NARROW5 VBROADCASTSS (R9)(R11*2), Y14; VFMADD231PS Y12, Y14, Y10

#define ROWS1 MUL0
#define ROWS2 ROWS1; MUL1
#define ROWS3 ROWS2; MUL2
#define ROWS4 ROWS3; MUL3
#define ROWS5 ROWS4; MUL4
#define ROWS6 ROWS5; MUL5

#define THIN1 NARROW0
#define THIN2 THIN1; NARROW1
#define THIN3 THIN2; NARROW2
#define THIN4 THIN3; NARROW3
#define THIN5 THIN4; NARROW4
#define THIN6 THIN5; NARROW5

#define WIDEB VMOVUPS (BX), Y12; VMASKMOVPS 32(BX), Y15, Y13
#define FULLB VMOVUPS (BX), Y12; VMOVUPS 32(BX), Y13
#define THINB VMASKMOVPS (BX), Y15, Y12
#define STEP ADDQ R13, R8; ADDQ R13, R9; ADDQ DX, BX; DECQ CX

// RUN goes on with the next run of k.
#define RUN(loop) DECQ SI; JEQ finish; ADDQ DI, R8; ADDQ DI, R9; MOVQ tile_k(AX), CX; JMP loop

#define GET0 VMOVUPS (R8), Y0; VMASKMOVPS 32(R8), Y15, Y1
#define GET1 VMOVUPS (R8)(R11*1), Y2; VMASKMOVPS 32(R8)(R11*1), Y15, Y3
#define GET2 VMOVUPS (R8)(R11*2), Y4; VMASKMOVPS 32(R8)(R11*2), Y15, Y5
#define GET3 VMOVUPS (R9), Y6; VMASKMOVPS 32(R9), Y15, Y7
#define GET4 VMOVUPS (R9)(R11*1), Y8; VMASKMOVPS 32(R9)(R11*1), Y15, Y9
#define GET5 VMOVUPS (R9)(R11*2), Y10; VMASKMOVPS 32(R9)(R11*2), Y15, Y11
#define PUT0 VMOVUPS Y0, (R8); VMASKMOVPS Y1, Y15, 32(R8)
#define PUT1 VMOVUPS Y2, (R8)(R11*1); VMASKMOVPS Y3, Y15, 32(R8)(R11*1)
#define PUT2 VMOVUPS Y4, (R8)(R11*2); VMASKMOVPS Y5, Y15, 32(R8)(R11*2)
#define PUT3 VMOVUPS Y6, (R9); VMASKMOVPS Y7, Y15, 32(R9)
#define PUT4 VMOVUPS Y8, (R9)(R11*1); VMASKMOVPS Y9, Y15, 32(R9)(R11*1)
#define PUT5 VMOVUPS Y10, (R9)(R11*2); VMASKMOVPS Y11, Y15, 32(R9)(R11*2)

#define PUTFULL0 VMOVUPS Y0, (R8); VMOVUPS Y1, 32(R8)
#define PUTFULL1 VMOVUPS Y2, (R8)(R11*1); VMOVUPS Y3, 32(R8)(R11*1)
#define PUTFULL2 VMOVUPS Y4, (R8)(R11*2); VMOVUPS Y5, 32(R8)(R11*2)
#define PUTFULL3 VMOVUPS Y6, (R9); VMOVUPS Y7, 32(R9)
#define PUTFULL4 VMOVUPS Y8, (R9)(R11*1); VMOVUPS Y9, 32(R9)(R11*1)
#define PUTFULL5 VMOVUPS Y10, (R9)(R11*2); VMOVUPS Y11, 32(R9)(R11*2)

#define GETTHIN0 VMASKMOVPS (R8), Y15, Y0
#define GETTHIN1 VMASKMOVPS (R8)(R11*1), Y15, Y2
#define GETTHIN2 VMASKMOVPS (R8)(R11*2), Y15, Y4
#define GETTHIN3 VMASKMOVPS (R9), Y15, Y6
#define GETTHIN4 VMASKMOVPS (R9)(R11*1), Y15, Y8
#define GETTHIN5 VMASKMOVPS (R9)(R11*2), Y15, Y10
#define PUTTHIN0 VMASKMOVPS Y0, Y15, (R8)
#define PUTTHIN1 VMASKMOVPS Y2, Y15, (R8)(R11*1)
#define PUTTHIN2 VMASKMOVPS Y4, Y15, (R8)(R11*2)
#define PUTTHIN3 VMASKMOVPS Y6, Y15, (R9)
#define PUTTHIN4 VMASKMOVPS Y8, Y15, (R9)(R11*1)
#define PUTTHIN5 VMASKMOVPS Y10, Y15, (R9)(R11*2)

// Eight columns in use begin at the end, none at 32.
DATA inUse<>+0(SB)/8, $-1
DATA inUse<>+8(SB)/8, $-1
DATA inUse<>+16(SB)/8, $-1
DATA inUse<>+24(SB)/8, $-1
DATA inUse<>+32(SB)/8, $0
DATA inUse<>+40(SB)/8, $0
DATA inUse<>+48(SB)/8, $0
DATA inUse<>+56(SB)/8, $0
GLOBL inUse<>(SB), RODATA|NOPTR, $64

// func tileAVX2(t *tile)
TEXT ·tileAVX2(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	MOVQ tile_cols(AX), SI
	DECQ SI
	ANDQ $7, SI               // columns in use of the last half, less 1
	LEAQ inUse<>+28(SB), BX
	SHLQ $2, SI
	SUBQ SI, BX
	VMOVUPS (BX), Y15
	MOVQ tile_rows(AX), R15
	MOVQ tile_c(AX), R8
	MOVQ tile_ldc(AX), R11
	ADDRESSES
	CMPB tile_add(AX), $0
	JEQ  zero
	CMPQ tile_cols(AX), $8
	JLE  addthin
	GET0
	CMPQ R15, $1
	JEQ  factors
	GET1
	CMPQ R15, $2
	JEQ  factors
	GET2
	CMPQ R15, $3
	JEQ  factors
	GET3
	CMPQ R15, $4
	JEQ  factors
	GET4
	CMPQ R15, $5
	JEQ  factors
	GET5
	JMP  factors

addthin:
	GETTHIN0
	CMPQ R15, $1
	JEQ  factors
	GETTHIN1
	CMPQ R15, $2
	JEQ  factors
	GETTHIN2
	CMPQ R15, $3
	JEQ  factors
	GETTHIN3
	CMPQ R15, $4
	JEQ  factors
	GETTHIN4
	CMPQ R15, $5
	JEQ  factors
	GETTHIN5
	JMP  factors

zero:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

factors:
	MOVQ tile_a(AX), R8
	MOVQ tile_rs(AX), R11
	ADDRESSES
	MOVQ tile_cs(AX), R13
	SHLQ $2, R13
	MOVQ tile_b(AX), BX
	MOVQ tile_bs(AX), DX
	SHLQ $2, DX
	MOVQ tile_runs(AX), SI
	MOVQ tile_jump(AX), DI
	SHLQ $2, DI
	MOVQ tile_k(AX), CX
	TESTQ CX, CX
	JEQ  finish
	CMPQ tile_cols(AX), $8
	JLE  thin
	CMPQ tile_cols(AX), $16
	JEQ  full
	CMPQ R15, $6
	JEQ  rows6
	CMPQ R15, $5
	JEQ  rows5
	CMPQ R15, $4
	JEQ  rows4
	CMPQ R15, $3
	JEQ  rows3
	CMPQ R15, $2
	JEQ  rows2

rows1:
	WIDEB
	ROWS1
	STEP
	JNE rows1
	RUN(rows1)

rows2:
	WIDEB
	ROWS2
	STEP
	JNE rows2
	RUN(rows2)

rows3:
	WIDEB
	ROWS3
	STEP
	JNE rows3
	RUN(rows3)

rows4:
	WIDEB
	ROWS4
	STEP
	JNE rows4
	RUN(rows4)

rows5:
	WIDEB
	ROWS5
	STEP
	JNE rows5
	RUN(rows5)

rows6:
	WIDEB
	ROWS6
	STEP
	JNE rows6
	RUN(rows6)

full: // all columns
	CMPQ R15, $6
	JEQ  full6
	CMPQ R15, $5
	JEQ  full5
	CMPQ R15, $4
	JEQ  full4
	CMPQ R15, $3
	JEQ  full3
	CMPQ R15, $2
	JEQ  full2

full1:
	FULLB
	ROWS1
	STEP
	JNE full1
	RUN(full1)

full2:
	FULLB
	ROWS2
	STEP
	JNE full2
	RUN(full2)

full3:
	FULLB
	ROWS3
	STEP
	JNE full3
	RUN(full3)

full4:
	FULLB
	ROWS4
	STEP
	JNE full4
	RUN(full4)

full5:
	FULLB
	ROWS5
	STEP
	JNE full5
	RUN(full5)

full6:
	FULLB
	ROWS6
	STEP
	JNE full6
	RUN(full6)

thin: // columns of one half
	CMPQ R15, $6
	JEQ  thin6
	CMPQ R15, $5
	JEQ  thin5
	CMPQ R15, $4
	JEQ  thin4
	CMPQ R15, $3
	JEQ  thin3
	CMPQ R15, $2
	JEQ  thin2

thin1:
	THINB
	THIN1
	STEP
	JNE thin1
	RUN(thin1)

thin2:
	THINB
	THIN2
	STEP
	JNE thin2
	RUN(thin2)

thin3:
	THINB
	THIN3
	STEP
	JNE thin3
	RUN(thin3)

thin4:
	THINB
	THIN4
	STEP
	JNE thin4
	RUN(thin4)

thin5:
	THINB
	THIN5
	STEP
	JNE thin5
	RUN(thin5)

thin6:
	THINB
	THIN6
	STEP
	JNE thin6
	RUN(thin6)

finish:
	MOVQ tile_bias(AX), BX
	TESTQ BX, BX
	JEQ  relu
	CMPQ tile_cols(AX), $8
	JLE  biasthin
	VMOVUPS (BX), Y12
	VMASKMOVPS 32(BX), Y15, Y13
	VADDPS Y12, Y0, Y0
	VADDPS Y13, Y1, Y1
	VADDPS Y12, Y2, Y2
	VADDPS Y13, Y3, Y3
	VADDPS Y12, Y4, Y4
	VADDPS Y13, Y5, Y5
	VADDPS Y12, Y6, Y6
	VADDPS Y13, Y7, Y7
	VADDPS Y12, Y8, Y8
	VADDPS Y13, Y9, Y9
	VADDPS Y12, Y10, Y10
	VADDPS Y13, Y11, Y11
	JMP  relu

biasthin:
	VMASKMOVPS (BX), Y15, Y12
	VADDPS Y12, Y0, Y0
	VADDPS Y12, Y2, Y2
	VADDPS Y12, Y4, Y4
	VADDPS Y12, Y6, Y6
	VADDPS Y12, Y8, Y8
	VADDPS Y12, Y10, Y10

relu: // the greater of 0 and the sum; a NaN stays
	CMPB tile_relu(AX), $0
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
	VMAXPS Y8, Y14, Y8
	VMAXPS Y9, Y14, Y9
	VMAXPS Y10, Y14, Y10
	VMAXPS Y11, Y14, Y11

store:
	MOVQ tile_c(AX), R8
	MOVQ tile_ldc(AX), R11
	ADDRESSES
	CMPQ tile_cols(AX), $8
	JLE  storethin
	CMPQ tile_cols(AX), $16
	JEQ  storefull            // masked stores are slow
	PUT0
	CMPQ R15, $1
	JEQ  done
	PUT1
	CMPQ R15, $2
	JEQ  done
	PUT2
	CMPQ R15, $3
	JEQ  done
	PUT3
	CMPQ R15, $4
	JEQ  done
	PUT4
	CMPQ R15, $5
	JEQ  done
	PUT5
	JMP  done

storefull:
	PUTFULL0
	CMPQ R15, $1
	JEQ  done
	PUTFULL1
	CMPQ R15, $2
	JEQ  done
	PUTFULL2
	CMPQ R15, $3
	JEQ  done
	PUTFULL3
	CMPQ R15, $4
	JEQ  done
	PUTFULL4
	CMPQ R15, $5
	JEQ  done
	PUTFULL5
	JMP  done

storethin:
	PUTTHIN0
	CMPQ R15, $1
	JEQ  done
	PUTTHIN1
	CMPQ R15, $2
	JEQ  done
	PUTTHIN2
	CMPQ R15, $3
	JEQ  done
	PUTTHIN3
	CMPQ R15, $4
	JEQ  done
	PUTTHIN4
	CMPQ R15, $5
	JEQ  done
	PUTTHIN5

done:
	VZEROUPPER
	RET
