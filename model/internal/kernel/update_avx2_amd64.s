//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define SGD ·sgdAVX2
#define MOMENTUM ·momentumAVX2
#define NESTEROV ·nesterovAVX2
#define ADAGRAD ·adagradAVX2
#define ADADELTA ·adadeltaAVX2
#define ADAM ·adamAVX2
#define ADAMROWS ·adamRowsAVX2
#define ADAMDECAY ·adamDecayAVX2
#define ADAMW ·adamWAVX2
#define FTRL ·ftrlAVX2
#define RMSPROP ·rmspropAVX2
#define CENTERED ·centeredAVX2

#include "update_wide_amd64.h"
