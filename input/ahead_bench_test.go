package input_test

import (
	"fmt"
	"testing"

	"ringtrain/input"
	"ringtrain/input/synth"
)

// BenchmarkHandOver reads batches of records in memory, on the consuming goroutine and
// ahead of it. The difference is the cost of the exchange of a batch. See InMemory.
func BenchmarkHandOver(b *testing.B) {
	d := synth.Digits(1, 1000, synth.Train)
	for _, records := range []int{4, 50} {
		for _, ahead := range []int{0, 2, 8} {
			b.Run(fmt.Sprintf("records=%d/ahead=%d", records, ahead), func(b *testing.B) {
				s, err := input.NewSource(b.Context(), d, input.SourceConfig{Batch: records, Size: 1, Shuffle: true, Prefetch: ahead}, input.Position{})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				var batch input.Batch
				for b.Loop() {
					if err := s.Next(b.Context(), &batch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
