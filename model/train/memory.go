package train

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// maxRSS is the largest resident memory that this process had, in bytes, 0
// where the system does not say. (getrusage counts what the parent had before
// exec; VmHWM does not.)
func maxRSS() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		rest, ok := strings.CutPrefix(s.Text(), "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}
