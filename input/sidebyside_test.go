package input

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// TestSideBySide verifies that each call is made once by a worker with a number, that none begins after an
// error, and that the error is that of the lowest call, at any number of workers.
func TestSideBySide(t *testing.T) {
	const n = 100
	for _, workers := range []int{1, 2, 7, 200} {
		for _, failing := range []int{n, 0, 41, n - 1} {
			var mu sync.Mutex
			var calls [n]int
			err := SideBySide(t.Context(), n, workers, func(worker, i int) error {
				mu.Lock()
				defer mu.Unlock()
				calls[i]++
				if worker < 0 || worker >= workers {
					t.Errorf("worker %d of %d", worker, workers)
				}
				if i >= failing {
					return fmt.Errorf("call %d", i)
				}
				return nil
			})
			want := error(nil)
			if failing < n {
				want = fmt.Errorf("call %d", failing)
			}
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("%d workers: error %v, want %v", workers, err, want)
			}
			for i, times := range calls {
				if times > 1 || times == 0 && i <= failing || workers == 1 && i > failing && times > 0 {
					t.Errorf("%d workers, error at %d: call %d made %d times", workers, failing, i, times)
				}
			}
		}
	}
	if err := SideBySide(t.Context(), 0, 4, func(int, int) error { return errors.New("a call") }); err != nil {
		t.Error(err)
	}
}
