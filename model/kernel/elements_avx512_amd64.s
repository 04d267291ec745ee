//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "wide_avx512_amd64.h"

#define ELEMENTS ·elementsAVX512

#include "elements_wide_amd64.h"
