package ring_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"ringtrain/ring"
)

// sample is a frame with a value of its own in every field.
func sample() ring.Frame {
	return ring.Frame{
		Kind: ring.KindData, Stream: 2, Codec: 0x23, Generation: 0x05060708, Length: 0x01020304, Op: 0x1415161718, Terms: 0x111213,
		Segment: 0x21222324, Payload: []byte("payload"),
	}
}

// TestFrameHeaderBytes verifies the header against the example in PROTOCOL.md. Otherwise
// versions that call themselves equal would not understand each other.
func TestFrameHeaderBytes(t *testing.T) {
	for _, tt := range []struct {
		name string
		crc  bool
		want string
	}{
		{"crc=no", false, "52544603" + "01022300" + "0807060504030201" + "1817161514131211" + "24232221" + "07000000" + "00000000"},
		{"crc=yes", true, "52544603" + "01022300" + "0807060504030201" + "1817161514131211" + "24232221" + "07000000" + "5ce3b091"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := sample()
			got := make([]byte, ring.FrameHeaderBytes)
			ring.PutFrameHeader(got, &f, tt.crc)
			if hex.EncodeToString(got) != tt.want {
				t.Errorf("header is %x, want %s", got, tt.want)
			}
			for payload, changed := range map[string]bool{"payload": false, "paylord": tt.crc, "payloa": tt.crc} {
				h, err := ring.ParseFrameHeader(got, tt.crc)
				if err != nil {
					t.Fatal(err)
				}
				if h.PayloadBytes != len(f.Payload) {
					t.Errorf("payload of %d bytes, want %d", h.PayloadBytes, len(f.Payload))
				}
				h.Add([]byte(payload[:3]))
				if err := h.Check([]byte(payload[3:])); errors.Is(err, ring.ErrChangedBytes) != changed {
					t.Errorf("payload %q gives %v", payload, err)
				}
			}
		})
	}
}

// checkedHeader reads a header and a payload with their CRC.
func checkedHeader(head, payload []byte) (ring.FrameHeader, error) {
	h, err := ring.ParseFrameHeader(head, true)
	if err == nil {
		err = h.Check(payload)
	}
	return h, err
}

// TestFrameHeaderFlips verifies that a header with any one bit changed is refused.
func TestFrameHeaderFlips(t *testing.T) {
	f := sample()
	good := make([]byte, ring.FrameHeaderBytes)
	ring.PutFrameHeader(good, &f, true)
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := checkedHeader(bad, f.Payload); !errors.Is(err, ring.ErrChangedBytes) || errors.Is(err, ring.ErrCorruptFrame) {
			t.Errorf("bit %d: error %v, want ring.ErrChangedBytes", bit, err)
		}
	}
	for _, n := range []int{0, 35, 37} {
		if _, err := ring.ParseFrameHeader(make([]byte, n), false); !errors.Is(err, ring.ErrCorruptFrame) {
			t.Errorf("%d bytes: error %v, want ring.ErrCorruptFrame", n, err)
		}
	}
}

// TestFrameHeaderBounds verifies that a header is refused if it claims what no worker sends. Without a
// CRC it is that of another program, with one it was changed on the way.
func TestFrameHeaderBounds(t *testing.T) {
	for name, f := range map[string]ring.Frame{
		"payload above the limit": {Kind: ring.KindData, Payload: make([]byte, ring.MaxPayloadBytes+1)},
		"kind=0":                  {},
		"kind=2":                  {Kind: 2},
		"kind=5":                  {Kind: ring.KindAbort + 1},
	} {
		for crc, want := range map[bool]error{false: ring.ErrCorruptFrame, true: ring.ErrChangedBytes} {
			h := make([]byte, ring.FrameHeaderBytes)
			ring.PutFrameHeader(h, &f, crc)
			if _, err := ring.ParseFrameHeader(h, crc); !errors.Is(err, want) {
				t.Errorf("%s, crc=%v: error %v, want %v", name, crc, err, want)
			}
		}
	}
}

// TestProtocolPage verifies the example in PROTOCOL.md.
func TestProtocolPage(t *testing.T) {
	page, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	f := sample()
	h := make([]byte, ring.FrameHeaderBytes)
	ring.PutFrameHeader(h, &f, true)
	if want := hex.EncodeToString(append(h, f.Payload...)); !strings.Contains(strings.ReplaceAll(string(page), " ", ""), want) {
		t.Errorf("the page has no example %s", want)
	}
}

// FuzzParseFrameHeader verifies that no bytes make the reader panic or claim too much, and
// that accepted bytes are written back unchanged.
func FuzzParseFrameHeader(f *testing.F) {
	for _, crc := range []bool{false, true} {
		fr := sample()
		h := make([]byte, ring.FrameHeaderBytes)
		ring.PutFrameHeader(h, &fr, crc)
		f.Add(h, fr.Payload, crc)
	}
	f.Add([]byte("GET / HTTP/1.1\r\nHost: 10.0.0.1:29400\r\n\r\n"), []byte{}, false)
	f.Fuzz(func(t *testing.T, src, payload []byte, crc bool) {
		refused := ring.ErrCorruptFrame
		if crc {
			refused = ring.ErrChangedBytes
		}
		h, err := ring.ParseFrameHeader(src, crc)
		if err != nil {
			if !errors.Is(err, refused) {
				t.Errorf("error %v, want %v", err, refused)
			}
			return
		}
		if h.PayloadBytes < 0 || h.PayloadBytes > ring.MaxPayloadBytes {
			t.Errorf("payload of %d bytes", h.PayloadBytes)
		}
		if len(payload) != h.PayloadBytes || h.Check(payload) != nil {
			return
		}
		h.Payload = payload
		again := make([]byte, ring.FrameHeaderBytes)
		ring.PutFrameHeader(again, &h.Frame, crc)
		if !crc {
			copy(again[ring.FrameHeaderBytes-4:], src[ring.FrameHeaderBytes-4:]) // is not looked at
		}
		if !bytes.Equal(again, src) {
			t.Errorf("written again it is %x, want %x", again, src)
		}
	})
}
