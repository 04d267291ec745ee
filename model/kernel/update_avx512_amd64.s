//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define UPDATE ·updateAVX512

#include "update_wide_amd64.h"
