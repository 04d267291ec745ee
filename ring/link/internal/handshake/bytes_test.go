package handshake

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"ringtrain/ring"
)

func fill(b byte) (n [NonceBytes]byte) {
	copy(n[:], bytes.Repeat([]byte{b}, len(n)))
	return n
}

var sampleHello = hello{
	version: 2, stream: 2, from: 3, to: 4, fence: ring.Fence{Life: [16]byte{0xcc, 15: 0xdd}, Generation: 5, Issuer: 8},
	dialer: 6, acceptor: 7, nonce: fill(0xaa), jobID: "job-1",
}

// TestHelloBytes verifies the layout of the hello. A change of it needs another protocol
// version.
func TestHelloBytes(t *testing.T) {
	const want = "52544c02" + "6700" + // magic, length of the rest
		"0200" + "02" + "00" + "03000000" + "04000000" + // version, stream, reserved, from, to
		"cc0000000000000000000000000000dd" + "0500000000000000" + "0800000000000000" + // fence: life, generation, issuer
		"0600000000000000" + "0700000000000000" // incarnations
	tail := strings.Repeat("aa", 32) + "0500" + hex.EncodeToString([]byte("job-1"))
	got := hex.EncodeToString(sampleHello.bytes())
	if !strings.HasPrefix(got, want+tail) || len(got) != len(want)+len(tail)+8 {
		t.Errorf("hello is\n%s, want\n%s and a crc", got, want+tail)
	}
}

// TestWelcomeBytes verifies the layout of the welcome.
func TestWelcomeBytes(t *testing.T) {
	w := welcome{status: 138, nonce: fill(0xaa), proof: fill(0xbb), reason: "no"}
	want := "52545702" + "4a00" + "8a00" +
		strings.Repeat("aa", 32) + strings.Repeat("bb", 32) + "0200" + hex.EncodeToString([]byte("no"))
	got := hex.EncodeToString(w.bytes())
	if !strings.HasPrefix(got, want) || len(got) != len(want)+8 {
		t.Errorf("welcome is\n%s, want\n%s and a crc", got, want)
	}
}

// TestParseMalformed verifies that the parsers refuse malformed messages.
func TestParseMalformed(t *testing.T) {
	good := sampleHello.bytes()
	change := func(at int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[at:], b)
		return c
	}
	tests := []struct {
		name string
		msg  []byte
		want string
	}{
		{"empty", nil, "0 bytes"},
		{"magic=other", change(0, 'G'), `begins with "GTL\x02"`},
		{"length=short", change(4, 3, 0), "length is 3"},
		{"length=huge", change(4, 0xff, 0xff), "length is 65535"},
		{"byte=flipped", change(20, 0xff), "crc32c"},
		{"byte=missing", good[:len(good)-1], "length is"},
		{"byte=extra", append(bytes.Clone(good), 0), "length is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseHello(tt.msg)
			if !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want malformed with %q", err, tt.want)
			}
		})
	}
}

// TestJobIDLength verifies that a hello cannot claim a job id that exceeds the message or
// the limit.
func TestJobIDLength(t *testing.T) {
	for _, n := range []int{0, 1, MaxJobIDBytes} {
		h := sampleHello
		h.jobID = strings.Repeat("j", n)
		if got, err := parseHello(h.bytes()); err != nil || got != h {
			t.Errorf("length=%d: read %+v, %v, want %+v", n, got, err, h)
		}
	}
	h := sampleHello
	h.jobID = strings.Repeat("j", MaxJobIDBytes+1)
	if _, err := parseHello(h.bytes()); !errors.Is(err, errMalformed) {
		t.Errorf("length=%d: error %v, want malformed", MaxJobIDBytes+1, err)
	}
}

// TestReason verifies that the longest reason fits a message that the dialer accepts, and
// that a reason cannot move the cursor of a terminal.
func TestReason(t *testing.T) {
	w := welcome{status: 1, reason: strings.Repeat("r", 2*MaxReasonBytes)}
	msg := w.bytes()
	if len(msg) != MaxMessageBytes {
		t.Errorf("the longest message has %d bytes, want %d", len(msg), MaxMessageBytes)
	}
	if got, err := parseWelcome(msg); err != nil || got.reason != w.reason[:MaxReasonBytes] {
		t.Errorf("read %d bytes of reason, %v, want %d", len(got.reason), err, MaxReasonBytes)
	}
	w.reason = "a\x1b[2J\nb\xff"
	if got, err := parseWelcome(w.bytes()); err != nil || got.reason != "a?[2J?b?" {
		t.Errorf("read %q, %v, want control characters replaced", got.reason, err)
	}
}

// sealed returns msg with the right length and CRC, if it has room for them, so that a
// fuzzer passes these checks.
func sealed(msg []byte) []byte {
	msg = bytes.Clone(msg)
	if end := len(msg) - crcBytes; end >= prefixBytes {
		binary.LittleEndian.PutUint16(msg[4:], uint16(len(msg)-prefixBytes))
		binary.LittleEndian.PutUint32(msg[end:], crc32.Checksum(msg[:end], castagnoli))
	}
	return msg
}

// FuzzParseHello verifies that no input makes parseHello panic, and that a parsed hello of
// this version is written back byte for byte.
func FuzzParseHello(f *testing.F) {
	f.Add(sampleHello.bytes())
	f.Add([]byte("RTL\x02\x06\x00\x03\x00"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		parseHello(msg)
		msg = sealed(msg)
		h, err := parseHello(msg)
		if err == nil && h.version == ring.ProtocolVersion && !bytes.Equal(h.bytes(), msg) {
			t.Errorf("%x is read as %+v, which is written as %x", msg, h, h.bytes())
		}
	})
}

// FuzzParseWelcome verifies the same of parseWelcome. A reason is made printable, so only a
// reason that needed no change is written back byte for byte.
func FuzzParseWelcome(f *testing.F) {
	f.Add((&welcome{nonce: fill(1), proof: fill(2)}).bytes())
	f.Add((&welcome{status: 76, reason: "protocol version is 3, want 2"}).bytes())
	f.Fuzz(func(t *testing.T, msg []byte) {
		parseWelcome(msg)
		msg = sealed(msg)
		w, err := parseWelcome(msg)
		if err == nil && bytes.HasSuffix(msg[:len(msg)-crcBytes], []byte(w.reason)) && !bytes.Equal(w.bytes(), msg) {
			t.Errorf("%x is read as %+v, which is written as %x", msg, w, w.bytes())
		}
	})
}
