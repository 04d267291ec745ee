//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define MAXWINDOW ·maxWindowAVX512
#define MAXGRAD ·maxGradAVX512
#define MAXPUT ·maxPutAVX512
#define MEANWINDOW ·meanWindowAVX512
#define MEANGRAD ·meanGradAVX512

#include "pool_wide_amd64.h"
