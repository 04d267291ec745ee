package input_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// numbers is a data set whose record i has the label i and one pair (i, 1). Record bad
// fails. If hold is set, each record waits for a receive from it.
type numbers struct {
	n, bad int
	hold   chan struct{}
}

func (n numbers) Facts() input.Facts { return input.Facts{Records: n.n, Features: n.n} }
func (n numbers) Close() error       { return nil }

var errBad = errors.New("numbers: file x: bad record")

func (n numbers) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		if err := n.append(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (n numbers) append(b *input.Batch, i int) error {
	if n.hold != nil {
		<-n.hold
	}
	if n.bad > 0 && i == n.bad {
		return exitcode.With(exitcode.BadData, errBad)
	}
	x := b.Bags(1)
	x.Add(uint32(i), 1)
	x.End()
	b.Y = append(b.Y, float32(i))
	return nil
}

func open(t testing.TB, d input.Dataset, c input.SourceConfig, at input.Position) *input.Source {
	t.Helper()
	s, err := input.NewSource(t.Context(), d, c, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// step reads one global batch through the sources of all ranks, verifies the common
// fields, and returns the records in global order.
func step(t testing.TB, ranks []*input.Source) (records []int, b input.Batch) {
	t.Helper()
	for r, s := range ranks {
		var own input.Batch
		if err := s.Next(t.Context(), &own); err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
		if r > 0 && (own.Epoch != b.Epoch || own.Offset != b.Offset || own.Global != b.Global) {
			t.Fatalf("rank %d is at %d/%d/%d, rank 0 at %d/%d/%d", r, own.Epoch, own.Offset, own.Global, b.Epoch, b.Offset, b.Global)
		}
		if s.Position() != ranks[0].Position() {
			t.Fatalf("rank %d: position %v, rank 0 %v", r, s.Position(), ranks[0].Position())
		}
		if len(own.Y) != len(own.Weight) || len(own.Y) != own.X.Rows() {
			t.Fatalf("rank %d: %d labels, %d weights, %d rows", r, len(own.Y), len(own.Weight), own.X.Rows())
		}
		for i, y := range own.Y {
			records = append(records, int(y))
			if own.Weight[i] != 1/float32(own.Global) {
				t.Fatalf("rank %d: weight %g of %d", r, own.Weight[i], own.Global)
			}
			if got := s.Record(&own, i); got != int(y) {
				t.Fatalf("rank %d: example %d is said to be record %d, want %d", r, i, got, int(y))
			}
		}
		b = own
	}
	if len(records) != b.Global {
		t.Fatalf("%d records in a global batch of %d", len(records), b.Global)
	}
	return records, b
}

func team(t testing.TB, size int, d input.Dataset, c input.SourceConfig, at input.Position) []*input.Source {
	var all []*input.Source
	for r := range size {
		c.Rank, c.Size = r, size
		c.Prefetch = r % 3 // may differ by rank
		all = append(all, open(t, d, c, at))
	}
	return all
}

// TestLedger verifies, for every world size, that each record is used once per epoch,
// that the global batches do not depend on the world size, and that a run resumes at
// another world size.
func TestLedger(t *testing.T) {
	const epochs = 3
	for _, c := range []struct{ n, batch int }{{1, 1}, {7, 1}, {10, 4}, {12, 4}, {23, 8}, {5, 100}} {
		for _, shuffle := range []bool{false, true} {
			t.Run(fmt.Sprintf("n=%d/batch=%d/shuffle=%t", c.n, c.batch, shuffle), func(t *testing.T) {
				config := input.SourceConfig{Batch: c.batch, Shuffle: shuffle, Seed: 3}
				d := numbers{n: c.n}
				steps := epochs * ((c.n + c.batch - 1) / c.batch)
				var want [][]int                  // global batches
				positions := []input.Position{{}} // before each
				one := team(t, 1, d, config, input.Position{})
				used := map[[2]int]bool{}
				for range steps {
					records, b := step(t, one)
					for _, r := range records {
						if key := [2]int{int(b.Epoch), r}; used[key] {
							t.Fatalf("epoch %d uses record %d twice", b.Epoch, r)
						} else {
							used[key] = true
						}
					}
					want, positions = append(want, records), append(positions, one[0].Position())
				}
				if len(used) != epochs*c.n {
					t.Fatalf("%d epochs use %d records of %d", epochs, len(used), c.n)
				}
				if got := positions[steps]; got != (input.Position{Epoch: epochs}) {
					t.Fatalf("position after %d epochs is %v", epochs, got)
				}
				for _, size := range []int{1, 2, 3, 5, 20} {
					for at := 0; at < steps; at += max(1, size/3) {
						ranks := team(t, size, d, config, positions[at])
						for k := at; k < steps; k++ {
							if records, _ := step(t, ranks); !slices.Equal(records, want[k]) {
								t.Fatalf("size=%d from step %d: step %d has %v, want %v", size, at, k, records, want[k])
							}
						}
						for _, s := range ranks {
							s.Close()
						}
					}
				}
			})
		}
	}
}

// TestSumReduction verifies that the summed loss is not divided.
func TestSumReduction(t *testing.T) {
	s := open(t, numbers{n: 5}, input.SourceConfig{Batch: 5, Size: 1, SumReduction: true}, input.Position{})
	var b input.Batch
	if err := s.Next(t.Context(), &b); err != nil || !slices.Equal(b.Weight, []float32{1, 1, 1, 1, 1}) {
		t.Errorf("weights %v, error %v", b.Weight, err)
	}
}

// TestErrorInOrder verifies that prefetch returns an error after the good batches before
// it, and again afterwards.
func TestErrorInOrder(t *testing.T) {
	for _, prefetch := range []int{0, 1, 4} {
		t.Run(fmt.Sprintf("prefetch=%d", prefetch), func(t *testing.T) {
			s := open(t, numbers{n: 20, bad: 11}, input.SourceConfig{Batch: 4, Size: 1, Prefetch: prefetch}, input.Position{})
			var b input.Batch
			for range 2 {
				if err := s.Next(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				err := s.Next(t.Context(), &b)
				if !errors.Is(err, errBad) || exitcode.Of(err) != exitcode.BadData {
					t.Fatalf("error %v, want %v", err, errBad)
				}
				if want := "input: epoch 1, global batch at 8: numbers: file x: bad record"; err.Error() != want {
					t.Errorf("error %q, want %q", err, want)
				}
			}
			if got := s.Position(); got != (input.Position{Offset: 8}) {
				t.Errorf("position %v, want that of the last good batch", got)
			}
		})
	}
}

// TestNextEnds verifies that its context and Close end a waiting Next, which loses no
// batch.
func TestNextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := open(t, numbers{n: 4, hold: hold}, input.SourceConfig{Batch: 1, Size: 1, Prefetch: 2}, input.Position{})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		var b input.Batch
		result := make(chan error)
		go func() { result <- s.Next(ctx, &b) }()
		synctest.Wait()
		cancel(why)
		if err := <-result; err != why {
			t.Errorf("error %v, want the cause %v", err, why)
		}
		if err := s.Next(ctx, &b); err != why {
			t.Errorf("error %v of a context that has ended, want %v", err, why)
		}
		hold <- struct{}{}
		if err := s.Next(t.Context(), &b); err != nil || b.Y[0] != 0 {
			t.Errorf("record %v, error %v: want record 0 after the cancelled call", b.Y, err)
		}
		go func() { result <- s.Next(t.Context(), &b) }()
		synctest.Wait()
		go s.Close()
		synctest.Wait()
		if err := <-result; err != input.ErrClosed {
			t.Errorf("error %v, want %v", err, input.ErrClosed)
		}
		close(hold)
		s.Close() // a second time, and waits for the prefetcher
		if err := s.Next(t.Context(), &b); err != input.ErrClosed {
			t.Errorf("error %v after Close, want %v", err, input.ErrClosed)
		}
	})
}

// TestNextAllocatesNothing verifies that Next allocates nothing.
func TestNextAllocatesNothing(t *testing.T) {
	for _, prefetch := range []int{0, 3} {
		s := open(t, numbers{n: 64}, input.SourceConfig{Batch: 8, Size: 1, Prefetch: prefetch, Shuffle: true}, input.Position{})
		var b input.Batch
		next := func() {
			if err := s.Next(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
		}
		for range 16 {
			next()
		}
		if got := testing.AllocsPerRun(200, next); got != 0 {
			t.Errorf("prefetch=%d: %g allocations a step", prefetch, got)
		}
	}
}

// TestNewSourceRefuses verifies that wrong options and positions are refused.
func TestNewSourceRefuses(t *testing.T) {
	good := input.SourceConfig{Batch: 1, Size: 1}
	tests := []struct {
		name   string
		n      int
		config input.SourceConfig
		at     input.Position
		want   string
		code   int
	}{
		{"records=0", 0, good, input.Position{}, "input: the data set has no records", exitcode.BadData},
		{"offset=4", 3, good, input.Position{Offset: 4}, "input: position is epoch 0, record 4, want a record in [0, 3]: were the data exchanged?", exitcode.BadData},
		{"offset=-1", 3, good, input.Position{Offset: -1}, "input: position is epoch 0, record -1, want a record in [0, 3]: were the data exchanged?", exitcode.BadData},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := input.NewSource(t.Context(), numbers{n: tt.n}, tt.config, tt.at)
			if err == nil || err.Error() != tt.want || exitcode.Of(err) != tt.code {
				t.Errorf("error %v (%d), want %s (%d)", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
	s := open(t, numbers{n: 3}, good, input.Position{Epoch: 1, Offset: 3})
	if got := s.Position(); got != (input.Position{Epoch: 2}) {
		t.Errorf("the end of an epoch is %v, want the beginning of the next", got)
	}
}
