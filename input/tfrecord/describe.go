package tfrecord

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Feature is what the first records of a file have of one name.
type Feature struct {
	Name   string
	Texts  bool // its values are bytes
	Floats bool // or floats; else int64
	Most   int  // values of a record
}

// Describe describes the features of the records that lie whole in the beginning of a file, by name. It is an
// error if there is none that is a tf.Example.
func Describe(name string, head []byte) ([]Feature, error) {
	var all []Feature
	var bad error // of the first record that is no tf.Example
	r := NewReader(bytes.NewReader(head), name)
	for n := 0; ; n++ {
		example, err := r.Next()
		if err != nil {
			if n > 0 || err == io.EOF {
				break
			}
			return nil, err
		}
		err = eachEntry(example, func(name, feature []byte) error {
			_, _, kind, err := appendList(nil, nil, feature)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(all, func(f Feature) bool { return f.Name == string(name) })
			if at < 0 {
				at, all = len(all), append(all, Feature{Name: string(name)})
			}
			f, count := &all[at], 0
			err = eachValue(feature, func([]byte) { count++ })
			f.Texts, f.Floats, f.Most = f.Texts || kind == kindBytes, f.Floats || kind == kindFloat, max(f.Most, count)
			return err
		})
		if err != nil {
			bad = cmp.Or(bad, r.bad(err))
		}
	}
	if all == nil && bad != nil {
		return nil, bad
	}
	slices.SortFunc(all, func(a, b Feature) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// EachValue calls visit with each value of each feature of an example, as a text that is valid until the
// next call.
func EachValue(example []byte, visit func(name, value []byte)) error {
	return eachEntry(example, func(name, feature []byte) error {
		if err := eachValue(feature, func(value []byte) { visit(name, value) }); err != nil {
			return fmt.Errorf("feature %q: %w", name, err)
		}
		return nil
	})
}

// eachValue calls visit with each value of a feature.
func eachValue(feature []byte, visit func(value []byte)) error {
	ints, floats, kind, err := appendList(nil, nil, feature)
	if err != nil {
		return err
	}
	var text []byte
	for _, i := range ints {
		text = strconv.AppendInt(text[:0], i, 10)
		visit(text)
	}
	for _, x := range floats {
		text = strconv.AppendFloat(text[:0], float64(x), 'g', -1, 32)
		visit(text)
	}
	for len(feature) > 0 && kind == kindBytes {
		var list field
		if list, feature, err = next(feature); err != nil {
			return err
		}
		for val := list.val; len(val) > 0; {
			var value field
			if value, val, err = next(val); err != nil {
				return err
			}
			visit(value.val)
		}
	}
	return nil
}
