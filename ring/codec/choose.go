package codec

import (
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
)

// All returns every codec, in order of its ID.
func All() []Codec { return []Codec{None, BF16, FP16, Int8} }

// ByID returns the codec with this number on the wire, if there is one.
func ByID(id uint8) (Codec, bool) {
	for _, c := range All() {
		if c.ID() == id {
			return c, true
		}
	}
	return nil, false
}

// Parse returns the codec of this name. An unknown name is exitcode.Usage, and so is the name
// of a choice that only a job can make.
func Parse(name string) (Codec, error) {
	var names []string
	for _, c := range All() {
		if c.String() == name {
			return c, nil
		}
		names = append(names, c.String())
	}
	what := fmt.Sprintf("%q is unknown", name)
	switch name {
	case "auto", "powersgd":
		what = name + " is for training alone"
	}
	return nil, exitcode.With(exitcode.Usage, fmt.Errorf("codec %s, want one of %s", what, strings.Join(names, ", ")))
}

// ParseCompressor returns a new compressor of this name. For "" and "none" it returns nil, no
// compression. An unknown name is exitcode.Usage.
func ParseCompressor(name string) (Compressor, error) {
	switch name {
	case "", "none":
		return nil, nil
	case "zstd":
		return NewZstd(), nil
	}
	return nil, exitcode.With(exitcode.Usage, fmt.Errorf("compressor %q is unknown, want one of none, zstd", name))
}
