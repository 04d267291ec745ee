package peers

import "syscall"

// dieWithParent has the kernel end a child when this process ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
