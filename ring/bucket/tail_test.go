package bucket

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
)

// TestTailGolden verifies the bytes of a tail, so that workers of different builds understand
// each other.
func TestTailGolden(t *testing.T) {
	want := Tail{Loss: -2.5, Examples: 258, NonFinite: 3, Stop: 143, Checkpoint: true, Evaluate: true, Saved: true, OldKeys: true, WornKeys: true, Unreached: true, Digest: 0x0102030405060708, Layer: 2, Record: 76, Bad: 9, Busy: 258 * time.Microsecond, Sent: 259 * SentUnit, Memory: 260 << 10}
	var b [ring.TailBytes]byte
	for i := range b {
		b[i] = 0xff // the previous content
	}
	want.put(&b)
	const golden = "063f0000 03000000 00000000000004c0 0201000000000000 8f000000 02000000 0807060504030201" +
		"4c00000000000000 09000000 02010000 03010000 04010000"
	if got := hex.EncodeToString(b[:]); got != strings.ReplaceAll(golden, " ", "") {
		t.Errorf("tail is %s, want %s", got, golden)
	}
	if got, err := parseTail(&b, 3); err != nil || got != want {
		t.Errorf("read %+v, error %v, want %+v", got, err, want)
	}
}

// TestTailRefuses verifies that a tail with one changed byte is refused and causes no panic.
func TestTailRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		at    int
		value byte
		err   string
	}{
		{"version", 0, 1, "version is 1, want 6"},
		{"flags", 1, 64, "reserved bits are set"},
		{"behind the flags", 3, 1, "reserved bits are set"},
		{"variable of another model", 4, 8, "non-finite variable is 8, want 0 to 7"},
		{"negative variable", 7, 0x80, "non-finite variable is -2147483648, want 0 to 7"},
		{"negative examples", 23, 0x80, "number of examples is -9223372036854775808, want 0 or more"},
		{"negative record", 47, 0x80, "record is -9223372036854775808, want 0 or more"},
		{"exit code", 25, 1, "exit code to stop with is 256, want 0 to 255"},
		{"negative layer", 31, 0x80, "layer is -2147483648, want 0 or more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b [ring.TailBytes]byte
			(&Tail{}).put(&b)
			b[tt.at] = tt.value
			if _, err := parseTail(&b, 7); err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error is %v, want %s", err, tt.err)
			}
		})
	}
}

// TestTailSaturates verifies that numbers beyond 32 bits arrive as the largest, and those below 0 as 0.
func TestTailSaturates(t *testing.T) {
	for _, tt := range []struct{ tail, want Tail }{
		{Tail{Busy: math.MaxInt64, Sent: math.MaxInt64, Memory: math.MaxInt64}, Tail{Busy: math.MaxUint32 * time.Microsecond, Sent: math.MaxUint32 * SentUnit, Memory: math.MaxUint32 << 10}},
		{Tail{Busy: -1, Sent: -1, Memory: -1}, Tail{}},
		{Tail{Busy: 999, Sent: SentUnit - 1, Memory: 1023}, Tail{}},
	} {
		var b [ring.TailBytes]byte
		tt.tail.put(&b)
		if got, err := parseTail(&b, 0); err != nil || got != tt.want {
			t.Errorf("%+v is read as %+v, error %v, want %+v", tt.tail, got, err, tt.want)
		}
	}
}

// TestTailFold verifies that folding the tails of buckets keeps every request and the lowest
// bad variable.
func TestTailFold(t *testing.T) {
	got := Tail{Loss: 1, Examples: 2, Digest: 9}
	for _, later := range []Tail{{NonFinite: 5}, {NonFinite: 3, Stop: 130}, {NonFinite: 4, Checkpoint: true, Evaluate: true}, {Saved: true}, {OldKeys: true}, {WornKeys: true, Unreached: true}, {}} {
		got.fold(later)
	}
	if want := (Tail{Loss: 1, Examples: 2, NonFinite: 3, Stop: 130, Checkpoint: true, Evaluate: true, Saved: true, OldKeys: true, WornKeys: true, Unreached: true, Digest: 9}); got != want {
		t.Errorf("folded to %+v, want %+v", got, want)
	}
}

// FuzzParseTail verifies that no bytes make the reader panic, and that accepted bytes are
// written back bit for bit.
func FuzzParseTail(f *testing.F) {
	var b [ring.TailBytes]byte
	(&Tail{Loss: math.Inf(-1), Examples: 5, NonFinite: 1, Stop: 130, Checkpoint: true, Digest: 1}).put(&b)
	f.Add(b[:], 4)
	f.Fuzz(func(t *testing.T, src []byte, variables int) {
		if len(src) != ring.TailBytes {
			return // a tail has TailBytes, always
		}
		in := [ring.TailBytes]byte(src)
		tail, err := parseTail(&in, variables)
		if err != nil {
			return
		}
		if tail.NonFinite < 0 || int64(tail.NonFinite) > int64(variables) || tail.Examples < 0 || tail.Record < 0 {
			t.Errorf("accepts %+v for %d variables", tail, variables)
		}
		var out [ring.TailBytes]byte
		tail.put(&out)
		if out != in {
			t.Errorf("%x becomes %x", in, out)
		}
	})
}
