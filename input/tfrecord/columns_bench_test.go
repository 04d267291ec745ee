package tfrecord_test

import (
	"fmt"
	"testing"

	"ringtrain/input"
	"ringtrain/input/tfrecord"
)

// BenchmarkAppendColumns reads records of a label, a number, a text, ids and values.
func BenchmarkAppendColumns(b *testing.B) {
	var records [][]byte
	for i := range 1000 {
		records = append(records, example(entry("y", ints(int64(i%2))), entry("n", floats(1/float32(i+1))), entry("city", text(fmt.Sprint(i%5))),
			entry("ids", ints(3, 4, int64(i%10))), entry("values", floats(0.5, 2, 1)), entry("key", text("k"))))
	}
	d, err := tfrecord.OpenColumns(b.Context(), []string{write(b, records...)}, tfrecord.Config{Labels: input.Labels{Binary: true}}, columnsOf(b))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	var batch input.Batch
	i := 0
	for b.Loop() {
		if i%100 == 0 {
			batch.Reset()
		}
		if err := d.Append(&batch, i%1000); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
