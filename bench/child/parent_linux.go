package child

import "syscall"

// dieWithParent returns attributes that make the kernel kill a child when the thread
// that started it ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
