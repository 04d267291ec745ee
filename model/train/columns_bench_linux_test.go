package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/savedmodel"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
)

// BenchmarkColumns measures what a job of many columns does before its first step and at its end: it
// loads the job, opens and learns the records, builds the model and writes the export. Names of columns
// are looked up in maps: eight times the columns take about eight times the CPU time, and not 64 times.
func BenchmarkColumns(b *testing.B) {
	for _, n := range []int{5_000, 40_000} {
		for _, header := range []bool{true, false} {
			b.Run(fmt.Sprintf("columns=%d/header=%t", n, header), func(b *testing.B) { benchmarkColumns(b, n, header) })
		}
	}
}

func benchmarkColumns(b *testing.B, n int, header bool) {
	dir := b.TempDir()
	var text strings.Builder
	if header {
		text.WriteString("y")
		for i := range n {
			fmt.Fprintf(&text, ",c%d", i)
		}
		text.WriteString("\n")
	}
	for i := range 8 {
		fmt.Fprint(&text, i%2, strings.Repeat(fmt.Sprintf(",%d", i%5), n), "\n")
	}
	data, file := filepath.Join(dir, "wide.csv"), filepath.Join(dir, "job.yaml")
	text0 := fmt.Sprintf(`model: {kind: wide-deep, embedding: 2, hidden: [4]}
input:
  train: {format: csv, files: [%s], header: %t}
  columns:
    - label: {names: [y]}
    - numeric: {names: [c0..c%d], standardize: true}
    - categorical: {names: [c%d..c%d], vocabulary: auto}
optimizer: {name: adagrad, learning_rate: 0.1}
`, data, header, n/2-1, n/2, n-1)
	for name, content := range map[string]string{data: text.String(), file: text0} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	cpu := func() (used syscall.Rusage) {
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			b.Fatal(err)
		}
		return used
	}
	before := cpu()
	for b.Loop() {
		cfg, err := job.Load(file, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		set, err := records.NewOpener(cfg, records.Options{}).Open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		m, err := set.NewModel(cfg)
		if err != nil {
			b.Fatal(err)
		}
		t := savedmodel.Trained{Names: savedmodel.DefaultNames()}
		for _, v := range m.Variables() {
			t.Variables = append(t.Variables, savedmodel.Variable{Name: v.Name, Shape: v.Shape, Value: make([]float32, v.Len())})
		}
		if _, err := savedmodel.Write(bundle.NewDisk(bundle.OS, nil), filepath.Join(dir, "export"), m.Graph(), t, nil); err != nil {
			b.Fatal(err)
		}
		m.Close()
		if err := set.Close(); err != nil {
			b.Fatal(err)
		}
	}
	after := cpu()
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(b.N), "cpu-ns/op")
}
