package ask

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/export/interpreter"
)

// BenchmarkDocument measures the reading of a request of images, and of one of raw columns.
func BenchmarkDocument(b *testing.B) {
	var image strings.Builder
	for i := range 784 {
		fmt.Fprintf(&image, ", %.4f", float64(i)/784)
	}
	for _, rows := range []int{1, 128} {
		text := []byte(`{"instances": [` + strings.Repeat("["+image.String()[2:]+"], ", rows-1) + "[" + image.String()[2:] + "]]}")
		raw := []byte(`{"instances": [` + strings.Repeat(`{"age": 31, "city": "Bern", "ids": [1, 2, 3]}, `, rows-1) + `{"age": 31}]}`)
		for _, c := range []struct {
			name      string
			text      []byte
			signature *interpreter.Signature
		}{{"images", text, of(port("x", float))}, {"columns", raw, visits}} {
			b.Run(fmt.Sprintf("of=%s/rows=%d", c.name, rows), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					d, err := Parse(c.text, nil)
					if err == nil {
						_, _, err = d.Inputs(c.signature)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
