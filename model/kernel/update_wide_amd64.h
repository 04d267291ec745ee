// The rules of update_ref.go, one TEXT each. A function takes a pointer to an
// updateArgs; its n is a multiple of WIDTH and not 0.
//
//	DI = w   SI = g   R8, R9, R10 = slots   BX = offset in bytes   CX = end
//	V0 = g   V1 = w   V2, V3, V4 = slots   V8..V13 = constants   V14 = 1

#define ARGS \
	MOVQ a+0(FP), AX           \
	MOVQ updateArgs_w(AX), DI  \
	MOVQ updateArgs_g(AX), SI  \
	MOVQ updateArgs_s0(AX), R8 \
	MOVQ updateArgs_s1(AX), R9 \
	MOVQ updateArgs_s2(AX), R10 \
	MOVQ updateArgs_n(AX), CX  \
	SHLQ $2, CX                \
	XORL BX, BX

// CONSTANT loads constant i into each element of v.
#define CONSTANT(i, v) VBROADCASTSS (updateArgs_c+4*i)(AX), v

// NEXT goes on with the next WIDTH elements.
#define NEXT(label) \
	ADDQ $(4*WIDTH), BX \
	CMPQ BX, CX         \
	JNE  label          \
	VZEROUPPER          \
	RET

#define LOADW   VMOVUPS (DI)(BX*1), V1
#define LOADG   VMOVUPS (SI)(BX*1), V0
#define LOADS0  VMOVUPS (R8)(BX*1), V2
#define LOADS1  VMOVUPS (R9)(BX*1), V3
#define LOADS2  VMOVUPS (R10)(BX*1), V4
#define STOREW  VMOVUPS V1, (DI)(BX*1)
#define STORES0 VMOVUPS V2, (R8)(BX*1)
#define STORES1 VMOVUPS V3, (R9)(BX*1)
#define STORES2 VMOVUPS V4, (R10)(BX*1)

TEXT sgd<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η

sgd:
	LOADW
	VMULPS (SI)(BX*1), V8, V5  // V5 = g·η
	VSUBPS V5, V1, V1          // w −= V5
	STOREW
	NEXT(sgd)

TEXT momentum<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = μ

momentum:
	LOADW
	LOADS0
	VMULPS V9, V2, V2
	VADDPS (SI)(BX*1), V2, V2  // a = a·μ + g
	VMULPS V8, V2, V5
	VSUBPS V5, V1, V1          // w −= a·η
	STORES0
	STOREW
	NEXT(momentum)

TEXT nesterov<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = μ

nesterov:
	LOADW
	LOADG
	LOADS0
	VMULPS V9, V2, V2
	VADDPS V0, V2, V2          // a = a·μ + g
	VMULPS V9, V2, V5
	VMULPS V8, V5, V5          // V5 = (a·μ)·η
	VMULPS V8, V0, V6          // V6 = g·η
	VADDPS V5, V6, V5
	VSUBPS V5, V1, V1          // w −= V6 + V5
	STORES0
	STOREW
	NEXT(nesterov)

TEXT adagrad<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	VBROADCASTSS one<>(SB), V14

adagrad:
	LOADW
	LOADG
	LOADS0
	VMULPS  V0, V0, V5
	VADDPS  V5, V2, V2         // a += g²
	VSQRTPS V2, V5
	VDIVPS  V5, V14, V5        // V5 = 1/√a
	VMULPS  V8, V0, V6         // V6 = g·η
	VMULPS  V5, V6, V5
	VSUBPS  V5, V1, V1         // w −= V6·V5
	STORES0
	STOREW
	NEXT(adagrad)

TEXT adadelta<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = ρ
	CONSTANT(2, V10)           // V10 = 1−ρ
	CONSTANT(3, V11)           // V11 = ε
	VBROADCASTSS one<>(SB), V14

adadelta:
	LOADW
	LOADG
	LOADS0
	LOADS1
	VMULPS  V9, V2, V2
	VMULPS  V0, V0, V5
	VMULPS  V10, V5, V5
	VADDPS  V5, V2, V2         // a = a·ρ + g²·(1−ρ)
	VADDPS  V11, V2, V5
	VSQRTPS V5, V5
	VDIVPS  V5, V14, V5        // V5 = 1/√(a+ε)
	VADDPS  V11, V3, V6
	VSQRTPS V6, V6             // V6 = √(d+ε)
	VMULPS  V5, V6, V5
	VMULPS  V0, V5, V5         // V5 = u
	VMULPS  V8, V5, V6
	VSUBPS  V6, V1, V1         // w −= u·η
	VMULPS  V9, V3, V3
	VMULPS  V5, V5, V5
	VMULPS  V10, V5, V5
	VADDPS  V5, V3, V3         // d = d·ρ + u²·(1−ρ)
	STORES0
	STORES1
	STOREW
	NEXT(adadelta)

// MOMENTS: m += (g−m)·(1−β₁) and v += (g²−v)·(1−β₂), with V2 = m and V3 = v.
#define MOMENTS \
	VSUBPS V2, V0, V5  \
	VMULPS V9, V5, V5  \
	VADDPS V5, V2, V2  \
	VMULPS V0, V0, V5  \
	VSUBPS V3, V5, V5  \
	VMULPS V10, V5, V5 \
	VADDPS V5, V3, V3

// ADAMSTEP: w −= (m·α)/(√v+ε).
#define ADAMSTEP \
	VMULPS  V8, V2, V5  \
	VSQRTPS V3, V6      \
	VADDPS  V11, V6, V6 \
	VDIVPS  V6, V5, V5  \
	VSUBPS  V5, V1, V1

TEXT adam<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = α
	CONSTANT(1, V9)            // V9 = 1−β₁
	CONSTANT(2, V10)           // V10 = 1−β₂
	CONSTANT(3, V11)           // V11 = ε

adam:
	LOADW
	LOADG
	LOADS0
	LOADS1
	MOMENTS
	ADAMSTEP
	STORES0
	STORES1
	STOREW
	NEXT(adam)

TEXT adamRows<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = α
	CONSTANT(1, V9)            // V9 = 1−β₁
	CONSTANT(2, V10)           // V10 = 1−β₂
	CONSTANT(3, V11)           // V11 = ε
	CONSTANT(4, V12)           // V12 = β₁
	CONSTANT(5, V13)           // V13 = β₂

rows:
	LOADW
	LOADG
	LOADS0
	LOADS1
	VMULPS V12, V2, V2
	VMULPS V9, V0, V5
	VADDPS V5, V2, V2          // m = m·β₁ + g·(1−β₁)
	VMULPS V13, V3, V3
	VMULPS V0, V0, V5
	VMULPS V10, V5, V5
	VADDPS V5, V3, V3          // v = v·β₂ + g²·(1−β₂)
	ADAMSTEP
	STORES0
	STORES1
	STOREW
	NEXT(rows)

TEXT adamDecay<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = α
	CONSTANT(3, V11)           // V11 = ε
	CONSTANT(4, V12)           // V12 = β₁
	CONSTANT(5, V13)           // V13 = β₂

decay:
	LOADW
	LOADS0
	LOADS1
	VMULPS V12, V2, V2         // m *= β₁
	VMULPS V13, V3, V3         // v *= β₂
	ADAMSTEP
	STORES0
	STORES1
	STOREW
	NEXT(decay)

TEXT adamW<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = α
	CONSTANT(1, V9)            // V9 = 1−β₁
	CONSTANT(2, V10)           // V10 = 1−β₂
	CONSTANT(3, V11)           // V11 = ε
	CONSTANT(4, V12)           // V12 = λ
	CONSTANT(5, V13)           // V13 = η

adamw:
	LOADW
	LOADG
	LOADS0
	LOADS1
	MOMENTS
	VMULPS V12, V1, V5
	VMULPS V13, V5, V5
	VSUBPS V5, V1, V1          // w −= (w·λ)·η
	ADAMSTEP
	STORES0
	STORES1
	STOREW
	NEXT(adamw)

TEXT ftrl<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = λ₁
	CONSTANT(2, V10)           // V10 = 2λ₂
	CONSTANT(3, V11)           // V11 = 2λₛ
	MOVL (updateArgs_c+12)(AX), DX
	SHLL $1, DX                // DX = 0 if λₛ is 0 or −0
	VBROADCASTSS signs<>(SB), V12
	XOR(V12, V9, V13)          // V13 = −λ₁
	XOR(V14, V14, V14)

ftrl:
	LOADW
	LOADG
	LOADS0
	LOADS1
	VMULPS  V0, V0, V5
	VADDPS  V5, V2, V5         // V5 = n'
	VSQRTPS V5, V6             // V6 = √n'
	VSQRTPS V2, V7
	VSUBPS  V7, V6, V7
	VDIVPS  V8, V7, V7         // V7 = σ
	TESTL   DX, DX
	JEQ     plain
	VMULPS  V11, V1, V4
	VADDPS  V4, V0, V0         // g += 2λₛ·w

plain:
	VMULPS V1, V7, V7
	VSUBPS V7, V0, V0
	VADDPS V0, V3, V3          // z += g − σ·w
	VDIVPS V8, V6, V6
	VADDPS V10, V6, V6         // V6 = √n'/η + 2λ₂
	SELECT(GT, V3, V9, V9, V13, V7)
	VSUBPS V3, V7, V7          // V7 = λ₁·sgn z − z
	VDIVPS V6, V7, V7
	VMOVUPS V5, (R8)(BX*1)     // n = n'
	STORES1
	AND(V12, V3, V5)
	XOR(V5, V3, V3)            // V3 = |z|
	SELECT(LE, V3, V9, V14, V7, V1)
	STOREW
	NEXT(ftrl)

TEXT rmsprop<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = 1−ρ
	CONSTANT(2, V10)           // V10 = μ
	CONSTANT(3, V11)           // V11 = ε

rmsprop:
	LOADW
	LOADG
	LOADS0
	LOADS1
	VMULPS  V0, V0, V5
	VSUBPS  V2, V5, V5
	VMULPS  V9, V5, V5
	VADDPS  V5, V2, V2         // r += (g²−r)·(1−ρ)
	VADDPS  V11, V2, V5
	VSQRTPS V5, V5             // V5 = √(r+ε)
	VMULPS  V8, V0, V6
	VDIVPS  V5, V6, V5
	VMULPS  V10, V3, V3
	VADDPS  V5, V3, V3         // q = q·μ + (g·η)/V5
	VSUBPS  V3, V1, V1         // w −= q
	STORES0
	STORES1
	STOREW
	NEXT(rmsprop)

TEXT centered<>(SB), NOSPLIT, $0-8
	ARGS
	CONSTANT(0, V8)            // V8 = η
	CONSTANT(1, V9)            // V9 = 1−ρ
	CONSTANT(2, V10)           // V10 = μ
	CONSTANT(3, V11)           // V11 = ε

centered:
	LOADW
	LOADG
	LOADS0
	LOADS1
	LOADS2
	VMULPS  V0, V0, V5
	VSUBPS  V2, V5, V5
	VMULPS  V9, V5, V5
	VADDPS  V5, V2, V2         // r += (g²−r)·(1−ρ)
	VSUBPS  V4, V0, V5
	VMULPS  V9, V5, V5
	VADDPS  V5, V4, V4         // h += (g−h)·(1−ρ)
	VMULPS  V4, V4, V5
	VSUBPS  V5, V2, V5
	VADDPS  V11, V5, V5
	VSQRTPS V5, V5             // V5 = √((r−h²)+ε)
	VMULPS  V8, V0, V6
	VDIVPS  V5, V6, V5
	VMULPS  V10, V3, V3
	VADDPS  V5, V3, V3         // q = q·μ + (g·η)/V5
	VSUBPS  V3, V1, V1         // w −= q
	STORES0
	STORES1
	STORES2
	STOREW
	NEXT(centered)

DATA one<>+0(SB)/4, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $4

DATA signs<>+0(SB)/4, $0x80000000
GLOBL signs<>(SB), RODATA|NOPTR, $4

// UPDATE jumps to the body of rule r.
TEXT UPDATE(SB), NOSPLIT, $0-16
	MOVQ r+8(FP), AX
	LEAQ bodies<>(SB), CX
	JMP  (CX)(AX*8)

DATA bodies<>+(8*const_SGD)(SB)/8, $sgd<>(SB)
DATA bodies<>+(8*const_Momentum)(SB)/8, $momentum<>(SB)
DATA bodies<>+(8*const_Nesterov)(SB)/8, $nesterov<>(SB)
DATA bodies<>+(8*const_Adagrad)(SB)/8, $adagrad<>(SB)
DATA bodies<>+(8*const_Adadelta)(SB)/8, $adadelta<>(SB)
DATA bodies<>+(8*const_Adam)(SB)/8, $adam<>(SB)
DATA bodies<>+(8*const_AdamRows)(SB)/8, $adamRows<>(SB)
DATA bodies<>+(8*const_AdamDecay)(SB)/8, $adamDecay<>(SB)
DATA bodies<>+(8*const_AdamW)(SB)/8, $adamW<>(SB)
DATA bodies<>+(8*const_Ftrl)(SB)/8, $ftrl<>(SB)
DATA bodies<>+(8*const_RMSProp)(SB)/8, $rmsprop<>(SB)
DATA bodies<>+(8*const_RMSPropCentered)(SB)/8, $centered<>(SB)
GLOBL bodies<>(SB), RODATA, $(8*const_NesterovRows)
