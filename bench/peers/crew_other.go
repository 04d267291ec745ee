//go:build !linux

package peers

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
