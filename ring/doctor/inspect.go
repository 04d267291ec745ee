package doctor

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"ringtrain/ring/cores"
	"ringtrain/ring/folder"
	"ringtrain/ring/limits"
)

// Write is a path that a job writes to, and its key in the job file.
type Write struct{ Key, Path string }

// Inspect describes this process's host: its limits, and the free space in the folders that the
// job writes to. kernels is the highest kernel set of the process. [Examine] sets rank and address,
// and the caller the token.
func Inspect(version, kernels string, writes []Write) Host {
	h := Host{Version: version, Kernels: kernels, Cores: cores.Own(), Disks: []Disk{}}
	h.limits()
	for _, w := range writes {
		d := Disk{Key: w.Key, Path: w.Path}
		at, err := folder.Nearest(w.Path)
		if err == nil {
			if d.Free, err = freeBytes(at); err != nil {
				err = fmt.Errorf("%s: %w", at, err)
			}
		}
		if err != nil {
			d.Fault = err.Error()
		}
		h.Disks = append(h.Disks, d)
	}
	return h
}

func (h *Host) limits() {
	h.OpenFiles = resource(unix.RLIMIT_NOFILE)
	g := limits.ControlGroup(os.ReadFile)
	h.Tasks = limits.Stricter(resource(unix.RLIMIT_NPROC), g.Tasks)
	if os.Geteuid() == 0 {
		h.Tasks = g.Tasks // root is exempt from the user's limit
	}
	h.Memory, h.MemoryFree = limits.Memory(os.ReadFile)
	if g.Memory > 0 {
		h.MemoryFree = min(h.MemoryFree, max(g.Memory-g.Used, 0))
	}
}

// resource returns a limit of this process: -1 if there is none, 0 if it is unknown.
func resource(what int) int64 {
	var r unix.Rlimit
	switch err := unix.Getrlimit(what, &r); {
	case err != nil:
		return 0
	case r.Cur == unix.RLIM_INFINITY || r.Cur > math.MaxInt64:
		return -1
	}
	return int64(r.Cur)
}

// freeBytes returns the free bytes of a folder to which this process may write.
func freeBytes(path string) (int64, error) {
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return 0, err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
