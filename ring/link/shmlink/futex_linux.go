package shmlink

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2), for a word that processes share.
const (
	futexOpWait = 0
	futexOpWake = 1
)

// futexWait sleeps until the word is woken, unless its value is no longer v, or
// for as long as limit. It may return for no reason. The scheduler of
// Go runs other goroutines meanwhile.
func futexWait(word *atomic.Uint32, v uint32, limit *unix.Timespec) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(v), uintptr(unsafe.Pointer(limit)), 0, 0)
}

// futexWake wakes all that sleep on the word.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWake, math.MaxInt32, 0, 0, 0)
}

// yield lets another thread have this core, if one wants it. It returns within
// a fraction of a microsecond if none does, so the scheduler of Go need not
// know.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
