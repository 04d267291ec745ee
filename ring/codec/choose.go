package codec

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// all has every codec, in order of its ID.
var all = []Codec{None, BF16, FP16, Int8}

// All returns every codec, in order of its ID.
func All() []Codec { return slices.Clone(all) }

// ByID returns the codec with this number on the wire, if there is one.
func ByID(id uint8) (Codec, bool) {
	for _, c := range all {
		if c.ID() == id {
			return c, true
		}
	}
	return nil, false
}

// Names returns the names of all codecs, in order of ID.
func Names() []string {
	var names []string
	for _, c := range all {
		names = append(names, c.String())
	}
	return names
}

// Parse returns the codec of this name. An unknown name is exitcode.Usage, and so is the name
// of a choice that only a job can make.
func Parse(name string) (Codec, error) {
	if i := slices.Index(Names(), name); i >= 0 {
		return All()[i], nil
	}
	what := fmt.Sprintf("%q is unknown", name)
	switch name {
	case "auto", "powersgd":
		what = name + " is for training alone"
	}
	return nil, exitcode.With(exitcode.Usage, fmt.Errorf("codec %s, want one of %s", what, strings.Join(Names(), ", ")))
}

const noCompressor = "none"

// lossless has all compressors by name.
var lossless = []struct {
	name string
	new  func() Compressor
}{{"zstd", NewZstd}}

// CompressorNames returns the names that ParseCompressor takes.
func CompressorNames() []string {
	names := []string{noCompressor}
	for _, c := range lossless {
		names = append(names, c.name)
	}
	return names
}

// ParseCompressor returns a new compressor of this name. For "" and "none" it returns nil, no
// compression. An unknown name is exitcode.Usage.
func ParseCompressor(name string) (Compressor, error) {
	if name == "" || name == noCompressor {
		return nil, nil
	}
	for _, c := range lossless {
		if c.name == name {
			return c.new(), nil
		}
	}
	return nil, exitcode.With(exitcode.Usage, fmt.Errorf("compressor %q is unknown, want one of %s", name, strings.Join(CompressorNames(), ", ")))
}
