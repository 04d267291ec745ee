package train

import (
	"runtime"
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestCheckMemoryFits verifies that a model that does not fit is refused with the total memory of its
// variables, and that a model that just fits is accepted.
func TestCheckMemoryFits(t *testing.T) {
	cfg := job.Default()
	cfg.Model = model.Config{Kind: "linear"}
	cfg.Optimizer.Name = "adam"
	g, err := cfg.Model.GraphOf(cfg.Inputs([]int{1<<28 - 1}), cfg.Loss)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trainer{job: &cfg, replica: replica{model: model.New(g)}}
	const need = 4*(1<<28)*4*2 + 3*4*2*2 // values, gradients, two slots; an output and its gradient of three examples; two ranks
	if err := tr.checkMemoryFits(2, 3, need); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
	err = tr.checkMemoryFits(2, 3, need-1)
	if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "268435456 parameters and needs 8.0 GiB") {
		t.Errorf("error %v, want 64 with the sum", err)
	}
}

// TestCheckMemoryOfLayers verifies that outputs of layers beyond the memory are refused before they
// are allocated, also if their number overflows an int.
func TestCheckMemoryOfLayers(t *testing.T) {
	for _, filters := range []int{1 << 24, 1 << 30} {
		cfg := job.Default()
		same := &model.Conv2DLayer{Filters: filters, Kernel: []int{1}}
		cfg.Model = model.Config{Layers: []model.Layer{{Conv2D: same}, {MaxPool2D: &model.PoolLayer{}}, {GlobalAvgPool: &model.PlainLayer{}}}}
		g, err := cfg.Model.GraphOf(cfg.Inputs([]int{1 << 20, 1 << 14, 1}), cfg.Loss)
		if err != nil {
			t.Fatal(err)
		}
		tr := &Trainer{job: &cfg, replica: replica{model: model.New(g)}}
		if err := tr.checkMemoryFits(1, 1, 1<<45); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "the layers of 1 examples") {
			t.Errorf("%d filters: error %v, want 64 with the examples", filters, err)
		}
	}
}

// TestLargestPart verifies the number of examples that a rank computes at a time.
func TestLargestPart(t *testing.T) {
	for _, c := range []struct{ batch, local, size, parts, want int }{
		{100, 0, 1, 1, 100}, {100, 0, 3, 1, 34}, {100, 0, 3, 4, 9}, {1, 0, 20, 1, 1}, {0, 7, 3, 1, 7}, {0, 7, 3, 2, 4},
	} {
		cfg := job.Default()
		cfg.Input.Batch, cfg.Input.LocalBatch, cfg.Train.Accumulate = c.batch, c.local, c.parts
		if got := (&Trainer{job: &cfg}).largestPart(c.size); got != c.want {
			t.Errorf("%+v: %d examples", c, got)
		}
	}
}

// TestShareCores verifies that a process uses its share of the cores, or the number that the user
// fixed.
func TestShareCores(t *testing.T) {
	threads := runtime.NumCPU() + 2
	before := runtime.GOMAXPROCS(threads)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const together = 3 // some are bound to cores of their own
	for _, local := range []int{1, 2, 3, 1000} {
		for _, fixed := range []int{threads, 0} {
			runtime.GOMAXPROCS(threads)
			share := max(cores.PerWorker(local, together), 1)
			want := threads
			if fixed == 0 {
				want = max(share, ring.LeastThreads)
			}
			if got := ShareCores(ringtest.Membership(local, 0), together, fixed); got != share || runtime.GOMAXPROCS(0) != want {
				t.Errorf("local=%d fixed=%d: %d cores and %d threads, want %d and %d", local, fixed, got, runtime.GOMAXPROCS(0), share, want)
			}
		}
	}
	runtime.GOMAXPROCS(1) // a launcher that binds ranks sets it
	if got := ShareCores(ringtest.Membership(2, 0), together, 1); got != 1 || runtime.GOMAXPROCS(0) != ring.LeastThreads {
		t.Errorf("fixed to one: %d cores and %d threads, want 1 and %d", got, runtime.GOMAXPROCS(0), ring.LeastThreads)
	}
}
