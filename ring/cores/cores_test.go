package cores

import (
	"fmt"
	"os"
	"testing"
)

// TestPerWorker verifies that workers bound to cores of their own use all of these, and that other
// workers take no more than their part of the machine.
func TestPerWorker(t *testing.T) {
	for _, tt := range []struct{ workers, own, together, want int }{
		{1, 8, 8, 8},
		{4, 8, 8, 2},
		{3, 8, 8, 2},
		{9, 8, 8, 0},
		{0, 2, 2, 2},
		{4, 4, 16, 4},   // srun -c4: four cores for each of four
		{4, 1, 4, 1},    // mpirun: bound to a core
		{4, 8, 16, 4},   // mpirun: bound to a socket that two share
		{8, 1, 4, 0},    // more workers than cores, bound or not
		{1, 4, 64, 4},   // a container with some of the cores
		{2, 48, 64, 32}, // overlapping affinities
		{4, 4, 4, 1},    // taskset: four cores for all of them
	} {
		t.Run(fmt.Sprintf("workers=%d/own=%d/together=%d", tt.workers, tt.own, tt.together), func(t *testing.T) {
			if got := perWorker(tt.workers, tt.own, tt.together, 0, 0); got != tt.want {
				t.Errorf("%d cores each, want %d", got, tt.want)
			}
		})
	}
	own := Own()
	for _, tt := range []struct{ workers, together, want int }{{1, 0, own}, {1, own, own}, {2, 2 * own, own}, {2, own, own / 2}, {own, own, 1}} {
		if got := PerWorker(tt.workers, tt.together); got != tt.want {
			t.Errorf("%d workers with %d cores together have %d each, want %d of the %d of this one", tt.workers, tt.together, got, tt.want, own)
		}
	}
}

// TestQuota verifies that the least quota on the way to the root counts, in both versions of
// control groups.
func TestQuota(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"none", nil, 0},
		{"v2", map[string]string{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5},
		{"v2, above", map[string]string{"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/cpu.max": "200000 100000\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 2},
		{"v2, least", map[string]string{"/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/cpu.max": "50000 100000", "/sys/fs/cgroup/cpu.max": "400000 100000"}, 0.5},
		{"v1", map[string]string{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 3},
		{"v1, none", map[string]string{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
		{"garbage", map[string]string{"/proc/self/cgroup": "0::/../..\n", "/sys/fs/cgroup/cpu.max": "x y"}, 0},
	} {
		read := func(name string) ([]byte, error) {
			text, ok := tt.files[name]
			if !ok {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		}
		if got := Quota(read); got != tt.want {
			t.Errorf("%s: quota is %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		workers, own, together, online int
		quota                          float64
		want                           int
	}{
		{1, 64, 64, 64, 4, 4},
		{4, 64, 64, 64, 4, 1},
		{2, 64, 0, 64, 4, 2},
		{1, 64, 64, 64, 1.5, 2},
		{2, 64, 64, 64, 0.5, 0},
		{2, 2, 4, 64, 8, 2},
	} {
		if got := perWorker(tt.workers, tt.own, tt.together, tt.online, tt.quota); got != tt.want {
			t.Errorf("%d workers with a quota of %v: %d cores each, want %d", tt.workers, tt.quota, got, tt.want)
		}
	}
}

// TestCountCores verifies the parser of the kernel's list of cores.
func TestCountCores(t *testing.T) {
	for list, want := range map[string]int{
		"0": 1, "0-1": 2, "0-3,8": 5, "0-3,8-11": 8, "5-5": 1,
		"": 0, "3-0": 0, "0-": 0, "-1": 0, "a": 0, "0-3,": 0, "0-99999999999999999999": 0, "0-70000": 0,
	} {
		if got := countCores(list); got != want {
			t.Errorf("list %q has %d cores, want %d", list, got, want)
		}
	}
}
