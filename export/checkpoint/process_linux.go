package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// thisProcess identifies the calling process.
func thisProcess() process {
	p := process{PID: os.Getpid(), Started: startOf(os.Getpid())}
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 == nil && err2 == nil && p.Started != "" {
		p.Machine = strings.TrimSpace(string(boot)) + "/" + pids
	}
	return p
}

// startOf returns the start of a process in ticks since boot, "" if the process does not
// exist or is a zombie.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The fields are: pid (name) state … starttime is field 22. The name may contain any
	// characters.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || bytes.ContainsAny(fields[0], "ZX") {
		return ""
	}
	return string(fields[19])
}
