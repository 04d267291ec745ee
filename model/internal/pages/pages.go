// Package pages gives memory to tables. A step touches few rows of a table, far apart: with
// pages of 4 KiB nearly each row would also miss the processor's table of pages. So the memory
// consists of huge pages where the system has them, outside of the garbage collector's heap,
// which would else wait for as much garbage before it collects.
//
// Memory is zero and takes no room before it is touched.
package pages

import "runtime"

// Floats are elements of a table. Values is valid as long as the Floats are reachable.
type Floats struct {
	Values []float32
	mapped []byte // what the system gave; nil: Values are of the heap
}

// hugeBytes is the size of a huge page. What is smaller than one is of the heap.
const hugeBytes = 2 << 20

// Make returns n zeros.
func Make(n int) *Floats {
	f := &Floats{}
	if 4*n >= hugeBytes && f.fromSystem(n) {
		runtime.AddCleanup(f, release, f.mapped)
	} else {
		f.Values = make([]float32, n)
	}
	return f
}

// Clear makes all values zero, and gives the room back that they took.
func (f *Floats) Clear() {
	if f.mapped == nil || !drop(f.mapped) {
		clear(f.Values)
	}
}
