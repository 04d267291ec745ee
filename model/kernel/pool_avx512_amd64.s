//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define POOL ·poolAVX512

#include "pool_wide_amd64.h"
