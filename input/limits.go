package input

import (
	"fmt"
	"io"
	"math"
)

// Limits bound the memory that a small file can make its reader allocate: the
// decompressed size, and the largest id. The zero Limits has the defaults.
type Limits struct {
	MaxInflate  int64 // bytes; 0: DefaultMaxInflate
	MaxFeatures int   // 0: DefaultMaxFeatures

	// FeaturesWhy completes the error of an id beyond a given number of features: where the number is
	// from, and what to do. Empty: the number.
	FeaturesWhy string

	// Trained says that a given number of features is that of the training records of these files, of which others
	// are held out: ids beyond it are left out, as no weight is trained for them.
	Trained bool
}

// A compressed file may decompress to Limits.MaxInflate bytes or to inflateRatio times
// its size, whichever is more. Real records are far below: text and images compress to a
// tenth to a third.
const (
	DefaultMaxInflate = 64 << 20
	inflateRatio      = 64
)

// DefaultMaxFeatures bounds sparse ids if the number of features is unknown. A table of
// that many weights takes 256 MiB.
const DefaultMaxFeatures = 1 << 26

// inflated returns the maximum decompressed size of a file of size bytes.
func (l Limits) inflated(size int64) int64 {
	most := l.MaxInflate
	if most == 0 {
		most = DefaultMaxInflate
	}
	return max(most, min(size, math.MaxInt64/inflateRatio)*inflateRatio)
}

// Dense returns an error if the dense rows of sparse records would take more bytes than
// files of size bytes may decompress to.
func (l Limits) Dense(records, features int, size int64) error {
	most := l.inflated(size)
	if records == 0 || int64(features) <= most/4/int64(records) {
		return nil
	}
	return fmt.Errorf("%d records of %d features, made dense, are more than %d bytes; if that is right, give model.features", records, features, most)
}

// Inflate returns a reader of plain, the decompressed content of a file of size bytes,
// that fails beyond the limits. Every format reads compressed files through it. The
// error does not name the file.
func (l Limits) Inflate(plain io.Reader, size int64) io.Reader {
	most := l.inflated(size)
	return &bounded{plain, most, inflateError{size, most}}
}

// inflateError reports a file that decompresses to more than most bytes.
type inflateError struct{ size, most int64 }

func (e inflateError) Error() string {
	return fmt.Sprintf("its %d bytes inflate to more than %d; if the file is right, raise input.max_inflate", e.size, e.most)
}

// bounded reads at most left bytes of r and fails if there are more.
type bounded struct {
	r    io.Reader
	left int64
	more error
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		p = p[:b.left+1] // read one more byte to detect an excess
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

// IDs is an upper bound of ids. Why completes the error message. With Drop an id beyond is left out of its record, and
// no error.
type IDs struct {
	Below int64
	Why   string
	Drop  bool
}

// IDs returns the bound of ids for a model with the given number of features, or that of
// the limits if features is 0.
func (l Limits) IDs(features int) IDs {
	switch {
	case features > 0 && l.Trained:
		return IDs{Below: int64(min(features, MaxFeatures)), Drop: true}
	case features > 0 && l.FeaturesWhy != "":
		return IDs{Below: int64(min(features, MaxFeatures)), Why: l.FeaturesWhy}
	case features > 0:
		return IDs{Below: int64(min(features, MaxFeatures)), Why: fmt.Sprintf(" for %d features", features)}
	}
	most := l.MaxFeatures
	if most == 0 {
		most = DefaultMaxFeatures
	}
	return IDs{Below: int64(min(most, MaxFeatures)), Why: ", as input.max_features says"}
}

// Decoded returns an error if a file of size bytes declares a decoded size beyond the
// limits.
func (l Limits) Decoded(bytes, size int64) error {
	if most := l.inflated(size); bytes > most {
		return inflateError{size, most}
	}
	return nil
}
