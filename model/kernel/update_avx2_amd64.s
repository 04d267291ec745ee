//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define UPDATE ·updateAVX2

#include "update_wide_amd64.h"
