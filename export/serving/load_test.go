package serving

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

const halfPlusTwo = "../testdata/serving/matrix_half_plus_two/1"

// newLoader returns a loader of a server with two cores.
func newLoader() *Loader {
	c := NewCores(Limits{Cores: 2, Batch: 8, Queue: 100, Tensor: 1 << 20})
	return &Loader{Cores: c, Metrics: NewMetrics(c)}
}

// loads makes the versions of a farm real ones.
func (f *farm) loads() {
	f.Watcher.open = newLoader().load
}

// publish copies a version folder to another name, and makes it visible in one step.
func (f *farm) publish(from, name string) {
	f.t.Helper()
	draft := filepath.Join(f.dir, "draft")
	err := os.CopyFS(draft, os.DirFS(from))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(filepath.Join(f.dir, name)), 0o777)
	}
	if err == nil {
		err = os.Rename(draft, filepath.Join(f.dir, name))
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestSwapUnderLoad verifies that no request fails while versions are published, replaced and deleted,
// and that no version stays mapped.
func TestSwapUnderLoad(t *testing.T) {
	const versions, clients = 20, 4
	f := newFarm(t, Base{Name: "m", Policy: Policy{Latest: 1}})
	f.loads()
	f.publish(halfPlusTwo, "1")
	f.look()
	ctx := t.Context()
	var asked, failed atomic.Int64
	var all sync.WaitGroup
	ended := make(chan struct{})
	for range clients {
		all.Go(func() {
			in := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1, 3, 3}, Float32: []float32{0, 2, 4, 6, 8, 10, 12, 14, 16}}
			for {
				select {
				case <-ended:
					return
				default:
				}
				v, err := f.models.Acquire("m", Choice{})
				if err == nil {
					var out []*interpreter.Tensor
					out, err = v.Run(ctx, "serving_default", nil, []*interpreter.Tensor{in})
					if err == nil && !slices.Equal(out[0].Float32, []float32{2, 3, 4, 5, 6, 7, 8, 9, 10}) {
						err = fmt.Errorf("the answer is %v", out[0].Float32)
					}
					v.Release()
				}
				asked.Add(1)
				if err != nil {
					failed.Add(1)
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 2; n <= versions; n++ {
		f.publish(halfPlusTwo, fmt.Sprint(n))
		if n > 3 {
			f.remove(fmt.Sprint(n - 2))
		}
		wants(t, "published", f.look(), fmt.Sprint("m ", n))
	}
	close(ended)
	all.Wait()
	if failed.Load() > 0 || asked.Load() < versions {
		t.Errorf("%d of %d requests failed", failed.Load(), asked.Load())
	}
	f.look()
	if got := f.states("m"); !strings.HasPrefix(got, "20 AVAILABLE, 19 END, 18 END") || strings.Contains(got, "UNLOADING") {
		t.Errorf("states %q", got)
	}
	f.models.Close()
}

// TestLoadsLeaveNothing verifies that a version which was loaded and dropped, or refused, leaves no
// memory, no mapping and no goroutine.
func TestLoadsLeaveNothing(t *testing.T) {
	f := newFarm(t, Base{Name: "m", Policy: Policy{Latest: 1}})
	f.loads()
	f.publish("../testdata/serving/saved_model_counter/00000123", "2")
	f.publish(halfPlusTwo, "1")
	if err := os.Remove(filepath.Join(f.dir, "1/saved_model.pb")); err != nil {
		t.Fatal(err)
	}
	round := func() (held [3]int) {
		f.refused = map[string]refusal{}
		f.Look(t.Context())
		f.models.Close()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		maps, _ := os.ReadFile("/proc/self/maps") // Linux has it
		return [3]int{int(m.HeapAlloc), strings.Count(string(maps), f.dir), runtime.NumGoroutine()}
	}
	for range 10 {
		round()
	}
	before := round()
	for range 100 {
		round()
	}
	after := round()
	if after[0] > before[0]+1<<20 || after[1] != 0 || after[2] > before[2] {
		t.Errorf("bytes of the heap, mappings, goroutines: %v before and %v after 100 loads", before, after)
	}
}

// TestDamagedColumns verifies that a version is refused whose description of its columns cannot be read.
func TestDamagedColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "1")
	err := os.CopyFS(dir, os.DirFS(halfPlusTwo))
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "assets.extra"), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "assets.extra", "ringtrain_columns.json"), []byte("{"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newLoader().load(t.Context(), "m", folder{number: 1, path: dir}); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "ringtrain_columns.json") {
		t.Errorf("error %v, want one of the file", err)
	}
}
