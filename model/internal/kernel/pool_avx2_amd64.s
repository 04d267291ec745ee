//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define MAXWINDOW ·maxWindowAVX2
#define MAXGRAD ·maxGradAVX2
#define MAXPUT ·maxPutAVX2
#define MEANWINDOW ·meanWindowAVX2
#define MEANGRAD ·meanGradAVX2

#include "pool_wide_amd64.h"
