package parquet

import (
	"os"
	"syscall"
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/input/column"
)

// BenchmarkRead reads the file that PARQUET names, of a label, numbers and words, into batches.
func BenchmarkRead(b *testing.B) {
	name := os.Getenv("PARQUET")
	if name == "" {
		b.Skip("set PARQUET to a file")
	}
	items := []column.Column{{Label: &column.LabelOptions{Names: []string{"label"}}}, {Numeric: &column.NumericOptions{Names: []string{"I1..I13"}}}, {Categorical: &column.CategoricalOptions{Names: []string{"C1..C26"}, Hash: 25000}}}
	if os.Getenv("KIND") == "numbers" {
		items = []column.Column{{Label: &column.LabelOptions{Names: []string{"label"}}}, {Numeric: &column.NumericOptions{Names: []string{"x0..x38"}}}}
	}
	cpu := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	best := 0.0
	for b.Loop() {
		plan, err := column.Compile(items, nil)
		if err != nil {
			b.Fatal(err)
		}
		before := cpu()
		s, err := Open(b.Context(), []string{name}, Config{Columns: plan})
		if err != nil {
			b.Fatal(err)
		}
		source, err := input.NewSource(b.Context(), s, input.SourceConfig{Batch: 1000, Size: 1}, input.Position{})
		if err != nil {
			b.Fatal(err)
		}
		var batch input.Batch
		n := 0
		for n < s.Facts().Records {
			if err := source.Next(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
			n += len(batch.Y)
		}
		source.Close()
		s.Close()
		best = max(best, float64(n)/(cpu()-before).Seconds())
	}
	b.ReportMetric(best, "records/cpu-s")
}
