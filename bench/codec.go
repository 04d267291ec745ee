package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"ringtrain/ring/codec"
)

// CodecRow is the speed of one operation of a codec or compressor on one core.
// Its JSON form is a line of bench codec --json.
type CodecRow struct {
	Codec     string  `json:"codec"`
	Operation string  `json:"operation"` // copy, encode, decode, decode-add, keep, hop
	Bytes     int     `json:"bytes"`     // size as float32
	Encoded   int     `json:"encoded_bytes"`
	Time      float64 `json:"time_s"` // median
	Rate      float64 `json:"gb_s"`   // bytes of float32 / time
}

// Kind names the event.
func (CodecRow) Kind() string { return "codec" }

// CodecHeader is the head of the table of CodecRow.String lines.
const CodecHeader = `#  codec   operation        bytes   ratio         time     float32
#                                                 (us)      (GB/s)`

// String returns a line of the table.
func (r CodecRow) String() string {
	return fmt.Sprintf("%8s  %10s %12d %7.2f %12.1f %11.2f",
		r.Codec, r.Operation, r.Bytes, float64(r.Bytes)/float64(r.Encoded), r.Time*1e6, r.Rate)
}

const (
	// CodecInCache and CodecBeyondCache are the measured sizes. A segment of
	// CodecInCache and its encoded form fit into a core's own cache; a buffer of
	// CodecBeyondCache fits into no cache.
	CodecInCache     = 256 << 10
	CodecBeyondCache = 128 << 20

	codecRounds = 9                    // a row is their median
	codecRound  = 8 * time.Millisecond // minimum duration of a round
)

// Codecs measures every codec on one core for buffers of the given size, and calls each
// with the rows. For CodecInCache it also measures the lossless compressor. The first
// row is a plain copy; the decode-add of codec none is the plain sum.
//
// The input is random with the distribution of gradients: normal values of magnitudes
// over four decades, a third of them zero. keep and hop are the operations of a ring
// with error feedback: keep encodes a rank's own chunk (AppendKeep of package codec),
// hop passes a partial sum on (AppendHop).
func Codecs(bytes int, each func(CodecRow) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return newCodecBench(bytes, codecRound).all(each)
}

func (b *codecBench) all(each func(CodecRow) error) error {
	bytes := ElementBytes * len(b.src)
	if err := each(b.row("-", "copy", bytes, func() error { copy(b.dst, b.src); return nil })); err != nil {
		return err
	}
	for _, c := range codec.All() {
		if err := b.codec(c, each); err != nil {
			return err
		}
	}
	if bytes > CodecInCache {
		return nil // a compressor is slower than memory
	}
	return b.compressor(codec.NewZstd(), codec.None.Append(nil, b.src), each)
}

// codecBench has the operands of the measured operations.
type codecBench struct {
	src, dst, residual []float32
	payload, next      []byte
	round              time.Duration // minimum duration of a round
	err                error         // of the last operation
}

func newCodecBench(bytes int, round time.Duration) *codecBench {
	n := max(bytes/ElementBytes, 1)
	b := &codecBench{src: make([]float32, n), dst: make([]float32, n), residual: make([]float32, n), round: round}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range b.src {
		if r.IntN(3) > 0 {
			b.src[i] = float32(r.NormFloat64() * math.Pow(10, -4*r.Float64()))
		}
	}
	return b
}

// codec measures one codec. The operands of each call are the same, apart from sums,
// which grow by the same amount each time.
func (b *codecBench) codec(c codec.Codec, each func(CodecRow) error) error {
	b.payload = c.Append(b.payload[:0], b.src)
	encoded := len(b.payload)
	operations := []struct {
		name string
		run  func() error
	}{
		{"encode", func() error { b.payload = c.Append(b.payload[:0], b.src); return nil }},
		{"decode", func() error { return c.Decode(b.dst, b.payload) }},
		{"decode-add", func() error { return c.DecodeAdd(b.dst, b.payload) }},
		{"keep", func() error { b.next = c.AppendKeep(b.next[:0], b.dst, b.residual); return nil }},
		{"hop", func() (err error) {
			b.next, err = c.AppendHop(b.next[:0], b.dst, b.payload, b.residual, false)
			return err
		}},
	}
	for _, o := range operations {
		copy(b.dst, b.src)
		clear(b.residual)
		if err := b.each(b.row(c.String(), o.name, encoded, o.run), each); err != nil {
			return err
		}
	}
	return nil
}

// compressor measures a compressor on plain.
func (b *codecBench) compressor(c codec.Compressor, plain []byte, each func(CodecRow) error) error {
	into := make([]byte, len(plain))
	b.payload = c.Append(b.payload[:0], plain)
	encoded := len(b.payload)
	row := b.row(c.String(), "encode", encoded, func() error { b.payload = c.Append(b.payload[:0], plain); return nil })
	if err := b.each(row, each); err != nil {
		return err
	}
	return b.each(b.row(c.String(), "decode", encoded, func() error { return c.Decode(into, b.payload) }), each)
}

// each calls each with a row unless the operation failed.
func (b *codecBench) each(r CodecRow, each func(CodecRow) error) error {
	if b.err != nil {
		return fmt.Errorf("bench: codec %s, %s: %w", r.Codec, r.Operation, b.err)
	}
	return each(r)
}

// row measures run. It returns the median of the rounds; a round repeats run for at
// least b.round.
func (b *codecBench) row(name, operation string, encoded int, run func() error) CodecRow {
	r := CodecRow{Codec: name, Operation: operation, Bytes: ElementBytes * len(b.src), Encoded: encoded}
	b.err = run() // also warms up
	var rounds [codecRounds]float64
	for i := range rounds {
		calls := 0
		start := time.Now()
		for calls == 0 || time.Since(start) < b.round {
			if err := run(); err != nil {
				b.err = err
				return r
			}
			calls++
		}
		rounds[i] = max(time.Since(start), 1).Seconds() / float64(calls)
	}
	slices.Sort(rounds[:])
	r.Time = rounds[codecRounds/2]
	r.Rate = float64(r.Bytes) / r.Time / gigabyte
	return r
}
