package codec

import (
	"errors"
	"fmt"
	"testing"

	"ringtrain/ring/internal/vec"
)

// BenchmarkCodec measures each codec in bytes of float32 per second, on a segment of
// 128 KiB. The cases hop and keep have a residual. The cases hop-steps and keep-steps do the
// same in separate passes over the segment, as a ring without fused operations would:
// without fused operations would:
//
//	go test -run '^$' -bench Codec -count 10 ./ring/codec | benchstat -col /op -
func BenchmarkCodec(b *testing.B) {
	src := gradient(32<<10, 1)
	x, residual := make([]float32, len(src)), make([]float32, len(src))
	for _, c := range All() {
		buf := make([]byte, 0, c.EncodedLen(len(src)))
		payload := c.Append(nil, src)
		keepSteps := func() error {
			vec.Add(x, residual)
			copy(residual, x)
			err := c.Decode(x, c.Append(buf, x))
			vec.Subtract(residual, x)
			return err
		}
		for _, op := range []struct {
			name string
			run  func() error
		}{
			{"append", func() error { c.Append(buf, src); return nil }},
			{"decode", func() error { return c.Decode(x, payload) }},
			{"decodeadd", func() error { return c.DecodeAdd(x, payload) }},
			{"keep", func() error { c.AppendKeep(buf, x, residual); return nil }},
			{"keep-steps", keepSteps},
			{"hop", func() error { _, err := c.AppendHop(buf, x, payload, residual, false); return err }},
			{"hop-steps", func() error { return errors.Join(c.DecodeAdd(x, payload), keepSteps()) }},
		} {
			b.Run(fmt.Sprintf("codec=%v/op=%s", c, op.name), func(b *testing.B) {
				clear(x)
				clear(residual)
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

// BenchmarkCompressor measures each compressor on 256 KiB of two kinds of data: a sparse
// gradient, as of embeddings, with one element in thirty not zero, and a dense gradient.
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
