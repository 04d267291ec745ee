package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec is a way in which pages are compressed. inflate fills dst.
type codec struct {
	name    string
	inflate func(dst, src []byte) error // nil: it is not read
}

// codecs are those of the format, by number.
var codecs = [...]codec{
	{"none", nil},
	{"SNAPPY", inflateSnappy},
	{"GZIP", inflateGzip},
	{"LZO", nil},
	{"BROTLI", func(dst, src []byte) error { return fill(dst, brotli.NewReader(bytes.NewReader(src))) }},
	{"LZ4 of Hadoop", nil},
	{"ZSTD", inflateZstd},
	{"LZ4_RAW", inflateLZ4},
}

const codecNone = 0

// errInflate is the error of bytes that do not inflate to the number that is said of them.
var errInflate = errors.New("it does not inflate to as many bytes as it says")

// codecOf returns the codec with a number.
func codecOf(number int64) (*codec, error) {
	if number < 0 || number >= int64(len(codecs)) {
		return nil, fmt.Errorf("is compressed by codec %d, want SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW or none", number)
	}
	c := &codecs[number]
	if c.inflate == nil && number != codecNone {
		return nil, fmt.Errorf("is compressed by %s, want SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW or none", c.name)
	}
	return c, nil
}

func inflateSnappy(dst, src []byte) error {
	if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
		return errInflate
	}
	_, err := snappy.Decode(dst, src)
	return err
}

func inflateLZ4(dst, src []byte) error {
	if n, err := lz4.UncompressBlock(src, dst); err != nil || n != len(dst) {
		return errInflate
	}
	return nil
}

// gzips and zstds keep readers, which take long to make.
var (
	gzips = sync.Pool{New: func() any { return new(gzip.Reader) }}
	zstds = sync.Pool{New: func() any {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic("parquet: options of zstd")
		}
		return r
	}}
)

func inflateGzip(dst, src []byte) error {
	r := gzips.Get().(*gzip.Reader)
	defer gzips.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	return fill(dst, r)
}

func inflateZstd(dst, src []byte) error {
	r := zstds.Get().(*zstd.Decoder)
	defer zstds.Put(r)
	got, err := r.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(got) != len(dst) {
		err = errInflate
	}
	return err
}

// fill reads what r has, which are as many bytes as dst has.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return errInflate
	}
	if n, _ := r.Read(make([]byte, 1)); n > 0 {
		return errInflate
	}
	return nil
}
