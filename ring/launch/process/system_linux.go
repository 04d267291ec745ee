package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rankAttr puts a rank in a process group of its own, and has the system send SIGTERM when
// the thread that started the rank dies. The guard's SIGKILL follows.
func rankAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// OwnCores returns the cores that this thread may use, ascending.
func OwnCores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cores []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	return cores
}

// onCores calls start, which starts a process, on the given cores; nil means all. A process
// inherits the cores from the thread that starts it. The caller must be locked to its
// thread.
func onCores(cores []int, start func() error) error {
	if cores == nil {
		return start()
	}
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("bind to cores: %w", err)
	}
	for _, c := range cores {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind to %s: %w", CoresText(cores), err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return start()
}

// onlyZombies reports whether all processes of a group have ended, though their parent has
// not waited for them. In many containers process 1 never does.
func onlyZombies(id int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if c := e.Name()[0]; c < '0' || c > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err == nil && inGroup(stat, id) {
			return false
		}
	}
	return true
}

// inGroup reports whether stat, in the format of proc(5), is of a living process of the
// group.
func inGroup(stat []byte, id int) bool {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:] // the name may contain any character
	fields := bytes.Fields(rest)                    // state, parent, group, …
	if len(fields) < 3 || string(fields[2]) != strconv.Itoa(id) {
		return false
	}
	return !bytes.ContainsAny(fields[0], "ZX")
}

// inheritsOrphans reports whether processes whose parents have ended become children of this
// process.
func inheritsOrphans() bool {
	var on int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0)
	return os.Getpid() == 1 || err == nil && on != 0
}

// children returns the children of this process.
func children() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // of each thread; the pattern is valid
	for _, name := range lists {
		text, _ := os.ReadFile(name) // a thread may have ended
		for field := range bytes.FieldsSeq(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
