package vw

import (
	"os"
	"testing"

	"ringtrain/input"
)

// BenchmarkParse measures one pass over a file of clicks in order. RINGTRAIN_CLICKS_VW names
// the file.
func BenchmarkParse(b *testing.B) {
	name := os.Getenv("RINGTRAIN_CLICKS_VW")
	if name == "" {
		b.Skip("set RINGTRAIN_CLICKS_VW to a file of VW's text")
	}
	s, err := Open([]string{name}, Config{Features: 1 << 20, Labels: input.Labels{Binary: true}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r, err := input.NewSource(s, input.SourceConfig{Batch: 1000, Size: 1}, input.Position{})
	if err != nil {
		b.Fatal(err)
	}
	var batch input.Batch
	b.SetBytes(s.Bytes())
	for b.Loop() {
		for range r.StepsPerEpoch() {
			if err := r.Next(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
		}
	}
}
