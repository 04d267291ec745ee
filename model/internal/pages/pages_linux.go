package pages

import (
	"syscall"
	"unsafe"
)

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

// drop sets mapped memory to zero.
func drop(memory []byte) bool { return syscall.Madvise(memory, syscall.MADV_DONTNEED) == nil }

// release unmaps memory.
func release(memory []byte) { _ = syscall.Munmap(memory) }
