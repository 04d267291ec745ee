package token

import "syscall"

// NoCore sets this process's soft limit of core files to 0, so that no core file has the
// token. Without that right the limit stays.
func NoCore() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}
