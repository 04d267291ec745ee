// Package pages allocates memory for tables. A step uses few distant rows of a table.
// With pages of 4 KiB nearly each access would also miss the TLB. So the memory consists
// of huge pages if the system has them. It is outside of the garbage collector's heap,
// which would otherwise let as much garbage accumulate.
//
// Memory is zero and occupies no pages before the first access.
package pages

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Floats has the elements of a table. Values is valid as long as the Floats is
// reachable.
type Floats struct {
	Values []float32
	mapped []byte // memory of the system; nil if Values is on the heap
}

// hugeBytes is the size of a huge page. Smaller memory is on the heap.
const hugeBytes = 2 << 20

// Make returns n zeros.
func Make(n int) *Floats {
	f := &Floats{}
	if 4*n >= hugeBytes && f.fromSystem(n) {
		runtime.AddCleanup(f, func(memory []byte) { _ = syscall.Munmap(memory) }, f.mapped)
	} else {
		f.Values = make([]float32, n)
	}
	return f
}

// Clear sets all values to zero and releases their pages.
func (f *Floats) Clear() {
	if f.mapped == nil || syscall.Madvise(f.mapped, syscall.MADV_DONTNEED) != nil {
		clear(f.Values)
	}
}

// fromSystem maps memory for n elements, aligned to a huge page.
func (f *Floats) fromSystem(n int) bool {
	memory, err := syscall.Mmap(-1, 0, 4*n+hugeBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return false
	}
	_ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) // without success the pages are small
	begin := uintptr(unsafe.Pointer(&memory[0]))
	skip := (begin+hugeBytes-1)/hugeBytes*hugeBytes - begin
	f.mapped = memory
	f.Values = unsafe.Slice((*float32)(unsafe.Pointer(&memory[skip])), n)
	return true
}
