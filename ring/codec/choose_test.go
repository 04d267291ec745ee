package codec

import (
	"testing"

	"ringtrain/ring/exitcode"
)

// TestParse verifies the codec of each name, and that the error of an unknown name lists the
// names and has the exit code of usage errors.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Codec
		err  string
	}{
		{name: "rows", err: `codec "rows" is unknown, want one of none, bf16, fp16, int8`},
		{name: "auto", err: "codec auto is for training alone, want one of none, bf16, fp16, int8"},
		{name: "powersgd", err: "codec powersgd is for training alone, want one of none, bf16, fp16, int8"},
		{name: "INT8", err: `codec "INT8" is unknown, want one of none, bf16, fp16, int8`},
		{name: "", err: `codec "" is unknown, want one of none, bf16, fp16, int8`},
	} {
		t.Run("name="+tt.name, func(t *testing.T) {
			got, err := Parse(tt.name)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("got %v, error %v; want %v, error %s", got, err, tt.want, tt.err)
			}
			if err != nil && exitcode.Of(err) != exitcode.Usage {
				t.Errorf("exit code is %d, want %d", exitcode.Of(err), exitcode.Usage)
			}
		})
	}
	for _, c := range All() {
		if got, err := Parse(c.String()); got != c || err != nil {
			t.Errorf("%v is parsed as %v, error %v", c, got, err)
		}
	}
}

// TestByID verifies that each codec has a number of its own that fits the frame's four
// bits.
func TestByID(t *testing.T) {
	seen := map[uint8]bool{}
	for _, c := range All() {
		if got, ok := ByID(c.ID()); !ok || got != c || c.ID() > 15 || seen[c.ID()] {
			t.Errorf("codec %v has ID %d, which means %v", c, c.ID(), got)
		}
		seen[c.ID()] = true
	}
	if c, ok := ByID(15); ok {
		t.Errorf("ID 15 is %v, want none", c)
	}
}

// TestParseCompressor verifies the compressor of each name, and that no compression is
// nil.
func TestParseCompressor(t *testing.T) {
	for _, name := range []string{"", "none"} {
		if c, err := ParseCompressor(name); c != nil || err != nil {
			t.Errorf("%q is %v, error %v, want nil", name, c, err)
		}
	}
	for _, name := range CompressorNames()[1:] {
		if c, err := ParseCompressor(name); err != nil || c.String() != name {
			t.Errorf("%q is %v, error %v", name, c, err)
		}
	}
	_, err := ParseCompressor("lz4")
	const want = `compressor "lz4" is unknown, want one of none, zstd`
	if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error is %v with code %d, want %s", err, exitcode.Of(err), want)
	}
}
