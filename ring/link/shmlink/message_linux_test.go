package shmlink

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMessageBytes verifies the layout of a message.
func TestMessageBytes(t *testing.T) {
	m := message{kind: result, status: lost, number: 0x0102030405060708, rank: -1, text: "gone"}
	const want = "52544d01" + "04" + "02" + "0000" + "0807060504030201" + "ffffffff" + "676f6e65"
	if got := hex.EncodeToString(m.append(nil)); got != want {
		t.Errorf("message is\n%s, want\n%s", got, want)
	}
	got, err := parse(m.append(nil))
	if err != nil || got != m {
		t.Errorf("read %+v, %v, want %+v", got, err, m)
	}
}

// TestMessageMalformed verifies that parse refuses malformed packets.
func TestMessageMalformed(t *testing.T) {
	good := message{kind: request}.append(nil)
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	for name, b := range map[string][]byte{
		"empty":        nil,
		"short":        good[:fixedBytes-1],
		"long":         append(bytes.Clone(good), make([]byte, maxTextBytes+1)...),
		"magic=other":  change(0, 'G'),
		"kind=0":       change(4, 0),
		"kind=5":       change(4, 5),
		"status=4":     change(5, 4),
		"reserved=1":   change(6, 1),
		"number=2^63":  change(15, 0x80),
		"version=next": change(3, 2),
	} {
		if m, err := parse(b); !errors.Is(err, errMalformed) {
			t.Errorf("%s: read %+v, %v, want malformed", name, m, err)
		}
	}
}

// TestMessageText verifies that the longest text makes a valid message, and that a text
// cannot move the cursor of a terminal.
func TestMessageText(t *testing.T) {
	long := message{kind: request, text: strings.Repeat("t", 2*maxTextBytes)}
	if m, err := parse(long.append(nil)); err != nil || len(m.text) != maxTextBytes {
		t.Errorf("read %d bytes of text, %v, want %d", len(m.text), err, maxTextBytes)
	}
	if m, err := parse(message{kind: request, text: "a\x1b[2J\nb\xff"}.append(nil)); err != nil || m.text != "a?[2J?b?" {
		t.Errorf("read %q, %v, want control characters replaced", m.text, err)
	}
}

// FuzzParse verifies that no input makes parse panic, and that a parsed message is written
// back byte for byte, unless its text had to change.
func FuzzParse(f *testing.F) {
	f.Add(message{kind: request, number: 1 << 30}.append(nil))
	f.Add(message{kind: result, status: unavailable, rank: -1, text: "mmap"}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err == nil && m.text == string(b[fixedBytes:]) && !bytes.Equal(m.append(nil), b) {
			t.Errorf("%x is read as %+v, which is written as %x", b, m, m.append(nil))
		}
	})
}

// pair returns the two ends of a socket.
func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends []*net.UnixConn
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		c, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		ends = append(ends, c.(*net.UnixConn))
	}
	return ends[0], ends[1]
}

// TestLastMessage verifies that the last message before a close arrives although the sender
// has not read all packets: it has the reason for the end.
func TestLastMessage(t *testing.T) {
	a, b := pair(t)
	b.Write(message{kind: request}.append(nil)) // stays unread
	a.Write(message{kind: result, text: "why"}.append(nil))
	a.Close()
	c := serialConn{b, new(sync.Mutex)}
	if msg, err := receive(c); err != nil || msg.text != "why" {
		t.Errorf("received %+v, %v, want the last message", msg, err)
	}
	if _, err := receive(c); err != io.EOF {
		t.Errorf("then received an error %v, want the end", err)
	}
}

// TestExtraDescriptors verifies that a peer cannot fill this process with unwanted
// descriptors.
func TestExtraDescriptors(t *testing.T) {
	a, b := pair(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := count()
	fd := int(null.Fd())
	for _, packet := range [][]byte{message{kind: request}.append(nil), []byte("no message")} {
		if _, _, err := a.WriteMsgUnix(packet, unix.UnixRights(fd, fd, fd), nil); err != nil {
			t.Fatal(err)
		}
		msg, _ := receive(serialConn{b, new(sync.Mutex)})
		msg.drop()
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors are left, want 0", after-before)
	}
}
