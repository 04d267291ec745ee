package bench

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/codec"
)

// TestCodecs verifies that every codec and operation is measured, with the encoded
// length of the codec.
func TestCodecs(t *testing.T) {
	const bytes = 4096
	rows := map[string]CodecRow{}
	err := newCodecBench(bytes, 0).all(func(r CodecRow) error {
		if r.Bytes != bytes || r.Encoded <= 0 || r.Time <= 0 || r.Rate <= 0 {
			t.Errorf("row %+v, want %d bytes and numbers above 0", r, bytes)
		}
		rows[r.Codec+" "+r.Operation] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range codec.All() {
		for _, operation := range []string{"encode", "decode", "decode-add", "keep", "hop"} {
			r, ok := rows[c.String()+" "+operation]
			if !ok {
				t.Errorf("%v %s is not measured", c, operation)
			}
			if ok && r.Encoded != c.EncodedLen(bytes/4) {
				t.Errorf("%v %s: %d bytes encoded, want %d", c, operation, r.Encoded, c.EncodedLen(bytes/4))
			}
		}
	}
	for _, name := range []string{"- copy", "zstd encode", "zstd decode"} {
		if _, ok := rows[name]; !ok {
			t.Errorf("%s is not measured", name)
		}
	}
	if r := rows["rows encode"]; r.Encoded > bytes/8 {
		t.Errorf("rows makes %d bytes of %d, want an eighth at most of what is zero but for 5 %%", r.Encoded, bytes)
	}
}

// TestCodecsStop verifies that Codecs stops after an error of its callback.
func TestCodecsStop(t *testing.T) {
	full, n := errors.New("disk full"), 0
	err := newCodecBench(64, 0).all(func(CodecRow) error { n++; return full })
	if n != 1 || !errors.Is(err, full) {
		t.Errorf("%d rows, error %v; want 1 and %v", n, err, full)
	}
}

// TestCodecRow verifies the field names of a row's JSON and the alignment of its
// columns.
func TestCodecRow(t *testing.T) {
	r := CodecRow{Codec: "int8", Operation: "encode", Bytes: 1024, Encoded: 260, Time: 1e-6, Rate: 1.024}
	got, err := json.Marshal(r)
	if want := `{"codec":"int8","operation":"encode","bytes":1024,"encoded_bytes":260,"time_s":0.000001,"gb_s":1.024}`; err != nil || string(got) != want {
		t.Errorf("row is\n%s, error %v\nwant\n%s", got, err, want)
	}
	head := splitLines(CodecHeader)[0]
	if got, want := columnEnds(r.String()), columnEnds(head); !slices.Equal(got, want[1:]) {
		t.Errorf("columns of\n%s\n%s\nend at %v, want %v", head, r, got, want[1:])
	}
	if r.Kind() != "codec" {
		t.Errorf("event is %s, want codec", r.Kind())
	}
}

func splitLines(text string) []string { return strings.Split(text, "\n") }
