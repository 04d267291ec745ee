//go:build !noasm

#include "textflag.h"

// func absMaxAVX2(src *float32, n int) uint32
TEXT ·absMaxAVX2(SB), NOSPLIT, $0-20
	MOVQ     src+0(FP), SI
	MOVQ     n+8(FP), CX
	VPCMPEQD Y8, Y8, Y8
	VPSRLD   $1, Y8, Y8      // Y8 = absMask
	VPXOR    Y0, Y0, Y0      // Y0..Y3 = largest so far
	VPXOR    Y1, Y1, Y1
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3

loop: // 32 elements per turn
	VPAND   (SI), Y8, Y4     // Y4..Y7 = bits of |src[0:32]|
	VPAND   32(SI), Y8, Y5
	VPAND   64(SI), Y8, Y6
	VPAND   96(SI), Y8, Y7
	VPMAXUD Y4, Y0, Y0       // bits are ordered as numbers are
	VPMAXUD Y5, Y1, Y1
	VPMAXUD Y6, Y2, Y2
	VPMAXUD Y7, Y3, Y3
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNE     loop

	VPMAXUD      Y1, Y0, Y0
	VPMAXUD      Y3, Y2, Y2
	VPMAXUD      Y2, Y0, Y0  // of 32 columns, 8 are left
	VEXTRACTI128 $1, Y0, X1
	VPMAXUD      X1, X0, X0  // 4
	VPSHUFD      $0x4e, X0, X1
	VPMAXUD      X1, X0, X0  // 2
	VPSHUFD      $0xb1, X0, X1
	VPMAXUD      X1, X0, X0  // 1
	VMOVD        X0, AX
	VZEROUPPER
	MOVL         AX, ret+16(FP)
	RET

// func finiteAVX2(src *float32, n int) bool
TEXT ·finiteAVX2(SB), NOSPLIT, $0-17
	MOVQ     src+0(FP), SI
	MOVQ     n+8(FP), CX
	VPCMPEQD Y8, Y8, Y8
	VPSRLD   $1, Y8, Y8      // Y8 = absMask
	VPSRLD   $30, Y8, Y9
	VPSLLD   $23, Y9, Y9     // Y9 = oneExp
	VPXOR    Y0, Y0, Y0      // Y0..Y3: carries into the sign bit so far
	VPXOR    Y1, Y1, Y1
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3

loop: // 32 elements per turn
	VPAND  (SI), Y8, Y4      // Y4..Y7 = bits of |src[0:32]|
	VPAND  32(SI), Y8, Y5
	VPAND  64(SI), Y8, Y6
	VPAND  96(SI), Y8, Y7
	VPADDD Y9, Y4, Y4        // one more in the exponent
	VPADDD Y9, Y5, Y5
	VPADDD Y9, Y6, Y6
	VPADDD Y9, Y7, Y7
	VPOR   Y4, Y0, Y0
	VPOR   Y5, Y1, Y1
	VPOR   Y6, Y2, Y2
	VPOR   Y7, Y3, Y3
	ADDQ   $128, SI
	SUBQ   $32, CX
	JNE    loop

	VPOR      Y1, Y0, Y0
	VPOR      Y3, Y2, Y2
	VPOR      Y2, Y0, Y0
	VMOVMSKPS Y0, AX         // the sign bits
	VZEROUPPER
	TESTL     AX, AX
	SETEQ     ret+16(FP)
	RET
