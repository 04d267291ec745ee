package job

import (
	"fmt"
	"testing"

	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// TestCompressor verifies the compressor of each option, and that an unknown option is a fault of
// the job.
func TestCompressor(t *testing.T) {
	for _, tt := range []struct{ codec, lossless, want, err string }{
		{"none", "none", "", ""},
		{"int8", "zstd", "zstd", ""},
		{"auto", "zstd", "zstd", ""},
		{"none", "rows", "", `compressor "rows" is unknown, want one of none, zstd`},
	} {
		t.Run(fmt.Sprintf("codec=%s/lossless=%s", tt.codec, tt.lossless), func(t *testing.T) {
			got, err := AllReduce{Codec: Codec(tt.codec), Lossless: Lossless(tt.lossless)}.Compressor()
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || exitcode.Of(err) != exitcode.Usage {
					t.Errorf("error is %v with code %d, want %s", err, exitcode.Of(err), tt.err)
				}
				return
			}
			if name := nameOf(got); err != nil || name != tt.want {
				t.Errorf("compressor is %q, error %v, want %q", name, err, tt.want)
			}
		})
	}
}

func nameOf(c codec.Compressor) string {
	if c == nil {
		return ""
	}
	return c.String()
}

// TestParseCodec verifies the codec and the rank of factors for each name.
func TestParseCodec(t *testing.T) {
	for _, tt := range []struct {
		name string
		want codec.Codec // nil: an error
		rank int
	}{
		{"auto", codec.None, 0}, {"rows", nil, 0}, {"none", codec.None, 0}, {"int8", codec.Int8, 0},
		{"powersgd", codec.None, 4}, {"powersgd:1", codec.None, 1}, {"powersgd:64", codec.None, 64},
		{"powersgd:0", nil, 0}, {"powersgd:65", nil, 0}, {"powersgd:x", nil, 0}, {"powersgd:", nil, 0}, {"powersgd:-1", nil, 0},
		{"powersgd:99999999999999999999", nil, 0}, {"powersgd:4:4", nil, 0}, {"int8:4", nil, 0}, {"", nil, 0},
	} {
		c, rank, err := AllReduce{Codec: Codec(tt.name)}.ParseCodec()
		if c != tt.want || rank != tt.rank || (err == nil) != (tt.want != nil) {
			t.Errorf("%q is %v of rank %d, error %v; want %v of rank %d", tt.name, c, rank, err, tt.want, tt.rank)
		}
	}
}
