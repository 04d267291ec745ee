package blockcache

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCache verifies that a block is loaded once while it is held, that the blocks that were
// used last stay, and that their memory is used again.
func TestCache(t *testing.T) {
	var loads []int
	made := 0
	s := New(3, func(key int, into *[]int) (int64, error) {
		loads = append(loads, key)
		if *into == nil {
			*into = make([]int, 1)
			made++
		}
		(*into)[0] = key
		return 1, nil
	})
	for _, key := range []int{1, 2, 3, 1, 4, 1, 3, 2, 1} { // 4 takes the memory of 2, and 2 that of 4
		b, err := s.Get(key)
		if err != nil || b.Data[0] != key {
			t.Fatalf("block %d holds %v, error %v", key, b.Data, err)
		}
		s.Put(b)
	}
	want := []int{1, 2, 3, 4, 2}
	if len(loads) != len(want) {
		t.Fatalf("loads %v, want %v", loads, want)
	}
	for i, key := range want {
		if loads[i] != key {
			t.Fatalf("loads %v, want %v", loads, want)
		}
	}
	if made != 3 {
		t.Errorf("memory was made %d times, want 3", made)
	}
	held, _ := s.Get(1)
	s.Purge()
	if len(s.blocks) != 1 || s.bytes != 1 {
		t.Errorf("%d blocks of %d bytes are left, want the one in use", len(s.blocks), s.bytes)
	}
	s.Put(held)
}

// TestPinned verifies that a block in use is never given away, however full the cache is.
func TestPinned(t *testing.T) {
	s := New(1, func(key int, into *int) (int64, error) { *into = key; return 1, nil })
	var held []*Block[int]
	for key := range 5 {
		b, _ := s.Get(key)
		held = append(held, b)
	}
	for key, b := range held {
		if b.Data != key {
			t.Errorf("block %d holds %d", key, b.Data)
		}
		s.Put(b)
	}
	if b, _ := s.Get(9); b.Data != 9 || len(s.blocks) != 1 || s.bytes != 1 {
		t.Errorf("%d blocks of %d bytes are left, want one", len(s.blocks), s.bytes)
	}
}

// TestFault verifies that all who wait for a load get its error, and that the next Get tries
// again.
func TestFault(t *testing.T) {
	fault := errors.New("fault")
	var fails atomic.Bool
	fails.Store(true)
	s := New(4, func(key int, into *int) (int64, error) {
		if fails.Load() {
			return 0, fault
		}
		*into = key
		return 1, nil
	})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := s.Get(7); err != fault {
				t.Errorf("error %v, want %v", err, fault)
			}
		})
	}
	wait.Wait()
	fails.Store(false)
	if b, err := s.Get(7); err != nil || b.Data != 7 {
		t.Errorf("error %v after the fault", err)
	}
	if len(s.blocks) != 1 || s.bytes != 1 {
		t.Errorf("%d blocks of %d bytes", len(s.blocks), s.bytes)
	}
}

// TestCacheStale verifies that blocks of a window that has ended give their memory to those of
// the next one, although the cache has room for more, and that blocks in turn stay.
func TestCacheStale(t *testing.T) {
	loads := 0
	s := New(1000, func(key int, into *int) (int64, error) {
		loads++
		*into = key
		return 1, nil
	})
	s.EvictStale()
	const window = 8
	for first := 0; first < 10*window; first += window {
		for range 4 * staleTurns {
			for key := first; key < first+window; key++ {
				b, err := s.Get(key)
				if err != nil || b.Data != key {
					t.Fatalf("block %d holds %v, error %v", key, b.Data, err)
				}
				s.Put(b)
			}
		}
		if want := first + window; loads != want {
			t.Fatalf("%d loads, want %d: one for each block", loads, want)
		}
	}
	if len(s.blocks) > 3*window {
		t.Errorf("%d blocks of windows of %d are held", len(s.blocks), window)
	}
}
