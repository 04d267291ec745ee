//go:build !linux

package speed

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
