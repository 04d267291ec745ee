package ring_test

import (
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// bytesOfAbort returns the frame of the example in PROTOCOL.md.
func bytesOfAbort() []byte {
	a := ring.Abort{Rank: 3, By: 1, Code: exitcode.Retry, Text: "connection reset by peer"}
	return a.AppendFrame(nil, 7, true)
}

// TestAbortFrame verifies that ParseAbort reads what AppendFrame wrote, that PROTOCOL.md has
// the bytes, and that AppendFrame cuts a long text.
func TestAbortFrame(t *testing.T) {
	b := bytesOfAbort()
	page, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(b); !strings.Contains(strings.ReplaceAll(string(page), " ", ""), want) {
		t.Errorf("the page has no example %s", want)
	}
	for _, a := range []ring.Abort{
		{Rank: 3, By: 1, Code: exitcode.Retry, Text: "connection reset by peer"},
		{Rank: -1, By: 0, Code: exitcode.Protocol},
		{Rank: 5, By: 5, Code: 1, Text: strings.Repeat("x", 600)},
	} {
		b := a.AppendFrame(nil, 7, true)
		h, err := ring.ParseFrameHeader(b[:ring.FrameHeaderBytes], true)
		if err != nil || h.Kind != ring.KindAbort || h.Generation != 7 {
			t.Fatalf("%+v: header %+v, %v", a, h, err)
		}
		got, err := ring.ParseAbort(&h, b[ring.FrameHeaderBytes:])
		a.Text = phrase.Clip(a.Text, 512)
		if err != nil || *got != a {
			t.Errorf("read %+v, %v, want %+v", got, err, a)
		}
	}
}

// TestAbortPayload verifies that ParseAbort refuses other payloads, and that the text stays one
// line of printable characters.
func TestAbortPayload(t *testing.T) {
	b := bytesOfAbort()
	h, err := ring.ParseFrameHeader(b[:ring.FrameHeaderBytes], true)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, b[ring.FrameHeaderBytes:]...)
	changed[0]++
	for _, payload := range [][]byte{nil, b[ring.FrameHeaderBytes:][:9], changed} {
		h := h
		if _, err := ring.ParseAbort(&h, payload); !errors.Is(err, ring.ErrChangedBytes) {
			t.Errorf("%d bytes: error %v, want ring.ErrChangedBytes", len(payload), err)
		}
	}
	none, long := ring.FrameHeader{}, make([]byte, ring.MaxAbortPayload+1)
	if _, err := ring.ParseAbort(&none, long); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("%d bytes: error %v, want ring.ErrCorruptFrame", len(long), err)
	}
	got, err := ring.ParseAbort(&none, append(make([]byte, 10), "a\nb\x1b[31m\xff"...))
	if err != nil || got.Text != "a?b?[31m?" {
		t.Errorf("text is %q, %v, want one line of printable characters", got.Text, err)
	}
}
