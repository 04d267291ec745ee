package shmlink

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// system has the calls that a kernel may refuse, so that a test can refuse them. Nil stands
// for the kernel's own call.
type system struct {
	memfd  func(name string, flags int) (fd int, err error)
	mmap   func(fd int, offset int64, length, prot, flags int) ([]byte, error)
	rights func(fds ...int) []byte
}

func (s system) orKernel() system {
	if s.memfd == nil {
		s.memfd = unix.MemfdCreate
	}
	if s.mmap == nil {
		s.mmap = unix.Mmap
	}
	if s.rights == nil {
		s.rights = unix.UnixRights
	}
	return s
}

// fixed are the seals of each memfd: a process that maps it can rely on its size.
const fixed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// create makes memory of the given size. The memory has no name that another process could
// open.
func (s system) create(bytes int) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := s.memfd("ringtrain", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = s.memfd("ringtrain", flags)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "ringtrain memory")
	if err := unix.Ftruncate(fd, int64(bytes)); err != nil {
		f.Close()
		return nil, fmt.Errorf("ftruncate to %d bytes: %w", bytes, err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, fixed); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal of a memfd: %w", err)
	}
	return f, nil
}

// attach maps the memory behind f, which must have the size of r, and touches this worker's
// part. If memory is short, attach so returns an error; otherwise the first write would end
// the process (SIGBUS).
func (s system) attach(f *os.File, r region) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, fmt.Errorf("fstat: %w", err)
	}
	if seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0); err != nil || seals&fixed != fixed || st.Size != int64(r.bytes) {
		return nil, fmt.Errorf("memory of %d bytes with seals %#x, want %d and %#x", st.Size, seals, r.bytes, fixed)
	}
	view, err := s.mmap(int(f.Fd()), 0, r.bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", r.bytes, err)
	}
	mine := r.mine
	err = unix.Madvise(view[mine.from:mine.to], unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.14
		err = unix.Fallocate(int(f.Fd()), 0, int64(mine.from), int64(mine.to-mine.from))
	}
	if err != nil {
		unix.Munmap(view)
		return nil, fmt.Errorf("%d bytes of memory: %w", mine.to-mine.from, err)
	}
	return view, nil
}

// byteRange is a part of a memory in bytes; both ends are on page boundaries.
type byteRange struct{ from, to int }

// unmap unmaps a view; nil is no view.
func unmap(view []byte) error {
	if view == nil {
		return nil
	}
	if err := unix.Munmap(view); err != nil {
		return fmt.Errorf("munmap of %d bytes: %w", len(view), err)
	}
	return nil
}
