package checkpoint

import (
	"bytes"
	"reflect"
	"slices"

	"ringtrain/export/bundle"
)

// sameState reports whether two step folders hold the same state, apart from the
// attempts of their writers. An unreadable folder differs from all others.
func sameState(a, b string) bool {
	ra, err := bundle.Open(prefix(a))
	if err != nil {
		return false
	}
	defer ra.Close()
	rb, err := bundle.Open(prefix(b))
	if err != nil {
		return false
	}
	defer rb.Close()
	return slices.EqualFunc(ra.Entries(), rb.Entries(), func(x, y bundle.Entry) bool {
		return x.Name == y.Name && x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && sameTensor(ra, rb, x.Name)
	})
}

func sameTensor(a, b *bundle.Reader, name string) bool {
	x, err := a.Read(name)
	if err != nil {
		return false
	}
	y, err := b.Read(name)
	if err != nil {
		return false
	}
	if name == runTensor {
		return sameRun(x, y)
	}
	return bytes.Equal(x.Data, y.Data) && slices.Equal(x.Strings, y.Strings)
}

func sameRun(x, y bundle.Tensor) bool {
	a, err := parseRun(x)
	if err != nil {
		return false
	}
	b, err := parseRun(y)
	a.Attempt = b.Attempt
	return err == nil && reflect.DeepEqual(a, b)
}
