package ring

import (
	"fmt"
	"runtime"
	"testing"
)

// TestCoresEach fails if workers that are bound to cores of their own leave some
// of them idle, or if others take more than their part of the machine.
func TestCoresEach(t *testing.T) {
	for _, tt := range []struct{ workers, own, together, want int }{
		{1, 8, 8, 8},
		{4, 8, 8, 2},
		{3, 8, 8, 2},
		{9, 8, 8, 0},
		{0, 2, 2, 2},
		{4, 4, 16, 4},   // srun -c4: four cores for each of four
		{4, 1, 4, 1},    // mpirun: bound to a core
		{4, 8, 16, 4},   // mpirun: bound to a socket that two share
		{8, 1, 4, 0},    // more than cores, bound or not
		{1, 4, 64, 4},   // a container with some of the cores
		{2, 48, 64, 32}, // bound to cores of which some must be the other's
		{4, 4, 4, 1},    // taskset: four cores for all of them
	} {
		t.Run(fmt.Sprintf("workers=%d/own=%d/together=%d", tt.workers, tt.own, tt.together), func(t *testing.T) {
			if got := coresEach(tt.workers, tt.own, tt.together); got != tt.want {
				t.Errorf("%d cores each, want %d", got, tt.want)
			}
		})
	}
	own := runtime.NumCPU()
	for _, tt := range []struct{ workers, together, want int }{{1, 0, own}, {1, own, own}, {2, 2 * own, own}, {2, own, own / 2}, {own, own, 1}} {
		if got := CoresEach(tt.workers, tt.together); got != tt.want {
			t.Errorf("%d workers with %d cores together have %d each, want %d of the %d of this one", tt.workers, tt.together, got, tt.want, own)
		}
	}
}

// TestCountCores fails if the kernel's list of cores is misread, or if anything
// else is believed.
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
