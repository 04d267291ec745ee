package libsvm

import (
	"os"
	"testing"

	"ringtrain/input"
)

// BenchmarkParse measures one pass over a file of clicks in order, and the counting alone.
// RINGTRAIN_CLICKS names the file.
func BenchmarkParse(b *testing.B) {
	name := os.Getenv("RINGTRAIN_CLICKS")
	if name == "" {
		b.Skip("set RINGTRAIN_CLICKS to a LibSVM file")
	}
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	c := Config{Features: 1 << 20, Labels: input.Labels{Binary: true}, Tolerate: true}
	b.Run("of=count", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			s, err := Open([]string{name}, c)
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
	for _, shuffle := range []bool{false, true} {
		of := map[bool]string{false: "of=read", true: "of=shuffle"}[shuffle]
		b.Run(of, func(b *testing.B) {
			s, err := Open([]string{name}, c)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			r, err := input.NewSource(s, input.SourceConfig{Batch: 1000, Size: 1, Shuffle: shuffle}, input.Position{})
			if err != nil {
				b.Fatal(err)
			}
			var batch input.Batch
			b.SetBytes(info.Size())
			for b.Loop() {
				for range r.StepsPerEpoch() {
					if err := r.Next(b.Context(), &batch); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(s.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
