package port

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswer verifies the bytes of an answer, and that they are parsed back.
func TestAnswer(t *testing.T) {
	tests := []struct {
		owner Owner
		bytes string // "": not compared
	}{
		{Owner{JobID: "mnist-7", Rank: 12}, "52544101 1300 0100 0c000000 0700 6d6e6973742d37 08e1426b"},
		{Owner{Rank: -1}, ""},
		{Owner{Rendezvous: true, JobID: "a", Rank: -1}, ""},
		{Owner{JobID: "\x00\xff\n", Rank: 1<<31 - 1}, ""},
		{Owner{JobID: strings.Repeat("x", 256)}, ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("rank=%d/id=%d", tt.owner.Rank, len(tt.owner.JobID)), func(t *testing.T) {
			b := appendAnswer(nil, tt.owner)
			if want := strings.ReplaceAll(tt.bytes, " ", ""); want != "" && hex.EncodeToString(b) != want {
				t.Errorf("answer is %x, want %s", b, want)
			}
			if got, ok := ParseAnswer(b); got != tt.owner || !ok {
				t.Errorf("read %+v, %v, want %+v", got, ok, tt.owner)
			}
		})
	}
	long := appendAnswer(nil, Owner{JobID: strings.Repeat("y", 1<<17)})
	if got, ok := ParseAnswer(long); len(got.JobID) != 256 || !ok || len(long) != MaxAnswerBytes {
		t.Errorf("of a job id of 128 KiB %d bytes are told in %d, want 256 in %d", len(got.JobID), len(long), MaxAnswerBytes)
	}
}

// TestWrongAnswer verifies that an answer that is cut, has a flipped bit or has bytes behind it
// is refused: else an error would name the wrong process.
func TestWrongAnswer(t *testing.T) {
	whole := appendAnswer(nil, Owner{JobID: "mnist-7", Rank: 12})
	for n := range whole {
		if o, ok := ParseAnswer(whole[:n]); ok {
			t.Errorf("cut=%d: read %+v", n, o)
		}
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[n] ^= 1 << bit
			if o, ok := ParseAnswer(flipped); ok {
				t.Errorf("byte=%d/bit=%d: read %+v", n, bit, o)
			}
		}
	}
	if o, ok := ParseAnswer(append(whole, 0)); ok {
		t.Errorf("with a byte behind it: read %+v", o)
	}
	if o, ok := ParseAnswer(appendAnswer(nil, Owner{Rank: -2})); ok {
		t.Errorf("rank -2: read %+v", o)
	}
}

// FuzzParseAnswer verifies that no input makes the parser panic, and that accepted bytes are
// those that a port would send.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendAnswer(nil, Owner{JobID: "mnist-7", Rank: 12}))
	f.Add(appendAnswer(nil, Owner{Rendezvous: true, Rank: -1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, ok := ParseAnswer(b); ok && !bytes.Equal(appendAnswer(nil, o), b) {
			t.Errorf("%x was read as %+v, which is sent as %x", b, o, appendAnswer(nil, o))
		}
	})
}

// TestSetOwner verifies that a query gets the present owner and is closed, and that a port without
// an owner does not answer.
func TestSetOwner(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		ask := func() []byte {
			start := time.Now()
			said, err := io.ReadAll(l.dial(t, Question))
			if took := time.Since(start); err != nil || took != 0 {
				t.Errorf("closed after %v with %v, want at once", took, err)
			}
			return said
		}
		if said := ask(); len(said) > 0 {
			t.Errorf("a port that was told nothing says %q", said)
		}
		for _, want := range []Owner{{Rank: 3}, {JobID: "mnist-7", Rank: 3}} {
			p.SetOwner(func() Owner { return want })
			if got, ok := ParseAnswer(ask()); got != want || !ok {
				t.Errorf("the port says %+v, %v, want %+v", got, ok, want)
			}
		}
	})
}

// TestSlowAskers verifies that a connection that does not take its answer is closed after 5 s,
// counts as pending, and does not delay Close.
func TestSlowAskers(t *testing.T) {
	inBubble(t, func(t *testing.T, l *memListener, p *Port) {
		p.SetOwner(func() Owner { return Owner{Rank: 3} })
		for range maxPending {
			l.dial(t, Question)
		}
		if got := closedAfter(l.dial(t, "")); got != 0 {
			t.Errorf("number 257 was closed after %v, want at once", got)
		}
		time.Sleep(kindTimeout)
		synctest.Wait()
		l.dial(t, magicLink)
		if _, err := p.Links().Accept(); err != nil {
			t.Error(err)
		}
		l.dial(t, Question)
		synctest.Wait()
		start := time.Now()
		p.Close()
		if time.Since(start) != 0 {
			t.Errorf("the port was closed after %v, want at once", time.Since(start))
		}
	})
}
