package codec

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// TestHuff0Golden verifies the bytes of each kind of block, so that workers of different
// builds understand each other.
func TestHuff0Golden(t *testing.T) {
	mixed := bytes.Repeat([]byte{0, 0, 0, 0, 0, 1, 0, 0xff}, 8)
	for _, tt := range []struct {
		name    string
		src     []byte
		payload string
	}{
		{"empty", nil, "00"},
		{"raw", []byte{1, 2, 3}, "03 00 010203"},
		{"run", bytes.Repeat([]byte{7}, 300), "ac02 01 07"},
		{"two runs", make([]byte, huffBlock+2), "828008 0100 0100"},
		{"coded", mixed, "40 02 1a000000 07f00100008a7d1f 030003000300 e5971f e5971f e5971f e5971f"},
	} {
		t.Run("block="+tt.name, func(t *testing.T) {
			got := hex.EncodeToString(NewHuff0().Append(nil, tt.src))
			if want := strings.ReplaceAll(tt.payload, " ", ""); got != want {
				t.Errorf("payload is %s, want %s", got, want)
			}
		})
	}
}

// TestHuff0Stateless verifies that the output does not depend on earlier calls: else a
// run would not repeat.
func TestHuff0Stateless(t *testing.T) {
	h := NewHuff0()
	src := Int8U.Append(nil, gradient(50_000, 1))
	first := h.Append(nil, src)
	h.Append(nil, []byte(strings.Repeat("other bytes", 1000)))
	if !bytes.Equal(h.Append(nil, src), first) {
		t.Error("the same bytes give another payload the second time")
	}
}

// TestHuff0Refuses verifies that blocks that no encoder writes are refused with the
// reason.
func TestHuff0Refuses(t *testing.T) {
	for _, tt := range []struct{ name, payload, err string }{
		{"no length", "", "no length"},
		{"endless length", "ffffffffffffffffffffff", "no length"},
		{"other length", "05 00 0102030405", "holds 5, want 4"},
		{"no block", "04", "block is cut"},
		{"raw is cut", "04 00 010203", "block is cut"},
		{"run is cut", "04 01", "block is cut"},
		{"coded is cut", "04 02 ffffffff 01", "block is cut"},
		{"bad table", "04 02 02000000 ff01", "input too small for table"},
		{"unknown kind", "04 03 01020304", "block of kind 3, want 0 to 2"},
		{"too many bytes", "04 01 07 07", "1 bytes too many"},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			payload, err := hex.DecodeString(strings.ReplaceAll(tt.payload, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			err = NewHuff0().Decode(make([]byte, 4), payload)
			if err == nil || !strings.HasPrefix(err.Error(), "compressor huff0: ") || !strings.HasSuffix(err.Error(), tt.err) {
				t.Errorf("error is %v, want one that ends in %s", err, tt.err)
			}
		})
	}
}

// TestInt8UHuff0 verifies that int8u with huff0 takes at most half the bytes of int8 for a
// gradient.
func TestInt8UHuff0(t *testing.T) {
	g := gradient(1<<17, 1)
	with, without := NewHuff0().Append(nil, Int8U.Append(nil, g)), Int8.Append(nil, g)
	t.Logf("%d elements: %d bytes, int8 %d", len(g), len(with), len(without))
	if len(with) > len(without)/2 {
		t.Errorf("%d elements take %d bytes, want half of int8's %d at most", len(g), len(with), len(without))
	}
}
