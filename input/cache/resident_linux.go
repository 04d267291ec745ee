package cache

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// residentSamples is the number of pages of a file that resident asks about.
const residentSamples = 256

// resident reports whether the system holds a file in memory, by a sample of its pages: a read then
// does not wait for a disk. It maps the file and accesses none of it. mincore reports the pages of
// files that this user may write. It reports all pages of other files as present.
func resident(f *os.File, size int64) bool {
	view, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	defer unix.Munmap(view)
	page := int64(os.Getpagesize())
	var held byte // bit 0: the page is in memory
	for i := range int64(residentSamples) {
		at := (size - 1) / residentSamples * i / page * page
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&view[at])), 1, uintptr(unsafe.Pointer(&held)))
		if errno != 0 || held&1 == 0 {
			return false
		}
	}
	return true
}
