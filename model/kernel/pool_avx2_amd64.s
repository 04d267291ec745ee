//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define POOL ·poolAVX2

#include "pool_wide_amd64.h"
