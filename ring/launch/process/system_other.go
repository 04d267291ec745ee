//go:build !linux

package process

import "syscall"

// rankAttr gives a rank a process group of its own. There is no parent-death
// signal here: the guard alone ends the ranks of a launcher that was killed.
func rankAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// OwnCores is not known here, so nothing is bound.
func OwnCores() []int { return nil }

func onCores(_ []int, start func() error) error { return start() }

// onlyZombies is not known here: process 1 waits for all.
func onlyZombies(int) bool { return false }
