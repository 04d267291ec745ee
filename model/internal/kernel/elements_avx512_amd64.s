//go:build !noasm

#include "textflag.h"
#include "wide_avx512_amd64.h"

#define ADD ·addAVX512
#define MULTIPLY ·multiplyAVX512
#define AXPY ·axpyAVX512
#define SCALE ·scaleAVX512
#define DIVIDE ·divideAVX512
#define ADDQUOTIENT ·addQuotientAVX512
#define SHIFT ·shiftAVX512
#define CLAMP ·clampAVX512
#define AVERAGE ·averageAVX512
#define EXPONENTIAL ·expAVX512
#define LOGARITHM ·logAVX512
#define TANHYPERBOLIC ·tanhAVX512
#define TANHGRAD ·tanhGradAVX512
#define SIGMOID ·sigmoidAVX512
#define SIGMOIDGRAD ·sigmoidGradAVX512
#define GELU ·geluAVX512
#define GELUGRAD ·geluGradAVX512
#define RELU ·reluAVX512
#define RELUGRAD ·reluGradAVX512
#define LEAKYRELU ·leakyReLUAVX512
#define LEAKYRELUGRAD ·leakyReLUGradAVX512

#include "elements_wide_amd64.h"
