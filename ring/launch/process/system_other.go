//go:build !linux

package process

import "syscall"

// rankAttr puts a rank in a process group of its own. This system has no parent-death
// signal: only the guard ends the ranks of a launcher that was killed.
func rankAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// OwnCores returns nil: this system does not tell the cores of a thread. Ranks are not
// bound.
func OwnCores() []int { return nil }

// onCores calls start.
func onCores(_ []int, start func() error) error { return start() }

// onlyZombies returns false: process 1 waits for all processes here.
func onlyZombies(int) bool { return false }

// inheritsOrphans returns false: this system has no containers with a process 1 of their own.
func inheritsOrphans() bool { return false }

// children returns none.
func children() []int { return nil }
