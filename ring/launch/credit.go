package launch

import (
	"encoding/binary"
	"sync"
)

// One login carries the outputs, ends and faults of all ranks of a host. Each output of a
// rank has credit, so that no frame waits behind output that is not read. The agent sends at
// most windowBytes that the launcher has not acknowledged, and then stops reading the
// rank's pipe. The launcher accepts each frame at once: it holds at most one window for each
// output.
//
//	rank ──pipe──► agent ── out, err ──►  launcher ──► reader
//	                     ◄──── ack ─────

const (
	// windowBytes is two chunks of a pipe: one is read while another is under way.
	windowBytes = 64 << 10
	// ackBytes is how much the launcher writes before it acknowledges. An agent that
	// waits for credit has sent more than that.
	ackBytes = windowBytes / 2
)

// outputID names one output of one rank.
type outputID struct {
	rank int
	kind byte // kindOut or kindErr
}

// credits counts the bytes that an agent has sent and the launcher has not acknowledged.
type credits struct {
	mu     sync.Mutex
	change sync.Cond
	sent   map[outputID]int // bytes
	closed bool
}

func newCredits() *credits {
	c := &credits{sent: map[outputID]int{}}
	c.change.L = &c.mu
	return c
}

// acquire waits until n bytes may be sent. After close it does not wait: it returns false
// once the credit of the output is used up. The bytes sent therefore have no gaps.
func (c *credits) acquire(v outputID, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && c.sent[v]+n > windowBytes {
		c.change.Wait()
	}
	c.sent[v] += n
	return c.sent[v] <= windowBytes
}

// release gives back the credit of n bytes that the launcher has acknowledged.
func (c *credits) release(v outputID, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[v] = max(0, c.sent[v]-n)
	c.change.Broadcast()
}

// close ends all waits: no more credit comes.
func (c *credits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.change.Broadcast()
}

// unacked counts the bytes that a login has received and the launcher has not acknowledged.
type unacked struct {
	mu      sync.Mutex
	outputs map[outputID]unackedBytes
}

// unackedBytes are the bytes of one output.
type unackedBytes struct {
	unwritten  int // received and not written
	unreported int // written and not acknowledged
}

func newUnacked() *unacked { return &unacked{outputs: map[outputID]unackedBytes{}} }

// receive counts n bytes that have come. It reports whether there was credit for them.
func (u *unacked) receive(v outputID, n int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.outputs[v]
	at.unwritten += n
	u.outputs[v] = at
	return at.unwritten+at.unreported <= windowBytes
}

// written counts n bytes that were written. It returns how many are to be acknowledged now.
func (u *unacked) written(v outputID, n int) (due int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.outputs[v]
	at.unwritten, at.unreported = at.unwritten-n, at.unreported+n
	if at.unreported >= ackBytes {
		due, at.unreported = at.unreported, 0
	}
	u.outputs[v] = at
	return due
}

// ackFrame acknowledges n bytes of an output.
func ackFrame(v outputID, n int) frame {
	return frame{kindAck, v.rank, binary.BigEndian.AppendUint32([]byte{v.kind}, uint32(n))}
}

// parseAck parses an ackFrame.
func (f frame) parseAck() (v outputID, n int, ok bool) {
	if len(f.payload) != 5 || f.payload[0] != kindOut && f.payload[0] != kindErr {
		return outputID{}, 0, false
	}
	n = int(binary.BigEndian.Uint32(f.payload[1:]))
	return outputID{f.rank, f.payload[0]}, n, n <= windowBytes
}
