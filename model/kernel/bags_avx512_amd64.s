//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define BAGS ·bagsAVX512
#define GATHERROWS ·gatherRowsAVX512

#include "bags_wide_amd64.h"
