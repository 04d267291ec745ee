//go:build !linux

package shmlink

import (
	"context"
	"fmt"
	"runtime"

	"ringtrain/ring"
)

// system stands for a kernel that has nothing to ask for.
type system struct{}

// Open returns ErrUnavailable: memory is shared on Linux only.
func Open(_ context.Context, _ ring.Membership, _ Config) (ring.Memory, error) {
	return nil, fmt.Errorf("%w: it needs Linux, this is %s", ErrUnavailable, runtime.GOOS)
}
