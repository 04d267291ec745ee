package shmlink

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cores is the set of cores that a worker may use. It tells the leader when it joins.
type cores [coresBytes]byte

const coresBytes = int(unsafe.Sizeof(unix.CPUSet{}))

// ownCores returns the affinity of this process, or no cores if it is unknown.
func ownCores() cores {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return cores{}
	}
	return *(*cores)(unsafe.Pointer(&set))
}

// add adds the cores of others to c.
func (c *cores) add(others cores) {
	for i, b := range others {
		c[i] |= b
	}
}

// count returns the number of cores in c.
func (c *cores) count() int {
	n := 0
	for _, b := range c {
		n += bits.OnesCount8(b)
	}
	return n
}
