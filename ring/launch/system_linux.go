package launch

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// rankAttr gives a rank a process group of its own, and SIGTERM when the
// thread dies that has started it. The guard's SIGKILL follows.
func rankAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// onlyZombies tells whether all processes of a group have ended, though
// nobody has waited for them: many containers have a process 1 that never
// does.
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

// inGroup tells whether stat, as proc(5) has it, is of a process of the group
// that has not ended.
func inGroup(stat []byte, id int) bool {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:] // the name may hold anything
	fields := bytes.Fields(rest)                    // state, parent, group, …
	if len(fields) < 3 || string(fields[2]) != strconv.Itoa(id) {
		return false
	}
	return !bytes.ContainsAny(fields[0], "ZX")
}
