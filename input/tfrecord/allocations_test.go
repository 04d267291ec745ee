//go:build !race

package tfrecord_test

import (
	"io"
	"testing"

	"ringtrain/input"
	"ringtrain/input/tfrecord"
)

// TestAllocatesNothing verifies that reading and writing allocate nothing. Under the race detector a sync.Pool
// drops readers at random.
func TestAllocatesNothing(t *testing.T) {
	var e tfrecord.Encoder
	w := tfrecord.NewWriter(io.Discard)
	var example []byte
	ids, values := []uint32{1, 200, 70000}, []float32{1, 2, 3}
	put := func() {
		example = e.AppendSparse(example[:0], 1, ids, values)
		if err := w.Write(example); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if got := testing.AllocsPerRun(100, put); got != 0 {
		t.Errorf("writing: %g allocations a record", got)
	}
	dense := e.AppendDense(nil, 1, values)
	for name, d := range map[string]input.Dataset{
		"sparse": open(t, write(t, sparse(100)...), tfrecord.Config{}),
		"dense":  open(t, write(t, dense, dense), tfrecord.Config{Dense: true}),
		"gzip":   open(t, save(t, pack(t, "gzip", framed(dense, dense))), tfrecord.Config{Dense: true}),
	} {
		var b input.Batch
		all := make([]int, 20)
		for i := range all {
			all[i] = i % d.Facts().Records
		}
		read := func() {
			b.Reset()
			if err := d.Append(&b, all...); err != nil {
				t.Fatal(err)
			}
		}
		read()
		if got := testing.AllocsPerRun(100, read); got != 0 {
			t.Errorf("%s: %g allocations a batch", name, got)
		}
	}
}
