// Windows of pooling, one TEXT each: what poolWindow.portable does, of channels lo to
// hi, a multiple of WIDTH apart and not equal.
//
//	BX = offset in bytes of the channel   CX = end
//	DI = x   SI = y   R8 = arg   R9 = cell   R10 = rows left   R11 = cells left in the row
//	R12 = bytes from a cell to the next   R13 = from the end of a row to the next row
//	V3 = number of the cell, V8 = of the first, V9 = 1, V10 = skip, V11 = count

#define ARGS \
	MOVQ         w+0(FP), AX               \
	MOVQ         lo+8(FP), BX              \
	MOVQ         hi+16(FP), CX             \
	SHLQ         $2, BX                    \
	SHLQ         $2, CX                    \
	MOVQ         poolWindow_x(AX), DI      \
	MOVQ         poolWindow_y(AX), SI      \
	MOVQ         (poolWindow_y+8)(AX), R12 \
	SHLQ         $2, R12                   \
	MOVQ         poolWindow_arg(AX), R8    \
	MOVQ         poolWindow_stride(AX), R13 \
	SHLQ         $2, R13                   \
	MOVQ         poolWindow_cols(AX), DX   \
	IMULQ        R12, DX                   \
	SUBQ         DX, R13                   \
	MOVQ         poolWindow_cols(AX), DX   \
	VPBROADCASTD poolWindow_first(AX), V8  \
	VPBROADCASTD poolWindow_skip(AX), V10  \
	VPBROADCASTD ·poolOne(SB), V9          \
	VBROADCASTSS poolWindow_count(AX), V11

// WINDOW begins with the first cell, for the next WIDTH channels.
#define WINDOW \
	LEAQ    (DI)(BX*1), R9           \
	MOVQ    poolWindow_rows(AX), R10 \
	VMOVUPS V8, V3

// CELL goes on with the next cell, ROW with the next row.
#define CELL(cell) \
	VPADDD V9, V3, V3 \
	ADDQ   R12, R9    \
	DECQ   R11        \
	JNE    cell

#define ROW(row) \
	VPADDD V10, V3, V3 \
	ADDQ   R13, R9     \
	DECQ   R10         \
	JNE    row

// NEXT goes on with the next WIDTH channels.
#define NEXT(label) \
	ADDQ $(4*WIDTH), BX \
	CMPQ BX, CX         \
	JNE  label          \
	VZEROUPPER          \
	RET

TEXT maxWindow<>(SB), NOSPLIT, $0-24
	ARGS

max:
	WINDOW
	VMOVUPS (R9), V0         // V0 = largest
	VMOVUPS V8, V2           // V2 = its number

maxrow:
	MOVQ DX, R11

maxcell:
	VMOVUPS (R9), V1
	TAKEMAX(V1, V0, V3, V2)
	CELL(maxcell)
	ROW(maxrow)
	VMOVUPS V0, (SI)(BX*1)
	TESTQ   R8, R8
	JEQ     maxnext
	VMOVUPS V2, (R8)(BX*1)

maxnext:
	NEXT(max)

TEXT maxGrad<>(SB), NOSPLIT, $0-24
	ARGS

grad:
	WINDOW
	VMOVUPS (SI)(BX*1), V0
	VMOVUPS (R8)(BX*1), V2

gradrow:
	MOVQ DX, R11

gradcell:
	VMOVUPS (R9), V1
	VADDPS  V0, V1, V4
	SELECTEQ(V2, V3, V4, V1, V1) // x + y where arg is the cell
	VMOVUPS V1, (R9)
	CELL(gradcell)
	ROW(gradrow)
	NEXT(grad)

TEXT maxPut<>(SB), NOSPLIT, $0-24
	ARGS
	XOR(V5, V5, V5)

put:
	WINDOW
	VMOVUPS (SI)(BX*1), V0
	VMOVUPS (R8)(BX*1), V2

putrow:
	MOVQ DX, R11

putcell:
	SELECTEQ(V2, V3, V0, V5, V1) // y where arg is the cell, else 0
	VMOVUPS V1, (R9)
	CELL(putcell)
	ROW(putrow)
	NEXT(put)

TEXT meanWindow<>(SB), NOSPLIT, $0-24
	ARGS
	VBROADCASTSS ·poolMinusZero(SB), V5

mean:
	WINDOW
	VMOVUPS V5, V0           // −0 + x is x

meanrow:
	MOVQ DX, R11

meancell:
	VADDPS (R9), V0, V0
	CELL(meancell)
	ROW(meanrow)
	VDIVPS  V11, V0, V0
	VMOVUPS V0, (SI)(BX*1)
	NEXT(mean)

TEXT meanGrad<>(SB), NOSPLIT, $0-24
	ARGS

share:
	WINDOW
	VMOVUPS (SI)(BX*1), V0
	VDIVPS  V11, V0, V0

sharerow:
	MOVQ DX, R11

sharecell:
	VADDPS  (R9), V0, V1
	VMOVUPS V1, (R9)
	CELL(sharecell)
	ROW(sharerow)
	NEXT(share)

// POOL jumps to the body of a kind.
TEXT POOL(SB), NOSPLIT, $0-32
	MOVQ kind+24(FP), AX
	LEAQ bodies<>(SB), CX
	JMP  (CX)(AX*8)

DATA bodies<>+(8*const_poolMax)(SB)/8, $maxWindow<>(SB)
DATA bodies<>+(8*const_poolMaxGrad)(SB)/8, $maxGrad<>(SB)
DATA bodies<>+(8*const_poolMaxPut)(SB)/8, $maxPut<>(SB)
DATA bodies<>+(8*const_poolMean)(SB)/8, $meanWindow<>(SB)
DATA bodies<>+(8*const_poolMeanGrad)(SB)/8, $meanGrad<>(SB)
GLOBL bodies<>(SB), RODATA, $(8*5)
