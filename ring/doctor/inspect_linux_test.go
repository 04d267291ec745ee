package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files are what a read function finds.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

// TestControlGroup fails if a limit that this process is under is not seen: its own,
// that of a group above it, or, in a container, that of the root.
func TestControlGroup(t *testing.T) {
	none := group{tasks: -1, memory: -1, cores: -1}
	tests := []struct {
		name  string
		files files
		want  group
	}{
		{"none", files{}, none},
		{"v2 without limits", files{"/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/pids.max": "max\n", "/sys/fs/cgroup/a/cpu.max": "max 100000\n"}, none},
		{"v2", files{
			"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/pids.max": "300\n", "/sys/fs/cgroup/a/pids.max": "100\n",
			"/sys/fs/cgroup/a/memory.max": "1073741824\n", "/sys/fs/cgroup/a/memory.current": "1048576\n",
			"/sys/fs/cgroup/a/b/memory.max": "2147483648\n", "/sys/fs/cgroup/a/b/cpu.max": "150000 100000\n",
		}, group{tasks: 100, memory: 1 << 30, used: 1 << 20, cores: 1.5}},
		{"v2 in a container", files{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/pids.max": "64\n"}, group{tasks: 64, memory: -1, cores: -1}},
		{"v1 in a container", files{
			"/proc/self/cgroup": "4:memory:/x\n", "/sys/fs/cgroup/pids/pids.max": "64\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "4096\n",
			"/sys/fs/cgroup/memory/memory.usage_in_bytes": "1024\n",
		}, group{tasks: 64, memory: 4096, used: 1024, cores: -1}},
		{"v1 without limits", files{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, none},
		{"garbage", files{"/proc/self/cgroup": "0::../../etc\n0::\nx", "/sys/fs/cgroup/pids.max": "-3x", "/sys/fs/cgroup/cpu.max": "0 0"}, none},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := controlGroup(tt.files.read); got != tt.want {
				t.Errorf("read %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestMemory fails if the memory of the host is misread, or a strange file is fatal.
func TestMemory(t *testing.T) {
	all, free := memory(files{"/proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n\nx"}.read)
	if all != 2<<20 || free != 1<<20 {
		t.Errorf("memory is %d, of which %d are free; want 2 MiB and 1 MiB", all, free)
	}
	if all, free := memory(files{}.read); all != 0 || free != 0 {
		t.Errorf("without the file %d and %d, want 0", all, free)
	}
}

// TestInspect fails if a host does not say what it is, or where a job can not write
// is not told.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := Inspect("1", []string{"j", "k"}, []Write{{"here", dir}, {"to be made", filepath.Join(dir, "a", "b")}, {"file", file}, {"below a file", filepath.Join(file, "a")}})
	if h.Version != "1" || h.Kernels != "k" || h.Cores < 1 || h.OpenFiles == 0 || h.Memory <= 0 || h.MemoryFree <= 0 || h.MemoryFree > h.Memory {
		t.Errorf("host is %+v", h)
	}
	for i, well := range []bool{true, true, false, false} {
		if d := h.Disks[i]; (d.Fault == "") != well || well != (d.Free > 0) {
			t.Errorf("%s: %d bytes free, fault %q; want well=%v", d.Key, d.Free, d.Fault, well)
		}
	}
	if d := h.Disks[2]; !strings.Contains(d.Fault, "is no folder") {
		t.Errorf("file: fault %q", d.Fault)
	}
}
