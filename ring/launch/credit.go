package launch

import (
	"encoding/binary"
	"sync"
)

// One login carries what all ranks of a branch write, their ends and faults. So that
// none of it waits behind output that nobody takes, each of the two outputs of a rank
// has credit: its agent sends windowBytes at most that the launcher has not said to have
// passed on, and stops reading the rank's pipe then. The launcher, and every agent
// between, takes each frame at once: it holds a window for each output at most.
//
//	rank ──pipe──► agent ── out, err ──►  launcher ──► who reads
//	                     ◄─── taken ────

const (
	// windowBytes is two chunks of stream.pass: one is read while another is on its way.
	windowBytes = 64 << 10
	// grantBytes is how much the launcher lets come together before it says so. An
	// agent that waits has sent more than that.
	ackBytes = windowBytes / 2
)

// voiceID is one output of one rank on one host.
type outputID struct {
	host, rank int
	kind       byte // kindOut or kindErr
}

// credits are what an agent has sent of each output and the launcher has not passed on.
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

// spend returns when n bytes may be sent. Once nobody gives new credit any more it returns
// false when there is none left, and from then on: what is sent has no gaps.
func (c *credits) acquire(v outputID, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && c.sent[v]+n > windowBytes {
		c.change.Wait()
	}
	c.sent[v] += n
	return c.sent[v] <= windowBytes
}

// taken says that the launcher has passed on n bytes.
func (c *credits) release(v outputID, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[v] = max(0, c.sent[v]-n)
	c.change.Broadcast()
}

// end says that there is no new credit, and lets all go that wait for it.
func (c *credits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.change.Broadcast()
}

// debts are the launcher's side of the credits of a login.
type unacked struct {
	mu      sync.Mutex
	outputs map[outputID]unackedBytes
}

// debt is in bytes.
type unackedBytes struct {
	unwritten  int // not passed on yet
	unreported int // passed on and not said
}

func newUnacked() *unacked { return &unacked{outputs: map[outputID]unackedBytes{}} }

// hold takes note of n bytes that have come. It tells whether there was credit for them.
func (d *unacked) receive(v outputID, n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.outputs[v]
	at.unwritten += n
	d.outputs[v] = at
	return at.unwritten+at.unreported <= windowBytes
}

// pass takes note that n of them are passed on, and returns how many are to be said.
func (d *unacked) written(v outputID, n int) (due int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.outputs[v]
	at.unwritten, at.unreported = at.unwritten-n, at.unreported+n
	if at.unreported >= ackBytes {
		due, at.unreported = at.unreported, 0
	}
	d.outputs[v] = at
	return due
}

// takenFrame says that n bytes of an output are passed on.
func ackFrame(v outputID, n int) frame {
	return frame{kindAck, v.host, v.rank, binary.BigEndian.AppendUint32([]byte{v.kind}, uint32(n))}
}

// parseTaken reads a takenFrame.
func (f frame) parseAck() (v outputID, n int, ok bool) {
	if len(f.payload) != 5 || f.payload[0] != kindOut && f.payload[0] != kindErr {
		return outputID{}, 0, false
	}
	n = int(binary.BigEndian.Uint32(f.payload[1:]))
	return outputID{f.host, f.rank, f.payload[0]}, n, n <= windowBytes
}
