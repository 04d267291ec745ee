package shmlink

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2) on a word that processes share.
const (
	futexOpWait = 0
	futexOpWake = 1
)

// futexWait sleeps until the word is woken or limit has passed. It returns at once if the
// value is not v, and may return without reason. Go's scheduler runs other goroutines
// meanwhile.
func futexWait(word *atomic.Uint32, v uint32, limit *unix.Timespec) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(v), uintptr(unsafe.Pointer(limit)), 0, 0)
}

// futexWake wakes all sleepers on the word.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWake, math.MaxInt32, 0, 0, 0)
}

// yieldCore lets another thread run on this core, if one is ready. It returns within a
// fraction of a microsecond if none is, so Go's scheduler is not told of the system call.
func yieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
