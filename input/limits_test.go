package input

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

// TestInflated verifies the maximum content of a compressed file.
func TestInflated(t *testing.T) {
	const MiB = 1 << 20
	for _, tt := range []struct {
		limits     Limits
		size, want int64
	}{
		{Limits{}, 0, 64 * MiB},
		{Limits{}, MiB, 64 * MiB},
		{Limits{}, MiB + 1, 64*MiB + 64},
		{Limits{MaxInflate: 100 * MiB}, MiB, 100 * MiB},
		{Limits{MaxInflate: 100 * MiB}, 2 * MiB, 128 * MiB},
		{Limits{}, math.MaxInt64, math.MaxInt64 / 64 * 64},
	} {
		if got := tt.limits.inflated(tt.size); got != tt.want {
			t.Errorf("%+v: a file of %d bytes may hold %d, want %d", tt.limits, tt.size, got, tt.want)
		}
	}
}

// TestBounded verifies that a reader returns all bytes up to its bound for any read
// sizes, and fails at one more.
func TestBounded(t *testing.T) {
	errMore := errors.New("more")
	for _, held := range []int{0, 1, 9, 10, 11, 1000} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r },
			"bytes": iotest.OneByteReader,
			"eof":   iotest.DataErrReader,
		} {
			in := strings.Repeat("x", held)
			got, err := io.ReadAll(&bounded{wrap(strings.NewReader(in)), 10, errMore})
			if want := min(held, 10); len(got) != want || (err == errMore) != (held > 10) || err != nil && err != errMore {
				t.Errorf("%d bytes, read by %s: %d bytes, error %v, want %d", held, name, len(got), err, want)
			}
		}
	}
	var held Memory
	if _, err := held.ReadFrom(Limits{}.Inflate(zeros{}, 100)); err == nil || !strings.Contains(err.Error(), "its 100 bytes inflate to more than 67108864; if the file is right, raise input.max_inflate") {
		t.Errorf("endless zeros: error %v", err)
	}
	if n := int64(DefaultMaxInflate); held.Size() != n || bytes.Count(held.View(n-1), []byte{0}) != 1 {
		t.Errorf("%d bytes are held, want %d", held.Size(), n)
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestDense verifies that dense rows have the bound of decompressed files.
func TestDense(t *testing.T) {
	for _, tt := range []struct {
		records, features int
		size              int64
		ok                bool
	}{
		{0, 1 << 26, 0, true}, {1, 1 << 24, 10, true}, {1, 1<<24 + 1, 10, false}, {1 << 24, 1, 10, true}, {1<<24 + 1, 1, 10, false},
		{1 << 25, 1, 2 << 20, true}, {1<<25 + 1, 1, 2 << 20, false}, {math.MaxInt, 1, math.MaxInt64, false},
	} {
		if err := (Limits{}).Dense(tt.records, tt.features, tt.size); (err == nil) != tt.ok {
			t.Errorf("%d records of %d features from %d bytes: error %v, want none: %t", tt.records, tt.features, tt.size, err, tt.ok)
		}
	}
}

// TestIDs verifies the bound of ids.
func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		limits   Limits
		features int
		want     IDs
	}{
		{Limits{}, 0, IDs{Below: 1 << 26, Why: ", as input.max_features says"}},
		{Limits{MaxFeatures: 5}, 0, IDs{Below: 5, Why: ", as input.max_features says"}},
		{Limits{MaxFeatures: 5}, 7, IDs{Below: 7, Why: " for 7 features"}},
		{Limits{FeaturesWhy: " why"}, 7, IDs{Below: 7, Why: " why"}},
		{Limits{FeaturesWhy: " why", Trained: true}, 7, IDs{Below: 7, Drop: true}},
	} {
		if got := tt.limits.IDs(tt.features); got != tt.want {
			t.Errorf("%+v, %d features: %+v, want %+v", tt.limits, tt.features, got, tt.want)
		}
	}
}
