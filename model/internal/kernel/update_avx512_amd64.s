//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define SGD ·sgdAVX512
#define MOMENTUM ·momentumAVX512
#define NESTEROV ·nesterovAVX512
#define ADAGRAD ·adagradAVX512
#define ADADELTA ·adadeltaAVX512
#define ADAM ·adamAVX512
#define ADAMROWS ·adamRowsAVX512
#define ADAMDECAY ·adamDecayAVX512
#define ADAMW ·adamWAVX512
#define FTRL ·ftrlAVX512
#define RMSPROP ·rmspropAVX512
#define CENTERED ·centeredAVX512

#include "update_wide_amd64.h"
