package process

import (
	"bytes"
	"fmt"
	"os"
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
	found := false
	err := eachProcess(func(p processStat) bool {
		found = p.group == id && !p.ended
		return !found
	})
	return err == nil && !found
}

// inheritsOrphans reports whether processes whose parents have ended become children of this
// process.
func inheritsOrphans() bool {
	var on int
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0)
	return os.Getpid() == 1 || err == nil && on != 0
}

// zombieChildren returns the children of this process that have ended and that it has not
// waited for.
func zombieChildren() []int {
	var found []int
	eachProcess(func(p processStat) bool { // without /proc there are none
		if p.parent == os.Getpid() && p.ended {
			found = append(found, p.id)
		}
		return true
	})
	return found
}

// processStat is what proc(5) tells of a process.
type processStat struct {
	id, parent, group int
	ended             bool
}

// eachProcess calls see for each process of the system, while see returns true.
func eachProcess(see func(processStat) bool) error {
	entries, err := os.ReadDir("/proc")
	for _, e := range entries {
		if c := e.Name()[0]; c < '0' || c > '9' {
			continue
		}
		if stat, err := os.ReadFile("/proc/" + e.Name() + "/stat"); err == nil && !see(parseStat(stat)) {
			break
		}
	}
	return err
}

// parseStat parses the line of a process, in the format of proc(5).
func parseStat(stat []byte) (p processStat) {
	p.id, _ = strconv.Atoi(string(stat[:max(bytes.IndexByte(stat, ' '), 0)]))
	rest := stat[bytes.LastIndexByte(stat, ')')+1:] // the name may contain any character
	if fields := bytes.Fields(rest); len(fields) >= 3 {
		p.ended = bytes.ContainsAny(fields[0], "ZX")
		p.parent, _ = strconv.Atoi(string(fields[1]))
		p.group, _ = strconv.Atoi(string(fields[2]))
	}
	return p
}
