//go:build !linux

package shmlink

import (
	"context"
	"fmt"
	"runtime"

	"ringtrain/ring"
)

// system has no calls on other systems.
type system struct{}

// Open returns ErrUnavailable: memory is shared on Linux only.
func Open(_ context.Context, _ ring.Membership, _ Config) (ring.Memory, error) {
	return nil, fmt.Errorf("%w: it needs Linux, this is %s", ErrUnavailable, runtime.GOOS)
}
