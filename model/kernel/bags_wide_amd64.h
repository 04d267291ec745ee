// Bags of rows, one TEXT each: what bagSpan.portable does, of WIDTH columns.
//
//	R15 = arguments   SI = start of the next bag   R14 = bags left
//	R8 = slots   R9 = weights   BX = pair   DX = end of the bag
//	DI = rows    R12 = bytes from a row to the next
//	R10 = rows of the gradient   R13 = bytes from one to the next
//	R11 = out of the bag   CX = factor of the bag, or 0

#define ARGS \
	MOVQ a+0(FP), R15               \
	MOVQ bagArgs_start(R15), SI     \
	MOVQ bagArgs_bags(R15), R14     \
	MOVQ bagArgs_slot(R15), R8      \
	MOVQ bagArgs_weights(R15), R9   \
	MOVQ bagArgs_rows(R15), DI      \
	MOVQ bagArgs_rowStep(R15), R12  \
	MOVQ bagArgs_grad(R15), R10     \
	MOVQ bagArgs_gradStep(R15), R13 \
	MOVQ bagArgs_out(R15), R11      \
	MOVQ bagArgs_scale(R15), CX

// BAG finds the pairs of the bag and goes to done if there are none.
#define BAG(done) \
	MOVL (SI), BX               \
	ADDQ bagArgs_step(R15), SI  \
	MOVL (SI), DX               \
	CMPQ BX, DX                 \
	JGE  done

// ROW: AX = offset of the pair's row, V1 = its weight.
#define ROW(step) \
	MOVL         (R8)(BX*4), AX     \
	VBROADCASTSS (R9)(BX*4), V1     \
	IMULQ        step, AX

#define NEXTPAIR(pair) \
	INCQ BX     \
	CMPQ BX, DX \
	JLT  pair

#define NEXTBAG(bag) \
	ADDQ bagArgs_outStep(R15), R11 \
	ADDQ bagArgs_scaleStep(R15), CX \
	DECQ R14                       \
	JNE  bag                       \
	VZEROUPPER                     \
	RET

TEXT pool<>(SB), NOSPLIT, $0-8
	ARGS

poolbag:
	XOR(V0, V0, V0)
	BAG(poolend)

poolpair:
	ROW(R12)
	VMULPS (DI)(AX*1), V1, V1
	VADDPS V1, V0, V0         // V0 += w·row
	NEXTPAIR(poolpair)

poolend:
	TESTQ        CX, CX
	JEQ          poolstore
	VBROADCASTSS (CX), V1
	VMULPS       V1, V0, V0

poolstore:
	VMOVUPS V0, (R11)
	NEXTBAG(poolbag)

TEXT poolGrad<>(SB), NOSPLIT, $0-8
	ARGS

gradbag:
	VMOVUPS      (R11), V0    // V0 = gradient of the bag
	VBROADCASTSS ·bagOne(SB), V2
	TESTQ        CX, CX
	JEQ          gradscaled
	VBROADCASTSS (CX), V2     // V2 = its factor

gradscaled:
	BAG(gradend)

gradpair:
	ROW(R13)
	VMULPS  V2, V1, V1
	VMULPS  V0, V1, V1
	VADDPS  (R10)(AX*1), V1, V1
	VMOVUPS V1, (R10)(AX*1)   // row += (w·factor)·gradient
	NEXTPAIR(gradpair)

gradend:
	NEXTBAG(gradbag)

TEXT interact<>(SB), NOSPLIT, $0-8
	ARGS

actbag:
	XOR(V0, V0, V0)
	XOR(V2, V2, V2)
	BAG(actend)

actpair:
	ROW(R12)
	VMULPS (DI)(AX*1), V1, V1
	VADDPS V1, V0, V0         // V0 += w·row
	VMULPS V1, V1, V1
	VADDPS V1, V2, V2         // V2 += (w·row)²
	NEXTPAIR(actpair)

actend:
	VMOVUPS V0, (R11)
	VMULPS  V0, V0, V0
	VSUBPS  V2, V0, V0
	VMOVUPS V0, (R10)         // second = V0² − V2
	ADDQ    R13, R10
	NEXTBAG(actbag)

TEXT interactGrad<>(SB), NOSPLIT, $0-8
	ARGS

backbag:
	VMOVUPS      (R11), V0    // V0 = Σ w·row
	VBROADCASTSS (CX), V2     // V2 = gradient of the bag
	BAG(backend)

backpair:
	ROW(R12)
	VMULPS  (DI)(AX*1), V1, V3
	VSUBPS  V3, V0, V3        // V3 = Σ − w·row
	VMULPS  V2, V1, V1
	VMULPS  V3, V1, V1
	MOVL    (R8)(BX*4), AX
	IMULQ   R13, AX
	VADDPS  (R10)(AX*1), V1, V1
	VMOVUPS V1, (R10)(AX*1)   // row of the gradient += (w·gradient)·V3
	NEXTPAIR(backpair)

backend:
	NEXTBAG(backbag)

// Rows of a table, copied. WIDTH columns at a time; R13 is the number of bytes of a row.
//
//	DI = dst   SI = table   R8 = ids   BX = id   DX = number of ids   CX = those with one to
//	fetch ahead   R12 = bytes from a row to the next
#define AHEAD 16 // as rowsAhead

TEXT GATHERROWS(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), R15
	MOVQ gatherArgs_dst(R15), DI
	MOVQ gatherArgs_table(R15), SI
	MOVQ gatherArgs_ids(R15), R8
	MOVQ gatherArgs_n(R15), DX
	MOVQ gatherArgs_step(R15), R12
	MOVQ gatherArgs_row(R15), R13
	MOVQ gatherArgs_ends(R15), CX
	SUBQ $AHEAD, CX
	XORL BX, BX

copyrow:
	CMPQ        BX, CX
	JGE         copyhere
	MOVL        (4*AHEAD)(R8)(BX*4), AX
	IMULQ       R12, AX
	ADDQ        SI, AX
	PREFETCHT0  (AX)
	PREFETCHT0  -4(AX)(R13*1)

copyhere:
	MOVL  (R8)(BX*4), AX
	IMULQ R12, AX
	ADDQ  SI, AX
	XORL  R9, R9

copycolumns:
	VMOVUPS (AX)(R9*1), V0
	VMOVUPS V0, (DI)(R9*1)
	ADDQ    $(4*WIDTH), R9
	CMPQ    R9, R13
	JNE     copycolumns
	ADDQ    R13, DI
	INCQ    BX
	CMPQ    BX, DX
	JNE     copyrow
	VZEROUPPER
	RET

// BAGS jumps to the body of kind k.
TEXT BAGS(SB), NOSPLIT, $0-16
	MOVQ k+8(FP), AX
	LEAQ bodies<>(SB), CX
	JMP  (CX)(AX*8)

DATA bodies<>+(8*const_bagPool)(SB)/8, $pool<>(SB)
DATA bodies<>+(8*const_bagPoolGrad)(SB)/8, $poolGrad<>(SB)
DATA bodies<>+(8*const_bagInteract)(SB)/8, $interact<>(SB)
DATA bodies<>+(8*const_bagInteractGrad)(SB)/8, $interactGrad<>(SB)
GLOBL bodies<>(SB), RODATA, $(8*4)
