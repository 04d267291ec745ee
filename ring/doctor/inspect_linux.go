package doctor

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"ringtrain/ring/cores"
)

func (h *Host) limits() {
	h.OpenFiles, h.Locked = resource(unix.RLIMIT_NOFILE), resource(unix.RLIMIT_MEMLOCK)
	g := controlGroup(os.ReadFile)
	h.Tasks = least(resource(unix.RLIMIT_NPROC), g.tasks)
	if os.Geteuid() == 0 {
		h.Tasks = g.tasks // the limit of users is none of root's
	}
	h.Memory, h.MemoryFree = memory(os.ReadFile)
	h.MemoryLimit, h.CoreLimit = g.memory, g.cores
	if g.memory > 0 {
		h.MemoryFree = min(h.MemoryFree, max(g.memory-g.used, 0))
	}
	if fd, err := unix.MemfdCreate("ringtrain", unix.MFD_CLOEXEC); err != nil {
		h.SharedMemory = "memfd_create: " + err.Error()
	} else {
		unix.Close(fd)
	}
}

// resource returns a limit of this process, -1 if there is none, 0 if not known.
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

// least returns the stricter of two limits.
func least(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// memory reads what the host has, and what is left of it.
func memory(read func(string) ([]byte, error)) (all, free int64) {
	text, _ := read("/proc/meminfo")
	for l := range strings.Lines(string(text)) {
		fields := strings.Fields(l)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 50)
		switch fields[0] {
		case "MemTotal:":
			all = kib << 10
		case "MemAvailable:":
			free = kib << 10
		}
	}
	return all, free
}

// group is what control groups allow: the strictest of this process's own and
// those above it. -1: no limit.
type group struct {
	tasks, memory, used int64
	cores               float64
}

// controlGroup reads the limits of cgroup v2, or v1's where the container's own
// group is mounted as the root of each.
func controlGroup(read func(string) ([]byte, error)) group {
	g := group{tasks: -1, memory: -1, cores: -1}
	if q := cores.Quota(read); q > 0 {
		g.cores = q
	}
	number := func(name string) int64 {
		text, err := read("/sys/fs/cgroup" + name)
		n, err2 := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || err2 != nil || n <= 0 || n >= math.MaxInt64/2 { // "max", and v1's large number
			return -1
		}
		return n
	}
	for at := cores.Group(read); ; at = at[:strings.LastIndexByte(at, '/')] {
		g.tasks = least(g.tasks, number(at+"/pids.max"))
		if most := number(at + "/memory.max"); most > 0 && (g.memory < 0 || most < g.memory) {
			g.memory, g.used = most, max(number(at+"/memory.current"), 0)
		}
		if at == "" {
			break
		}
	}
	g.tasks = least(g.tasks, number("/pids/pids.max"))
	if most := number("/memory/memory.limit_in_bytes"); g.memory < 0 && most > 0 {
		g.memory, g.used = most, max(number("/memory/memory.usage_in_bytes"), 0)
	}
	return g
}

// room returns the free bytes of a folder that this process may write to.
func room(path string) (int64, error) {
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return 0, err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
