package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rankPID returns the process of a rank of the box's job.
func (b *box) rankPID(rank int) int {
	b.Helper()
	for pid, env := range b.processes() {
		if bytes.Contains(env, []byte("\x00RINGTRAIN_RANK="+strconv.Itoa(rank)+"\x00")) {
			return pid
		}
	}
	b.Fatalf("no process of rank %d", rank)
	return 0
}

// processes returns the living processes of the box with their environments. Zombies
// have an empty environment and are not included.
func (b *box) processes() map[int][]byte {
	b.Helper()
	found := map[int][]byte{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte(inBox+b.dir+"\x00")) {
			continue // of another user, or ended by now
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found[pid] = append([]byte{0}, env...)
	}
	return found
}

// childrenOf returns the processes with the parent pid.
func childrenOf(pid int) []int {
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if _, parent := stateOf(child); parent == pid {
			list = append(list, child)
		}
	}
	return list
}

// stateOf returns the state letter and the parent of a process, 'X' if it does not
// exist.
func stateOf(pid int) (state byte, parent int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, ok := strings.Cut(string(text), ") ")
	if err != nil || !ok {
		return 'X', 0
	}
	f := strings.Fields(rest)
	parent, _ = strconv.Atoi(f[1])
	return f[0][0], parent
}

// gone reports whether a process has ended. A zombie only waits for its parent.
func gone(pid int) bool {
	state, _ := stateOf(pid)
	return state == 'X' || state == 'Z'
}

// nothingLeft verifies that all processes of the box, and those in pids, end within a
// time.
func (b *box) nothingLeft(within time.Duration, pids []int) {
	b.Helper()
	eventually(b, within, "all processes of the job are gone", func() bool {
		for _, pid := range pids {
			if !gone(pid) {
				return false
			}
		}
		return len(b.processes()) == 0
	})
}

func kill(t testing.TB, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// eventually waits until ok returns true, and fails the test after a time.
func eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	late := time.After(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("after %v still not: %s", within, what)
		}
	}
}
