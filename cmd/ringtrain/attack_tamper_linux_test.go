package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// A tamper changes what passes the middle, at one place at a time.
type tamper struct {
	mu   sync.Mutex
	next *change // nil: nothing is to be changed
}

// A change is done to one record.
type change struct {
	kind  string
	on    string        // which connections: see class
	after int           // so many records of theirs
	place uint64        // in the record, at random
	made  chan struct{} // closed when it was done
}

// The kinds of changes, and the connections that they are done on.
var (
	changes   = []string{"flip", "cut", "repeat", "reorder"}
	tamperOn  = []string{"link 0 -> 1", "link 1 -> 0", "control"}
	patiently = 20 * time.Second // for a change to be made, and to be named
)

// manyBytes tells a link that is in use from a control stream, and from a connection that opens.
const manyBytes = 256 << 10

// class names the connection: the link, by the rank that it leads to, or control.
func (p *passage) class(sent int) string {
	switch {
	case sent < manyBytes:
		return tamperOn[2]
	case p.to == 1:
		return tamperOn[0]
	}
	return tamperOn[1]
}

// set sets the next change, nil for none.
func (t *tamper) set(c *change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = c
}

// take returns the change for the next record of a class, nil for none. It is not returned again.
func (t *tamper) take(class string) *change {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.next
	if c == nil || c.on != class {
		return nil
	}
	c.after--
	if c.after > 0 {
		return nil
	}
	t.next = nil
	return c
}

// pass passes on a connection, and changes what the dialer sends.
func (t *tamper) pass(p *passage) {
	p.both(func(dst, src net.Conn) { t.copy(p, dst, src) }, p.copyAsIs)
}

func (t *tamper) copy(p *passage, dst, src net.Conn) {
	from, sent := bufio.NewReaderSize(src, 1<<17), 0
	for {
		record, err := nextRecord(from)
		sent += len(record)
		if err == nil {
			if c := t.take(p.class(sent)); c != nil {
				record, err = t.changed(c, record, from)
			}
		}
		if _, werr := dst.Write(record); err != nil || werr != nil {
			dst.Close()
			src.Close()
			return
		}
	}
}

// errCut ends a connection.
var errCut = errors.New("cut")

// changed returns what is sent in the place of a record.
func (t *tamper) changed(c *change, record []byte, from *bufio.Reader) ([]byte, error) {
	switch c.kind {
	case "flip":
		record[c.place%uint64(len(record))] ^= 1 << (c.place >> 61)
	case "repeat":
		record = append(record, record...)
	case "reorder":
		if from.Buffered() == 0 { // the next record may wait for this one
			t.set(c)
			return record, nil
		}
		next, err := nextRecord(from)
		if err != nil {
			return nil, err
		}
		record = append(next, record...)
	case "cut":
		close(c.made)
		return record[:c.place%uint64(len(record))], errCut
	}
	close(c.made)
	return record, nil
}

// nextRecord reads one record of TLS, or what is there of another protocol.
func nextRecord(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(1)
	if err != nil {
		return nil, err
	}
	if head[0] < 20 || head[0] > 23 {
		b := make([]byte, r.Buffered())
		n, err := r.Read(b)
		return b[:n], err
	}
	if head, err = r.Peek(5); err != nil {
		return nil, err
	}
	b := make([]byte, 5+int(binary.BigEndian.Uint16(head[3:])))
	n, err := io.ReadFull(r, b)
	return b[:n], err
}

// TestAttackTamper changes what two ranks send to each other: it flips a byte, cuts a connection,
// repeats or reorders records, at many places. It verifies that every job ends with the digest of an
// undisturbed one, and that every change of a link is named.
func TestAttackTamper(t *testing.T) {
	places := 2
	if attacks(t) {
		places = 50
	}
	for _, security := range []string{"tls", "auth"} {
		for _, kind := range changes {
			if security == "tls" || kind == "flip" {
				t.Run("security="+security+"/kind="+kind, func(t *testing.T) { tamperWith(t, security, kind, places) })
			}
		}
	}
}

// tamperJob sends some 400 KiB a step from each of two ranks.
func tamperJob(security string) []string {
	return digitsMLP(128, 300, append(secured(security), "--set", "allreduce.codec=none", "--set", "allreduce.algorithm=ring",
		"--set", "log.every=1", "--set", "checkpoint.dir=", "--start-timeout", "60s")...)
}

func tamperWith(t *testing.T, security, kind string, places int) {
	r, x := rand.New(rand.NewPCG(attackSeed(t), 0)), new(tamper)
	m, key, job := newMiddle(t, x.pass), token.New(), tamperJob(security)
	want := m.start(newBox(t), key, job...).trained().digest(t)
	var all []string
	for i := 0; i < places && !t.Failed(); {
		j := m.start(newBox(t).lasting(3*time.Minute), key, job...)
		hits := 0
		for i < places && j.ranks[0].stepAfter(t, time.Now()) {
			c := &change{kind, tamperOn[i%len(tamperOn)], 1 + r.IntN(20), r.Uint64(), make(chan struct{})}
			before := len(causes(j.ranks[0].stdout.String(), kind))
			x.set(c)
			select {
			case <-c.made:
				i++
				if c.on != "control" {
					hits++
					j.ranks[0].awaitCause(before+1, kind)
				}
			case <-j.ranks[0].ended:
			case <-time.After(patiently):
			}
			x.set(nil)
		}
		e := j.trained()
		if e.digest(t) != want {
			t.Errorf("digest %s, want %s of the undisturbed job", e.digest(t), want)
		}
		named := causes(e.stdout, kind)
		all = append(all, named...)
		if len(named) < hits {
			t.Errorf("%d links were changed, %d are named: %q\n%s", hits, len(named), named, withoutSteps(e.stderr))
		}
	}
	t.Logf("%d places, %d named, such as %q", places, len(all), all[:min(len(all), 3)])
}

// awaitCause returns when so many changes of links are named, or when the job has ended. It waits no
// longer than a change may take.
func (p *testProcess) awaitCause(n int, kind string) {
	late := time.After(patiently)
	for {
		text, grown := p.stdout.snapshot()
		if len(causes(text, kind)) >= n {
			return
		}
		select {
		case <-grown:
		case <-p.ended:
			return
		case <-late:
			return
		}
	}
}

// causes returns, of the events in text, the causes of new generations that name a change on a link.
func causes(text, kind string) []string {
	var list []string
	for _, v := range parsed(text) {
		cause := v.text("cause")
		if v.name() == "generation" && strings.Contains(cause, "link ") && (kind == "cut" || strings.Contains(cause, "bytes were changed on the way")) {
			list = append(list, cause)
		}
	}
	return list
}
