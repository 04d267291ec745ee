package input_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestBadRecord verifies that a bad record is not in its batch, also as the first of a batch, that
// Batch reports it, and that Source.Record still knows the record of each example.
func TestBadRecord(t *testing.T) {
	for _, bad := range []int{1, 4, 7} {
		for _, readers := range []int{0, 1, 3} {
			s := open(t, numbers{n: 8, bad: bad}, input.SourceConfig{Batch: 4, Size: 1, Prefetch: min(readers, 1), Readers: readers, MaxBad: 1}, input.Position{})
			for batch := range 4 {
				var b input.Batch
				if err := s.Next(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
				var want, got []int
				for record := batch % 2 * 4; record < batch%2*4+4; record++ {
					if record != bad {
						want = append(want, record)
					}
				}
				has := len(want) < 4
				if (len(b.Bad) == 1) != has || errors.Is(b.Fault, errBad) != has || b.X.Rows() != len(want) || len(b.Weight) != len(want) {
					t.Fatalf("bad=%d batch %d: %v are bad, %v, %d rows, weights %v", bad, batch, b.Bad, b.Fault, b.X.Rows(), b.Weight)
				}
				for i, y := range b.Y {
					got = append(got, s.Record(&b, i))
					if y != float32(want[i]) || b.Weight[i] != 0.25 {
						t.Errorf("bad=%d: example %d has the label %g and the weight %g, want %d and 0.25", bad, i, y, b.Weight[i], want[i])
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("bad=%d batch %d has the records %v, want %v", bad, batch, got, want)
				}
			}
		}
	}
}

// changing is a data set whose file changes at record 3.
type changing struct{ numbers }

func (c changing) Append(b *input.Batch, records ...int) error {
	if slices.Contains(records, 3) {
		return exitcode.With(exitcode.BadData, fmt.Errorf("x: %w", input.ErrFile))
	}
	return c.numbers.Append(b, records...)
}

// TestBadFile verifies that an error of a whole file is no bad record, and that a data
// set with too many bad records at its start is refused.
func TestBadFile(t *testing.T) {
	s := open(t, changing{numbers{n: 8}}, input.SourceConfig{Batch: 4, Size: 1, MaxBad: 5}, input.Position{})
	var b input.Batch
	if err := s.Next(t.Context(), &b); !errors.Is(err, input.ErrFile) {
		t.Errorf("error %v, want %v", err, input.ErrFile)
	}
	if _, err := input.NewSource(t.Context(), allBad{numbers{n: 8}}, input.SourceConfig{Batch: 4, Size: 1, MaxBad: 5}, input.Position{}); !errors.Is(err, errBad) {
		t.Errorf("error %v, want %v", err, errBad)
	}
}

type allBad struct{ numbers }

func (allBad) Append(*input.Batch, ...int) error { return exitcode.With(exitcode.BadData, errBad) }

// boxed is numbers in blocks.
type boxed struct {
	numbers
	blocks *input.Blocks
}

func (b boxed) Facts() input.Facts {
	f := b.numbers.Facts()
	f.Blocks = b.blocks
	return f
}

// TestBlocksLedger verifies, over random block counts, batches, world sizes and numbers
// of readers, that an epoch has every record once, in the same global batches at any
// world size, and that a stopped run resumes at another world size.
func TestBlocksLedger(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := make([]uint16, rapid.IntRange(1, 2*input.WindowBlocks+9).Draw(r, "blocks"))
		n := 0
		for i := range counts {
			counts[i] = rapid.Uint16Range(0, 3).Draw(r, "count")
			n += int(counts[i])
		}
		if n == 0 {
			counts[0], n = 1, 1
		}
		d := boxed{numbers{n: n}, input.NewBlocks(counts)}
		batch := rapid.IntRange(1, n+3).Draw(r, "batch")
		c := input.SourceConfig{Batch: batch, Shuffle: true, Seed: rapid.Uint64().Draw(r, "seed")}
		seen := make([]int, n)
		at := input.Position{}
		for at.Epoch < 2 {
			size := rapid.IntRange(1, 4).Draw(r, "size")
			c.Readers = rapid.IntRange(1, 3).Draw(r, "readers")
			ranks := team(t, size, d, c, at)
			for range rapid.IntRange(1, n/batch+1).Draw(r, "steps") {
				if at.Epoch == 2 {
					break
				}
				records, _ := step(t, ranks)
				for _, record := range records {
					if seen[record]++; seen[record] != int(at.Epoch)+1 {
						r.Fatalf("epoch %d has record %d %d times", at.Epoch, record, seen[record])
					}
				}
				at = ranks[0].Position()
			}
			for _, s := range ranks {
				s.Close()
			}
		}
		for record, times := range seen {
			if times != 2 {
				r.Fatalf("two epochs have record %d %d times", record, times)
			}
		}
	})
}
