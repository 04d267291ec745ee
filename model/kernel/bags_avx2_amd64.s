//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define BAGS ·bagsAVX2
#define GATHERROWS ·gatherRowsAVX2

#include "bags_wide_amd64.h"
