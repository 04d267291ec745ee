//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx2_amd64.h"

#define ELEMENTS ·elementsAVX2

#include "elements_wide_amd64.h"
