//go:build !noasm

#include "textflag.h"
#include "wide_avx2_amd64.h"

#define ADD ·addAVX2
#define MULTIPLY ·multiplyAVX2
#define AXPY ·axpyAVX2
#define SCALE ·scaleAVX2
#define DIVIDE ·divideAVX2
#define ADDQUOTIENT ·addQuotientAVX2
#define SHIFT ·shiftAVX2
#define CLAMP ·clampAVX2
#define AVERAGE ·averageAVX2
#define EXPONENTIAL ·expAVX2
#define LOGARITHM ·logAVX2
#define TANHYPERBOLIC ·tanhAVX2
#define TANHGRAD ·tanhGradAVX2
#define SIGMOID ·sigmoidAVX2
#define SIGMOIDGRAD ·sigmoidGradAVX2
#define GELU ·geluAVX2
#define GELUGRAD ·geluGradAVX2
#define RELU ·reluAVX2
#define RELUGRAD ·reluGradAVX2
#define LEAKYRELU ·leakyReLUAVX2
#define LEAKYRELUGRAD ·leakyReLUGradAVX2

#include "elements_wide_amd64.h"
