package rendezvous

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"ringtrain/ring/internal/awake"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// A worker whose beats are not heard dials a second stream beside the first: a path may be dark for
// some seconds, and TCP waits ever longer before it tries again. The first stream that is proved
// replaces the old one.
const (
	darkAfter    = 2 * time.Second        // the age of a beat that was not heard
	dialEvery    = 250 * time.Millisecond // between two attempts
	dialLimit    = 10 * time.Second       // for one attempt: a name may be looked up slowly
	noticeAfter  = 1 * time.Second        // an outage is worth a notice
	rememberSent = 256                    // beats whose times are known
)

// control is the session's connection to the rendezvous, which may be replaced.
type control struct {
	mu        sync.Mutex // guards what follows
	conn      *connection
	queue     []*pb.WorkerMessage // messages to be sent on conn
	dialing   bool
	tickedAt  time.Time      // time of the last beat's tick
	openedAt  time.Time      // time at which conn was proved
	lastError unreachedError // of the last attempt
	lostAt    time.Time      // time at which the last connection broke, or its first beat went unheard
	number    uint64         // of the last beat
	heard     uint64         // last beat that the rendezvous has heard
	sentAt    [rememberSent]time.Time
	told      bool // people know that the rendezvous is not reached

	queued chan struct{} // has room for one: there is something to send
	proved chan *connection
	broken chan brokenConnection
	closed chan struct{} // closed when the last message was sent and nothing more is received
}

// brokenConnection is a connection that has ended.
type brokenConnection struct {
	conn   *connection
	reason string
}

func (c *control) init() {
	c.queued, c.proved, c.broken, c.closed = make(chan struct{}, 1), make(chan *connection), make(chan brokenConnection), make(chan struct{})
}

// enqueue adds a message to those that are sent now, if there is a connection: a later one begins
// with what this worker knows. It does not block.
func (c *control) enqueue(m *pb.WorkerMessage) {
	c.mu.Lock()
	c.queue = append(c.queue, m)
	c.mu.Unlock()
	c.wake()
}

func (c *control) wake() {
	select {
	case c.queued <- struct{}{}:
	default:
	}
}

// takeQueue empties the queue of conn. ok is false if conn has been replaced.
func (c *control) takeQueue(conn *connection) (queue []*pb.WorkerMessage, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != conn {
		return nil, false
	}
	queue, c.queue = c.queue, nil
	return queue, true
}

// follows returns the instance of the rendezvous that is connected, 0 if none is.
func (c *control) follows() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return 0
	}
	return c.conn.instance
}

// unreachedFor returns for how long the rendezvous has not heard this worker, 0 if it does.
func (c *control) unreachedFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unreached()
}

// unreached is called with c.mu held.
func (c *control) unreached() time.Duration {
	switch {
	case c.conn == nil:
		return time.Since(c.lostAt)
	case c.heard == c.number:
		return 0
	case c.number-c.heard >= rememberSent:
		return time.Since(c.sentAt[(c.number+1)%rememberSent])
	}
	return time.Since(c.sentAt[(c.heard+1)%rememberSent])
}

// dark returns the silence after which a worker with the given lease is not reached.
func dark(lease time.Duration) time.Duration { return min(darkAfter, 2*lease/5) }

// reached reports whether the rendezvous hears this worker, which has the given lease.
func (c *control) reached(lease time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil && c.unreached() < dark(lease)
}

// lastBeat returns the number of the last beat.
func (c *control) lastBeat() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number
}

// hasHeard reports whether the rendezvous has heard a beat.
func (c *control) hasHeard(number uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard >= number
}

// noteHeard takes in the number of the last beat that the rendezvous has heard.
func (c *control) noteHeard(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number > c.heard && number <= c.number {
		c.heard = number
	}
}

// skipPause leaves a pause of this process out of the time in which it was not heard: it was stopped,
// or starved.
func (c *control) skipPause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	gap := now.Sub(c.tickedAt)
	if !c.tickedAt.IsZero() && gap > awake.MaxCounted {
		c.lostAt = c.lostAt.Add(gap)
		for i := range c.sentAt {
			c.sentAt[i] = c.sentAt[i].Add(gap)
		}
	}
	c.tickedAt = now
}

// run keeps the session connected until it ends.
func (s *Session) run() {
	c := &s.control
	defer close(c.closed)
	tick := time.NewTicker(state.BeatEvery(s.Lease()))
	defer tick.Stop()
	for {
		select {
		case <-s.over:
			s.sayLast()
			return
		case conn := <-c.proved:
			s.useConnection(conn, s.resumeMessages)
		case b := <-c.broken:
			s.loseConnection(b)
		case <-tick.C:
			c.skipPause()
			if _, line := s.strangers.next(time.Now()); line != "" {
				c.enqueue(&pb.WorkerMessage{What: &pb.WorkerMessage_Notice{Notice: &pb.Notice{Text: line}}})
			}
			s.sendBeat()
			s.watch()
		}
	}
}

// useConnection replaces the connection and sends the first messages on the new one. What this worker
// says meanwhile comes after them: both locks are held from what they tell to where they are queued.
func (s *Session) useConnection(conn *connection, first func() []*pb.WorkerMessage) {
	c := &s.control
	s.mu.Lock()
	c.mu.Lock()
	old, outage, told := c.conn, c.unreached(), c.told
	c.conn, c.queue, c.dialing, c.heard, c.told, c.openedAt = conn, first(), false, c.number, false, time.Now()
	c.mu.Unlock()
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
	s.wg.Go(func() { s.send(conn) })
	s.wg.Go(func() { s.receive(conn) })
	c.wake()
	if told {
		s.options.notify(fmt.Sprintf("the rendezvous at %s is back after %v", s.options.Addr, outage.Round(10*time.Millisecond)))
	}
}

// loseConnection takes in the end of a connection. Before generation 1 Join tries again.
func (s *Session) loseConnection(b brokenConnection) {
	c := &s.control
	c.mu.Lock()
	current := c.conn == b.conn
	if current {
		c.lostAt = time.Now().Add(-c.unreached())
		c.conn, c.queue, c.lastError.reason = nil, nil, b.reason
	}
	c.mu.Unlock()
	b.conn.close()
	if !current {
		return
	}
	if known, _ := s.known(); known.Fence.Generation == 0 {
		s.end(s.lostCause(b.reason), false, false)
		return
	}
	s.dial()
}

// watch dials if the rendezvous does not hear this worker, and tells people of an outage once.
func (s *Session) watch() {
	c := &s.control
	c.mu.Lock()
	silence, connected := c.unreached(), c.conn != nil
	limit := noticeAfter
	if connected {
		limit += dark(s.Lease())
	}
	tell, back := silence >= limit && !c.told, connected && silence < dark(s.Lease()) && c.told
	c.told = c.told && !back || tell
	failure := c.lastError
	c.mu.Unlock()
	s.mu.Lock()
	begun, restarts := s.record.Fence.Generation > 0, s.record.RestartsLeft()
	failed := s.suspicion != nil || s.doing == state.OutOfGroup // this worker needs the rendezvous
	s.mu.Unlock()
	switch {
	case connected && silence >= dark(s.Lease()) && !begun:
		s.end(s.lostCause(fmt.Sprintf("silent for %v", dark(s.Lease()))), false, false)
		return
	case connected && silence >= dark(s.Lease()):
		s.dial()
	case !connected && failure.refused && s.options.InRank0 && restarts == 0 && failed:
		s.end(s.lostCause(failure.reason), false, false)
		return
	}
	switch {
	case tell:
		reason := cmp.Or(failure.reason, "it does not hear this worker")
		s.options.notify(fmt.Sprintf("lost the rendezvous at %s: %s; training goes on, trying again", s.options.Addr, reason))
	case back:
		s.options.notify(fmt.Sprintf("the rendezvous at %s hears this worker again", s.options.Addr))
	}
}

// dial starts the attempts to reach the rendezvous, unless they run.
func (s *Session) dial() {
	c := &s.control
	c.mu.Lock()
	started := c.dialing
	c.dialing = true
	soon := time.Since(c.openedAt) < dialEvery // the last connection was of no use
	c.mu.Unlock()
	if !started {
		s.wg.Go(func() { s.attempt(!soon) })
	}
}

// attempt makes attempts until one is proved or the session ends. A new one does not end those before
// it: one that has met a dark path takes seconds, and on a slow path they all do. The first one begins
// at once or after dialEvery.
func (s *Session) attempt(atOnce bool) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	first := make(chan *connection)
	try := func() {
		limited, stop := context.WithTimeout(ctx, dialLimit)
		defer stop()
		known, rank := s.known()
		conn, err := connect(limited, s.options, known.JobID, rank)
		if err != nil {
			s.control.noteFailure(err)
			return
		}
		select {
		case first <- conn:
		case <-ctx.Done():
			conn.close()
		}
	}
	again := time.NewTicker(dialEvery)
	defer again.Stop()
	if atOnce {
		s.wg.Go(try)
	}
	for {
		select {
		case <-again.C:
			s.wg.Go(try)
		case conn := <-first:
			select {
			case s.control.proved <- conn:
			case <-s.over:
				conn.close()
			}
			return
		case <-ctx.Done():
			return
		}
	}
}

// noteFailure stores why an attempt failed.
func (c *control) noteFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u, ok := err.(unreachedError); ok {
		c.lastError = u
	}
}

// resumeMessages returns the first messages on a new connection: who this worker is, what it knows,
// and what was not answered. It is called with s.mu held.
func (s *Session) resumeMessages() []*pb.WorkerMessage {
	j := wire.EncodeRequest(s.options.request())
	j.Rank, j.JobId = int32(s.rank), s.record.JobID
	r := wire.EncodeRecord(s.record)
	r.Agree, j.Agree = j.Agree, nil
	r.Step, r.Stop = s.step, s.leaveRequest.stop.Load()
	messages := []*pb.WorkerMessage{{What: &pb.WorkerMessage_Resume{Resume: &pb.Resume{Join: j, Record: r, Doing: pb.Resume_Doing(s.doing)}}}}
	if s.suspicion != nil && s.doing == state.InGroup {
		messages = append(messages, abortMessage(s.suspicion))
	}
	if q := s.leaveRequest.message(); q != nil {
		messages = append(messages, q)
	}
	return messages
}

// sendBeat puts a heartbeat into the queue, unless earlier ones still wait there.
func (s *Session) sendBeat() {
	c := &s.control
	b := s.beat()
	c.mu.Lock()
	if c.conn != nil && len(c.queue) == 0 {
		c.number++
		b.Number, c.sentAt[c.number%rememberSent] = c.number, time.Now()
		c.queue = append(c.queue, beatMessage(b))
	}
	c.mu.Unlock()
	c.wake()
}

func beatMessage(b *pb.Beat) *pb.WorkerMessage {
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Beat{Beat: b}}
}

// beat returns a heartbeat with the progress of this worker.
func (s *Session) beat() *pb.Beat {
	b := new(pb.Beat)
	if wait := s.waitSource.Load(); wait != nil {
		b.Wait = new(pb.Wait)
		wire.EncodeWait(b.Wait, (*wait)())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Step, b.Phase = s.step, phrase.Name(s.phase)
	b.Whole = s.record.Fence.Generation > 0 && s.record.Whole.Fence == s.record.Fence
	return b
}

// sayLast sends what is left and the last step of this worker, and closes the stream.
func (s *Session) sayLast() {
	c := &s.control
	b := s.beat()
	c.mu.Lock()
	conn := c.conn
	if conn != nil {
		c.queue = append(c.queue, beatMessage(b), nil)
	}
	c.mu.Unlock()
	c.wake()
	if conn != nil {
		<-conn.received
	}
}

// awaitClose waits until the rendezvous has seen the close, for the limit at most.
func (c *control) awaitClose(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.closed:
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.close()
	}
}

// send sends the queue on conn until conn is replaced or has ended. A nil message closes the stream.
func (s *Session) send(conn *connection) {
	for {
		queue, ok := s.control.takeQueue(conn)
		if !ok {
			s.control.wake() // for the sender of the new connection
			return
		}
		for _, m := range queue {
			if m == nil {
				conn.stream.CloseSend()
				return
			}
			if r := m.GetResume().GetJoin(); r != nil {
				conn.complete(r)
			}
			if conn.stream.Send(m) != nil {
				return // receive knows the reason
			}
		}
		select {
		case <-s.control.queued:
		case <-conn.received:
			return
		}
	}
}

// receive handles the messages on conn until the stream ends.
func (s *Session) receive(conn *connection) {
	reason := "connection reset"
	for {
		msg, err := conn.stream.Recv()
		if err != nil {
			reason = endReason(err)
			break
		}
		if s.control.is(conn) {
			s.handle(msg)
		}
	}
	close(conn.received)
	select {
	case s.control.broken <- brokenConnection{conn, reason}:
	case <-s.control.closed:
	}
}

// is reports whether conn is the current connection.
func (c *control) is(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn == conn
}
