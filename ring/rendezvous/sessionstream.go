package rendezvous

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// maxReconnectBackOff is the longest time between two attempts to reach a lost rendezvous.
const maxReconnectBackOff = 1 * time.Second

// run exchanges messages with the rendezvous until the session ends. A rendezvous with a journal
// may be lost and come back; the generation goes on meanwhile.
func (s *Session) run() {
	defer close(s.receiverDone)
	for {
		conn := s.connection()
		reason := s.receiveLoop(conn)
		conn.close()
		if isClosed(s.over) {
			return
		}
		if !s.durable || s.lastKnown().Generation == 0 { // before generation 1 Join retries
			s.end(s.lostCause(reason), false, false)
			return
		}
		if !s.reconnect(reason) {
			return
		}
	}
}

func (s *Session) connection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// enqueue adds a message to the send queue. It does not block.
func (s *Session) enqueue(m *pb.WorkerMessage) {
	s.mu.Lock()
	s.sendQueue = append(s.sendQueue, m)
	s.mu.Unlock()
	s.wakeSender()
}

func (s *Session) wakeSender() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// sendUntilAcked sends m, and sends m again after each reconnection until it is answered.
func (s *Session) sendUntilAcked(m *pb.WorkerMessage) {
	s.mu.Lock()
	s.unacked, s.unackedSince = m, time.Now()
	s.mu.Unlock()
	s.enqueue(m)
}

// takeQueue empties the send queue.
func (s *Session) takeQueue() []*pb.WorkerMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.sendQueue
	s.sendQueue = nil
	return q
}

// receiveLoop handles the messages on conn until the stream ends, and returns why it ended.
func (s *Session) receiveLoop(conn *connection) string {
	s.unansweredBeats.Store(0)
	quit, sent := make(chan struct{}), make(chan string, 1)
	s.wg.Go(func() { sent <- s.sendLoop(conn, quit) })
	reason := "connection reset"
	for {
		msg, err := conn.stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				reason = "connection closed"
			}
			break
		}
		s.unansweredBeats.Store(0)
		s.handle(msg)
	}
	close(quit)
	if silent := <-sent; silent != "" {
		return silent
	}
	return reason
}

func (s *Session) handle(msg *pb.RendezvousMessage) {
	switch w := msg.GetWhat().(type) {
	case *pb.RendezvousMessage_Beat:
		if lease := wire.Milliseconds(w.Beat.GetLeaseMs()); lease > s.Lease() {
			s.lease.Store(int64(lease))
		}
	case *pb.RendezvousMessage_Waiting:
		select {
		case s.waitingReports <- wire.DecodeWaiting(w.Waiting):
		default: // the caller has not read the last report yet
		}
	case *pb.RendezvousMessage_Membership:
		if !s.startGeneration(w.Membership) {
			s.end(s.options.cause(exitcode.Protocol, "the rendezvous at "+s.options.Addr+" sent a bad membership"), true, false)
		}
	case *pb.RendezvousMessage_EndGeneration:
		s.endGeneration(w.EndGeneration)
	case *pb.RendezvousMessage_Stop:
		s.leaveRequest.by.Store(w.Stop.GetBy())
		s.leaveRequest.stop.CompareAndSwap(0, w.Stop.GetExitCode())
	case *pb.RendezvousMessage_LeaveAlone:
		s.leaveRequest.alone.Store(true)
	case *pb.RendezvousMessage_Notice:
		s.notify(sanitize.Line(w.Notice.GetText(), sanitize.MaxText))
	case *pb.RendezvousMessage_Refused:
		s.end(wire.DecodeCause(w.Refused), true, true)
	case *pb.RendezvousMessage_Abort:
		s.mu.Lock()
		c := state.WithLaterStep(wire.DecodeCause(w.Abort), s.step)
		s.mu.Unlock()
		s.end(c, true, false)
	case *pb.RendezvousMessage_End:
		s.end(nil, true, false)
	}
}

// startGeneration starts the awaited generation. It returns false if no generation is awaited or p
// is invalid.
func (s *Session) startGeneration(p *pb.Membership) bool {
	m, ok := wire.DecodeMembership(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.generation
	if !ok || isClosed(g.started) || m.Generation <= s.lastMembership.Generation {
		return false
	}
	g.membership, s.lastMembership, s.unacked = m, m, nil
	g.previousLost = wire.DecodeRanks(p.GetLost())
	if p.GetCause() != nil {
		g.previousCause = wire.DecodeCause(p.GetCause())
	}
	close(g.started)
	if q := s.leaveRequest.message(); q != nil {
		s.sendQueue = append(s.sendQueue, q)
		s.wakeSender()
	}
	return true
}

// endGeneration ends the generation that p names. The message may arrive twice.
func (s *Session) endGeneration(p *pb.EndGeneration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation.hasNumber(p.GetGeneration()) && !s.generation.hasEnded() {
		s.unacked = nil
		s.generation.end(state.WithLaterStep(wire.DecodeCause(p.GetCause()), s.step), wire.DecodeRanks(p.GetLost()))
	}
}

// sendLoop sends all messages on conn, and the heartbeats. It counts heartbeats without an answer: a
// process that stood still has sent none, so it does not give up the rendezvous. It returns why the
// connection is given up, "" if it ended otherwise.
func (s *Session) sendLoop(conn *connection, quit <-chan struct{}) string {
	every := min(state.HeartbeatEvery, s.Lease()/3)
	tick := time.NewTicker(every)
	defer tick.Stop()
	heartbeat := newHeartbeat()
	for {
		var queue []*pb.WorkerMessage
		select {
		case <-quit:
			return ""
		case <-s.over:
			for _, msg := range s.takeQueue() {
				conn.stream.Send(msg)
			}
			conn.stream.Send(s.fillHeartbeat(heartbeat)) // the last step of this worker
			conn.stream.CloseSend()
			return ""
		case <-s.queued:
			queue = s.takeQueue()
		case <-tick.C:
			if lease := s.Lease(); time.Duration(s.unansweredBeats.Add(1))*every >= lease {
				s.abandonStream(conn)
				return fmt.Sprintf("silent for %v", lease)
			}
			queue = append(heartbeat.queue[:0], s.fillHeartbeat(heartbeat))
		}
		for _, msg := range queue {
			if conn.stream.Send(msg) != nil {
				return "" // receiveLoop knows the reason
			}
		}
	}
}

// abandonTimeout is how long the message that announces the end of a stream may take.
const abandonTimeout = 100 * time.Millisecond

// abandonStream closes a stream without any messages. If the rendezvous only stood still, it learns
// that the worker reconnects.
func (s *Session) abandonStream(conn *connection) {
	if !s.durable {
		conn.cancel()
		return
	}
	time.AfterFunc(abandonTimeout, conn.cancel)
	conn.stream.Send(&pb.WorkerMessage{What: &pb.WorkerMessage_Away{Away: &pb.Away{}}})
}

// A heartbeat is a message that is sent again and again: gRPC does not use it after Send returns.
type heartbeat struct {
	msg   *pb.WorkerMessage
	beat  *pb.Beat
	wait  *pb.Wait
	queue [1]*pb.WorkerMessage
}

func newHeartbeat() *heartbeat {
	b := new(pb.Beat)
	return &heartbeat{msg: &pb.WorkerMessage{What: &pb.WorkerMessage_Beat{Beat: b}}, beat: b, wait: new(pb.Wait)}
}

// fillHeartbeat fills h with the progress of this worker.
func (s *Session) fillHeartbeat(h *heartbeat) *pb.WorkerMessage {
	h.beat.Wait = nil
	if watch := s.waitSource.Load(); watch != nil {
		wire.EncodeWait(h.wait, (*watch)())
		h.beat.Wait = h.wait
	}
	s.mu.Lock()
	h.beat.Step, h.beat.Phase = s.step, sanitize.Name(s.phase)
	s.mu.Unlock()
	return h.msg
}

// reconnect tries to reach a lost rendezvous. It returns false if the session ends meanwhile. It
// ends only if a message stays unanswered for the start timeout.
func (s *Session) reconnect(reason string) bool {
	began, wait := time.Now(), firstBackOff
	s.reconnecting.Store(true)
	defer s.reconnecting.Store(false)
	s.notify(fmt.Sprintf("lost the rendezvous at %s: %s; training goes on, trying again", s.options.Addr, reason))
	for {
		conn, err := connect(s.ctx, s.options)
		if err == nil {
			s.resume(conn)
			s.notify(fmt.Sprintf("the rendezvous at %s is back after %v", s.options.Addr, time.Since(began).Round(10*time.Millisecond)))
			return true
		}
		if s.ackOverdue() {
			s.end(s.lostCause(fmt.Sprintf("it did not return in %d s: %v", int64(s.options.StartTimeout.Seconds()), err)), false, false)
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2)) // random, so workers do not retry in step
		select {
		case <-timer.C:
		case <-s.over:
			timer.Stop()
			return false
		}
		wait = min(2*wait, maxReconnectBackOff)
	}
}

// ackOverdue reports whether a message has been unanswered for the start timeout.
func (s *Session) ackOverdue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unacked != nil && time.Since(s.unackedSince) >= s.options.StartTimeout
}

// resume continues on conn: it identifies this worker, and repeats what was not answered.
func (s *Session) resume(conn *connection) {
	j := wire.EncodeRequest(s.options.request(conn.raw.LocalAddr()))
	j.Proof, j.Agree = conn.proof, nil
	s.mu.Lock()
	j.Rank, j.JobId = int32(s.lastMembership.Rank), s.lastMembership.JobID
	s.conn = conn
	s.sendQueue = []*pb.WorkerMessage{{What: &pb.WorkerMessage_Resume{Resume: &pb.Resume{Join: j, Generation: s.lastMembership.Generation}}}}
	if s.unacked != nil {
		s.sendQueue = append(s.sendQueue, proto.CloneOf(s.unacked))
	}
	if q := s.leaveRequest.message(); q != nil {
		s.sendQueue = append(s.sendQueue, q)
	}
	s.mu.Unlock()
	s.wakeSender()
}

func (s *Session) notify(text string) {
	if text != "" && s.options.Notice != nil {
		s.options.Notice(text)
	}
}
