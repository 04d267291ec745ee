package codec

import (
	"fmt"
	"testing"
)

// BenchmarkCodec measures each codec in bytes of float32 per second, on a
// segment of 256 KiB:
//
//	go test -run '^$' -bench Codec -count 10 ./ring/codec | benchstat -col /codec -
func BenchmarkCodec(b *testing.B) {
	src := gradient(64<<10, 1)
	dst := make([]float32, len(src))
	for _, c := range All() {
		buf := make([]byte, 0, c.EncodedLen(len(src)))
		payload := c.Append(nil, src)
		for _, op := range []struct {
			name string
			run  func() error
		}{
			{"append", func() error { c.Append(buf, src); return nil }},
			{"decode", func() error { return c.Decode(dst, payload) }},
			{"decodeadd", func() error { return c.DecodeAdd(dst, payload) }},
		} {
			b.Run(fmt.Sprintf("codec=%v/op=%s", c, op.name), func(b *testing.B) {
				clear(dst)
				b.SetBytes(int64(4 * len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if err := op.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCompressor measures each compressor on 256 KiB of a gradient of
// which one element in thirty is not zero, as of embeddings, and on a dense one.
func BenchmarkCompressor(b *testing.B) {
	sparse := make([]float32, 64<<10)
	for i, v := range gradient(len(sparse)/30, 2) {
		sparse[30*i] = v
	}
	for _, c := range compressors() {
		for _, data := range []struct {
			name string
			src  []byte
		}{{"sparse", None.Append(nil, sparse)}, {"dense", None.Append(nil, gradient(64<<10, 3))}} {
			buf, dst := make([]byte, 0, c.MaxLen(len(data.src))), make([]byte, len(data.src))
			payload := c.Append(nil, data.src)
			b.Run(fmt.Sprintf("compressor=%v/data=%s/op=append", c, data.name), func(b *testing.B) {
				b.SetBytes(int64(len(data.src)))
				for b.Loop() {
					c.Append(buf, data.src)
				}
				b.ReportMetric(float64(len(data.src))/float64(len(payload)), "ratio")
			})
			b.Run(fmt.Sprintf("compressor=%v/data=%s/op=decode", c, data.name), func(b *testing.B) {
				b.SetBytes(int64(len(data.src)))
				for b.Loop() {
					if err := c.Decode(dst, payload); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
