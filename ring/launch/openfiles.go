package launch

import (
	"fmt"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/phrase"
)

// Open files that a process which starts ranks needs, in upper bounds.
const (
	filesOfProcess = 24 // its own
	filesOfChild   = 3  // of a rank on its host: both outputs, and the process
	filesOfWorker  = 2  // of a rank anywhere: its control stream, and one that replaces it
	filesOfLogin   = 5  // three pipes, the process, and the copy of this program
	filesOfOutput  = 2  // of a rank with OutputDir
)

// openFiles returns how many files the launcher has open at most.
func (c *Config) openFiles(seats []hosts.Assignment) int {
	n, logins := filesOfProcess, map[int]bool{}
	for _, s := range seats {
		n += filesOfWorker
		if c.OutputDir != "" {
			n += filesOfOutput
		}
		if len(c.Hosts) == 0 || c.Hosts[s.Host].Local {
			n += filesOfChild
		} else if !logins[s.Host] {
			logins[s.Host] = true
			n += filesOfLogin
		}
	}
	return n
}

// checkOpenFiles compares the open files that some ranks need with the limit of this process. It
// returns exitcode.Usage if they are too many.
func checkOpenFiles(ranks, need int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // the system has no limit that can be asked for
	}
	return compareOpenFiles(ranks, need, limit.Cur)
}

func compareOpenFiles(ranks, need int, limit uint64) error {
	if uint64(need) <= limit {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s: %d open files are needed, the limit is %d: raise it by ulimit -n %d", phrase.Count(ranks, "rank"), need, limit, need))
}
