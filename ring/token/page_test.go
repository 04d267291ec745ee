package token

import (
	"encoding/hex"
	"net"
	"os"
	"strings"
	"testing"
)

// TestProtocolPage verifies the example of an exchange in PROTOCOL.md: versions that call themselves
// equal must understand each other.
func TestProtocolPage(t *testing.T) {
	page, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := Parse(strings.Repeat("01", Bytes))
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	defer near.Close()
	nonce := make([]byte, nonceBytes)
	dialer, acceptor := newClear(near, nonce, nonce), newClear(far, nonce, nonce)
	dialer.token, acceptor.token = secret, secret
	dialer.Request = Request{Purpose: Link, JobID: "mnist-7", From: End{0, 0x11}, To: End{1, 0x22}, Stream: 1}
	dialer.Request.Fence[0] = 0x33
	says := make(chan []byte, 2)
	go func() { // both messages, as they pass
		b := make([]byte, 1<<12)
		n, _ := far.Read(b)
		says <- b[:n]
		acceptor.asked = b[3+len(ID{}) : n-proofBytes]
		acceptor.Answer(Answer{Status: 138, Text: "stream is 1, want 0"})
		far.Close()
	}()
	recorded := &recordAll{Conn: near}
	dialer.Conn = recorded
	a, err := dialer.ask()
	if err != nil || a.Text != "stream is 1, want 0" {
		t.Fatalf("answer is %+v, %v", a, err)
	}
	text := strings.Join(strings.Fields(string(page)), "")
	for name, b := range map[string][]byte{"request": <-says, "answer": recorded.read} {
		if !strings.Contains(text, hex.EncodeToString(b)) {
			t.Errorf("the page lacks the %s %x", name, b)
		}
	}
}

// recordAll keeps all bytes that it reads.
type recordAll struct {
	net.Conn
	read []byte
}

func (r *recordAll) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.read = append(r.read, p[:n]...)
	return n, err
}
