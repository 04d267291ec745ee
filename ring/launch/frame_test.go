package launch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestFrame verifies that a frame survives the wire.
func TestFrame(t *testing.T) {
	var wire bytes.Buffer
	w := &frameWriter{w: &wire}
	sent := []frame{
		{kindBeat, 0, nil}, {kindOut, 7, []byte("text")}, {kindErr, ring.MaxWorldSize - 1, make([]byte, maxPayload)}, frameOf(kindEnded, 3, wireEnding{PID: 5, Signal: 9}),
	}
	for _, f := range sent {
		if err := w.send(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.send(frame{kindOut, 0, make([]byte, maxPayload+1)}); err == nil {
		t.Error("a frame was sent that is too long to be read")
	}
	for i, want := range sent {
		got, err := readFrame(&wire)
		if err != nil || got.kind != want.kind || got.rank != want.rank || !bytes.Equal(got.payload, want.payload) {
			t.Errorf("frame %d: got %c of rank %d with %d bytes, error %v", i, got.kind, got.rank, len(got.payload), err)
		}
	}
	if _, err := readFrame(&wire); err != io.EOF {
		t.Errorf("error %v at the end, want io.EOF", err)
	}
}

// TestFrameOrders verifies the bytes of orders: an agent of any other version
// can read that the version is another.
func TestFrameOrders(t *testing.T) {
	var wire bytes.Buffer
	if err := (&frameWriter{w: &wire}).send(frame{kind: kindOrders, payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if got, want := wire.String(), "O\x00\x00\x00\x00\x00\x00\x00\x02{}"; got != want {
		t.Errorf("orders are %q, want %q", got, want)
	}
}

// TestFrameRefused verifies that frames that are too long or torn are errors.
func TestFrameRefused(t *testing.T) {
	head := func(n uint32) string {
		return string(binary.BigEndian.AppendUint32([]byte{'o', 0, 0, 0, 0}, n))
	}
	tests := []struct {
		name, text string
		code       int
		is         error
	}{
		{"length=too much", head(maxPayload + 1), exitcode.Protocol, nil},
		{"head=torn", head(1)[:5], exitcode.Failed, io.ErrUnexpectedEOF},
		{"payload=torn", head(4) + "abc", exitcode.Failed, io.ErrUnexpectedEOF},
		{"payload=none", head(4), exitcode.Failed, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readFrame(strings.NewReader(tt.text))
			if err == nil || exitcode.Of(err) != tt.code || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v with code %d, want %v, code %d", err, exitcode.Of(err), tt.is, tt.code)
			}
		})
	}
}

// FuzzFrame verifies that no bytes make the reader panic or read past a frame, and that the
// writer's frames are read back unchanged.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("o\x00\x00\x00\x01\x00\x00\x00\x02hi"))
	f.Add([]byte("A0000\x00\x00\x00\x0200"))
	f.Add([]byte("H\x00\x00\x00\x00\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bytes.NewReader(text)
		got, err := readFrame(r)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := (&frameWriter{w: &again}).send(got); err != nil || !bytes.Equal(again.Bytes(), text[:len(text)-r.Len()]) {
			t.Errorf("%q is written again as %q, error %v", text, again.Bytes(), err)
		}
	})
}

// TestSkipBanner verifies that the text that a login prints before the magic is skipped, up
// to maxBanner.
func TestSkipBanner(t *testing.T) {
	tests := []struct {
		name, text string
		rest       string
		is         error
	}{
		{"foreword=none", agentMagic + "rest", "rest", nil},
		{"foreword=lines", "Welcome\n\n" + agentMagic + "rest", "rest", nil},
		{"foreword=almost", "\nringtrain-\nringtrain-agen" + agentMagic + "rest", "rest", nil},
		{"foreword=all", "Welcome\n", "", io.EOF},
		{"foreword=endless", strings.Repeat("x", maxBanner) + agentMagic, "", errNoAgent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := bufio.NewReader(strings.NewReader(tt.text))
			if err := skipBanner(r); !errors.Is(err, tt.is) {
				t.Fatalf("error %v, want %v", err, tt.is)
			}
			if rest, _ := io.ReadAll(r); tt.is == nil && string(rest) != tt.rest {
				t.Errorf("rest is %q, want %q", rest, tt.rest)
			}
		})
	}
}
