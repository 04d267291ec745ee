//go:build !noasm

#include "textflag.h"
#include "go_asm.h"

// Hashes of rows, eight elements at a time, as mixRows has them.
//
//	R8 = ids   BX = row   DX = rows   SI = element   R13 = elements of a row
//	Z0 = sums   Z1 = place   Z8 = mixID   Z9 = places of id 0   Z10 = 8·mixPlace

// func mixRowsAVX512(a *mixArgs)
TEXT ·mixRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ         a+0(FP), R15
	MOVQ         mixArgs_ids(R15), R8
	MOVQ         mixArgs_w(R15), SI
	MOVQ         mixArgs_n(R15), DX
	MOVQ         mixArgs_cols(R15), R13
	MOVQ         $const_mixID, R9
	VPBROADCASTQ R9, Z8
	VMOVDQU64    ·mixPlaces(SB), Z9
	VPBROADCASTQ ·mixPlaces+56(SB), Z10
	VPXORQ       Z0, Z0, Z0
	XORL         BX, BX

mixrow:
	MOVL         (R8)(BX*4), AX
	IMULQ        R9, AX
	VPBROADCASTQ AX, Z1
	VPADDQ       Z9, Z1, Z1
	MOVQ         R13, CX

mixcolumns:
	VPMOVZXDQ (SI), Z2
	VPXORQ    Z1, Z2, Z2       // x = place ^ bits
	VPSRLQ    $32, Z2, Z3
	VPXORQ    Z3, Z2, Z2
	VPMULLQ   Z8, Z2, Z2       // x = (x ^ x>>32)·mixID
	VPSRLQ    $29, Z2, Z3
	VPXORQ    Z3, Z2, Z2
	VPADDQ    Z2, Z0, Z0       // sum += x ^ x>>29
	VPADDQ    Z10, Z1, Z1
	ADDQ      $32, SI
	SUBQ      $8, CX
	JNE       mixcolumns
	INCQ      BX
	CMPQ      BX, DX
	JNE       mixrow
	VMOVDQU64 Z0, mixArgs_sums(R15)
	VZEROUPPER
	RET
