//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define POOL ·poolRowsAVX2
#define POOLGRAD ·poolRowsGradAVX2
#define INTERACT ·interactAVX2
#define INTERACTGRAD ·interactGradAVX2
#define GATHERROWS ·gatherRowsAVX2

#include "bags_wide_amd64.h"
