package state

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameState returns the difference between the states that two lists of records restore.
func sameState(c Config, want, got []Record) string {
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	return cmp.Diff(Restore(c, want), Restore(c, got), all)
}

// TestCompact verifies, after each record of random lives of a job, that the compacted records
// restore the same state, that the next record may follow them, and that their number is bounded.
func TestCompact(t *testing.T) {
	long := 0
	for seed := range uint64(400) {
		w := newSimulation(seed)
		w.c.Restarts = 1000
		w.s = New(w.c)
		w.live() // TestSimulation checks the result
		var few []Record
		for n, r := range w.kept {
			if len(few) > 0 {
				if err := Follows(few, r); err != nil {
					t.Fatalf("seed %d: record %d: %v", seed, n+1, err)
				}
			}
			few = Compact(append(few[:len(few):len(few)], r))
			if diff := sameState(w.c, w.kept[:n+1], few); diff != "" {
				t.Fatalf("seed %d: after %d records, want -, got +:\n%s", seed, n+1, diff)
			}
			if len(few) > maxRecordsInMemory {
				t.Fatalf("seed %d: %d records of %d are left", seed, len(few), n+1)
			}
		}
		if len(few) < len(w.kept) {
			long++
		}
	}
	if long < 5 {
		t.Errorf("only %d lives had something to leave out", long)
	}
}
