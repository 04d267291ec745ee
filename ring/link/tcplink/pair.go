package tcplink

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// isPaired tells whether the link of r begins with one connection for both
// directions: each frame then tells the kernel of the other host what has arrived, for
// which frames that go one way need a packet more each.
func isPaired(r ring.Route) bool { return r.Shared && r.To == r.From && r.To >= 0 }

// dialled returns r as worker me opens it: of a pair the lower rank dials.
func dialled(me int, r ring.Route) ring.Route {
	switch {
	case !isPaired(r):
	case me < r.To:
		r.From = -1
	default:
		r.To = -1
	}
	return r
}

// pair is one connection for both halves of a link, as long as it lasts. Who receives
// reads all that comes, and hands over to the sender what concerns that one; the
// sender's goroutine reads only where the sender waits and nobody receives. The sender
// writes all that goes. Once the connection has broken each half goes on over one of
// its own.
type pair struct {
	sender   *sender
	receiver *receiver
	news     chan struct{} // has room for one: something below has changed
	wanted   atomic.Bool   // the sender waits for what is to be read
	closing  atomic.Bool   // nobody will receive
	opened   time.Time

	mu    sync.Mutex   // guards what follows
	owed  []ring.Frame // acknowledgements to write
	until time.Time    // not zero: how long to read before the connection is given up
	why   error        // why the connection carries nothing any more
}

// join makes a pair of the halves of a link that share a connection.
func join(s *sender, r *receiver) {
	p := &pair{sender: s, receiver: r, news: make(chan struct{}, 1), opened: time.Now()}
	s.pair, r.pair, r.both = p, p, true
	if s.kept != nil {
		s.kept.waits = p.want
	}
}

// stands tells whether the connection serves both halves. A nil pair does not.
func (p *pair) stands() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == nil
}

// end tells both halves why the connection carries nothing any more, and returns the
// reason that was the first.
func (p *pair) end(why error) error {
	if p == nil {
		return why
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = why
		p.tell()
	}
	return p.why
}

// endBy is end by the error of a read. It returns why the connection carries nothing
// any more: of one that was closed here, who closed it has said so, and err does not.
func (p *pair) endBy(err error) error {
	if first := p.end(err); errors.Is(err, net.ErrClosed) {
		return first
	}
	return err
}

// owe has the sender write an acknowledgement. It never waits: a receiver that waited
// for its sender would keep the neighbour's from going on, and that one ours.
func (p *pair) owe(ack ring.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owed = append(p.owed, ack) // one for each MiB: few
	p.tell()
}

// want has acknowledgements read although nobody may receive.
func (p *pair) want() {
	p.wanted.Store(true)
	p.tell()
}

// giveUp has serve return once it has heard the neighbour's last word, or at a time.
func (p *pair) giveUp(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = until
	p.want()
}

// received is called after each frame that was received.
func (p *pair) received() {
	if p != nil && p.wanted.Load() {
		p.tell()
	}
}

// tell wakes serve.
func (p *pair) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// serve is what the sender's goroutine does while the connection serves both. It
// returns why it does not any more.
func (p *pair) serve() error {
	var owed []ring.Frame
	for {
		<-p.news
		p.mu.Lock()
		owed = append(owed[:0], p.owed...)
		until, why := p.until, p.why
		p.owed = p.owed[:0]
		p.mu.Unlock()
		if why != nil {
			return why
		}
		for i := range owed {
			p.sender.acknowledge(&owed[i])
		}
		if p.wanted.Load() {
			if err := p.read(until); err != nil {
				return err
			}
		}
	}
}

// read reads acknowledgements as long as the sender waits for them, or until a time
// that is not zero. Where somebody receives it is that one who reads, and says so. Why
// nothing follows is entered before somebody else can read, who would find less.
func (p *pair) read(until time.Time) (err error) {
	r := p.receiver
	if !r.reading.TryLock() {
		return nil
	}
	defer r.reading.Unlock()
	defer func() {
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			err = p.endBy(err)
		}
	}()
	if !p.stands() { // serve is told why; there may be another connection to receive from
		return nil
	}
	ending := !until.IsZero()
	if ending {
		p.sender.line.SetReadDeadline(until)
	}
	for ending || p.sender.kept.isFull() {
		kind, err := r.frames.peek()
		switch {
		case err != nil:
			return err
		case kind == ring.KindData && p.closing.Load():
			_, err := io.Copy(io.Discard, p.sender.line.socket) // what is not read would reset what is under way
			return cmp.Or(err, io.EOF)
		case kind == ring.KindData && ending:
			return os.ErrDeadlineExceeded // the neighbour has said nothing; nothing is lost, for it is not taken
		case kind == ring.KindData:
			return nil // until it is received
		}
		if err := p.take(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted.Store(!p.until.IsZero())
	if p.sender.kept.isFull() { // again, since it was asked
		p.want()
	}
	return nil
}

// take reads a frame without data.
func (p *pair) take() error {
	f, err := p.receiver.frames.next(nil)
	switch {
	case err != nil:
		return err
	case f.Kind == ring.KindClose:
		return delivery.ErrGoodbye
	}
	return p.acknowledged(&f)
}

// acknowledged enters an acknowledgement that has come. After the end it means
// nothing: what is sent again is acknowledged again.
func (p *pair) acknowledged(f *ring.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return nil
	}
	return p.sender.acknowledged(f)
}

// isEarly tells whether a refusal may come from a neighbour that is still opening its
// links. It dialled, and dialled again as it heard no end of the handshake; the
// acceptor, which did, takes that for the repair of a connection.
func (p *pair) isEarly(err error) bool {
	if p == nil || !errors.Is(err, handshake.ErrRefused) || time.Since(p.opened) > dialTimeout+handshakeTimeout {
		return false
	}
	if exitcode.Of(err) == exitcode.Protocol {
		return false
	}
	p.receiver.mu.Lock()
	defer p.receiver.mu.Unlock()
	return p.receiver.next == delivery.Position{} // nothing has come from there yet
}

// newBoth returns conn, which has shaken hands, as a connection to read frames from and to send them over.
func (c Config) newBoth(conn net.Conn) socket {
	return newSocket(c.source(conn))
}
