package limits

import (
	"fmt"
	"os"
	"testing"
)

// files are the files that its read function finds.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

// TestSum verifies that named lines count, in bytes, and no others.
func TestSum(t *testing.T) {
	for text, want := range map[string]string{
		"Rss: 9 kB\nPss: 8 kB\nPss_Anon:        3 kB\nPss_File: 5 kB\nPss_Shmem: 4 kB\n": "7168 true",
		"Pss: 8 kB\n":            "0 false",
		"Pss_Anon: many kB\n":    "0 false",
		"":                       "0 false",
		"Pss_Anon:  1024 kB\r\n": "1048576 true",
		"Pss_Anon 7\n":           "7 true",
	} {
		n, ok := Sum([]byte(text), "Pss_Anon", "Pss_Shmem")
		if got := fmt.Sprint(n, " ", ok); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestControlGroup verifies that the limits of this process's group, of those above it and, in
// a container, of the root are found.
func TestControlGroup(t *testing.T) {
	none := Limits{Tasks: -1, Memory: -1}
	tests := []struct {
		name  string
		files files
		want  Limits
	}{
		{"none", files{}, none},
		{"v2 without limits", files{"/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/pids.max": "max\n", "/sys/fs/cgroup/a/cpu.max": "max 100000\n"}, none},
		{"v2", files{
			"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/pids.max": "300\n", "/sys/fs/cgroup/a/pids.max": "100\n",
			"/sys/fs/cgroup/a/memory.max": "1073741824\n", "/sys/fs/cgroup/a/memory.current": "1048576\n",
			"/sys/fs/cgroup/a/b/memory.max": "2147483648\n", "/sys/fs/cgroup/a/b/cpu.max": "150000 100000\n",
		}, Limits{Tasks: 100, Memory: 1 << 30, Used: 1 << 20}},
		{"v2 in a container", files{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/pids.max": "64\n"}, Limits{Tasks: 64, Memory: -1}},
		{"v1 in a container", files{
			"/proc/self/cgroup": "4:memory:/x\n", "/sys/fs/cgroup/pids/pids.max": "64\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "4096\n",
			"/sys/fs/cgroup/memory/memory.usage_in_bytes": "1024\n",
		}, Limits{Tasks: 64, Memory: 4096, Used: 1024}},
		{"v2 with cached files", files{
			"/sys/fs/cgroup/memory.max": "4096\n", "/sys/fs/cgroup/memory.current": "4000\n",
			"/sys/fs/cgroup/memory.stat": "anon 500\nfile 3500\ninactive_file 3000\nactive_file 500\n",
		}, Limits{Tasks: -1, Memory: 4096, Used: 1000}},
		{"v1 with cached files", files{
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "4096\n", "/sys/fs/cgroup/memory/memory.usage_in_bytes": "4000\n",
			"/sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 5000\nx\n",
		}, Limits{Tasks: -1, Memory: 4096, Used: 0}},
		{"v1 without limits", files{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, none},
		{"garbage", files{"/proc/self/cgroup": "0::../../etc\n0::\nx", "/sys/fs/cgroup/pids.max": "-3x", "/sys/fs/cgroup/cpu.max": "0 0"}, none},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := ControlGroup(tt.files.read); got != tt.want {
				t.Errorf("read %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestMemory verifies the parser of /proc/meminfo, also for lines that it does not know.
func TestMemory(t *testing.T) {
	all, free := Memory(files{"/proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n\nx"}.read)
	if all != 2<<20 || free != 1<<20 {
		t.Errorf("memory is %d, of which %d are free; want 2 MiB and 1 MiB", all, free)
	}
	if all, free := Memory(files{}.read); all != 0 || free != 0 {
		t.Errorf("without the file %d and %d, want 0", all, free)
	}
}

// TestFree verifies that this host has some free memory, and no more than all of it.
func TestFree(t *testing.T) {
	all, _ := Memory(os.ReadFile)
	if free, ok := Free(); ok && (free < 0 || all > 0 && free > all) {
		t.Errorf("%d bytes are free, want 0 to %d", free, all)
	}
}
