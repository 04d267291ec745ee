package blockcache

import (
	"errors"
	"testing"
)

// tens are blocks of ten records.
type tens struct{}

func (tens) Find(record int) (block, place int) { return record / 10, record % 10 }
func (tens) Count(int) int                      { return 10 }

// TestRecordsFree verifies that Records keeps no block between calls of Each, so that Purge frees the
// memory of blocks, also after an error.
func TestRecordsFree(t *testing.T) {
	fault := errors.New("fault")
	c := New(100, func(key int, into *int) (int64, error) {
		if key == 9 {
			return 0, fault
		}
		*into = key
		return 1, nil
	})
	r := NewRecords(c, tens{}, func(*int, []Location) byte { return 0 })
	for _, records := range [][]int{{1, 11, 31}, {5}, {1, 41, 95}} {
		var want error
		if records[len(records)-1] == 95 {
			want = fault
		}
		err := r.Each(records, func(at Location, block *int) error {
			if at.Block != *block || at.Record != 10*at.Block+at.Place {
				t.Errorf("record %d is number %d of block %d, and the block is %d", at.Record, at.Place, at.Block, *block)
			}
			return nil
		})
		if err != want {
			t.Fatalf("records %v: error %v, want %v", records, err, want)
		}
		for g, ok := r.idle.Get().(*group[int]); ok; g, ok = r.idle.Get().(*group[int]) {
			for _, b := range g.blocks[:cap(g.blocks)] {
				if b != nil {
					t.Fatalf("records %v: block %d is kept", records, b.key)
				}
			}
		}
	}
	c.Purge()
	if len(c.blocks) != 0 {
		t.Errorf("%d blocks are in use, want none", len(c.blocks))
	}
}
