package input

import (
	"fmt"
	"io"
	"math"
)

// Limits bound what a small file can make its reader allocate: how far the file
// inflates, and how large its ids are. The zero Limits has the defaults.
type Limits struct {
	MaxInflate  int64 // bytes; 0: DefaultMaxInflate
	MaxFeatures int   // 0: DefaultMaxFeatures
}

// A compressed file may inflate to Limits.MaxInflate bytes, and a larger one to
// inflateRatio bytes for each byte that it has. Real records stay far below: of
// text and images a tenth to a third is left.
const (
	DefaultMaxInflate = 64 << 20
	inflateRatio      = 64
)

// DefaultMaxFeatures is what sparse ids are below where nobody knows the number of
// features: a table of so many weights takes 256 MiB.
const DefaultMaxFeatures = 1 << 26

// inflated returns how many bytes a compressed file of size bytes may hold.
func (l Limits) inflated(size int64) int64 {
	most := l.MaxInflate
	if most == 0 {
		most = DefaultMaxInflate
	}
	return max(most, min(size, math.MaxInt64/inflateRatio)*inflateRatio)
}

// Dense refuses to make records dense, in rows of as many features as the largest id
// of their files asks for, where all rows together are more than the files, of size
// bytes, may inflate to: zeros are no records.
func (l Limits) Dense(records, features int, size int64) error {
	most := l.inflated(size)
	if records == 0 || int64(features) <= most/4/int64(records) {
		return nil
	}
	return fmt.Errorf("%d records of %d features, made dense, are more than %d bytes; if that is right, give model.features", records, features, most)
}

// Inflate returns a reader of plain, what a compressed file of size bytes holds,
// that fails where there is more than the limits allow. Every format reads
// compressed files through it. The error names no file.
func (l Limits) Inflate(plain io.Reader, size int64) io.Reader {
	most := l.inflated(size)
	return &bounded{plain, most, inflateError{size, most}}
}

// inflateError is what is wrong with a file that inflates to more than most bytes.
type inflateError struct{ size, most int64 }

func (e inflateError) Error() string {
	return fmt.Sprintf("its %d bytes inflate to more than %d; if the file is right, raise input.max_inflate", e.size, e.most)
}

// bounded reads at most left bytes of r, and fails if there are more.
type bounded struct {
	r    io.Reader
	left int64
	more error
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		p = p[:b.left+1] // one byte more tells whether there are more
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), b.more
	}
	b.left -= int64(n)
	return n, err
}

// MaxFeatures is the largest number of ids, and of rows of a table.
const MaxFeatures = 1<<31 - 1

// IDs are below a bound. Why ends the sentence of an id that is not.
type IDs struct {
	Below int64
	Why   string
}

// IDs returns the bound of ids for a model of so many features, or for features 0,
// where the records say how many there are, that of the limits.
func (l Limits) IDs(features int) IDs {
	if features > 0 {
		return IDs{int64(min(features, MaxFeatures)), fmt.Sprintf(" for %d features", features)}
	}
	most := l.MaxFeatures
	if most == 0 {
		most = DefaultMaxFeatures
	}
	return IDs{int64(min(most, MaxFeatures)), ", as input.max_features says"}
}

// Decoded refuses a file, of size bytes, whose header says that it decodes to so many
// bytes, where that is more than the limits allow.
func (l Limits) Decoded(bytes, size int64) error {
	if most := l.inflated(size); bytes > most {
		return inflateError{size, most}
	}
	return nil
}
