//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define DROP ·dropAVX512
#define DROPADD ·dropAddAVX512

#include "rows_wide_amd64.h"
