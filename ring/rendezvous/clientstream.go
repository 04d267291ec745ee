package rendezvous

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// workerStream is the server's end of a worker's stream.
type workerStream = grpc.BidiStreamingServer[pb.WorkerMessage, pb.RendezvousMessage]

// service is the gRPC service of a Server.
type service struct {
	pb.UnimplementedRendezvousServer
	s *Server
}

var (
	errClosed     = status.Error(codes.Unavailable, "rendezvous: closed")
	errSilent     = status.Error(codes.DeadlineExceeded, "rendezvous: no join in time")
	errUnexpected = status.Error(codes.InvalidArgument, "rendezvous: message out of turn or out of bounds")
	errPurpose    = status.Error(codes.PermissionDenied, "rendezvous: the connection was opened for another purpose")
)

// outgoing is a message to a worker. Without a message it ends the stream.
type outgoing struct {
	msg    *pb.RendezvousMessage
	last   bool
	onSend func() // called when the message is sent; may be nil
}

func (s *Server) refusal(w ring.Worker, c *ring.Cause) outgoing {
	m := &pb.RendezvousMessage{What: &pb.RendezvousMessage_Refused{Refused: wire.EncodeCause(c)}}
	return outgoing{last: true, msg: m, onSend: func() {
		s.tellOwner(fmt.Sprintf("refused pid %d on %s (%s): %s", w.PID, w.Host, w.Addr, c.Text))
	}}
}

// clientStream is one stream of a client. The goroutine of its handler owns all fields but those of
// the queue, and calls all methods but read and enqueue.
type clientStream struct {
	id       uint64
	request  token.Request // of the connection: it names the worker
	stream   workerStream
	received chan *pb.WorkerMessage // closed when the stream ends
	err      error                  // reason of the end, once received is closed
	joined   bool                   // the client has said who it is
	lastSent bool                   // the last message was sent
	told     bool                   // it was the cause of the end of the job
	lastBeat uint64

	mu     sync.Mutex // guards what follows
	queue  []outgoing
	queued chan struct{} // has room for one: the queue is not empty
}

// Meet handles one stream.
func (sv service) Meet(stream workerStream) error {
	request, err := requestOf(stream.Context(), token.Control)
	if err != nil {
		return err
	}
	c, err := sv.s.open(stream, request)
	if err != nil {
		return err
	}
	defer sv.s.release(c)
	err = sv.serve(c)
	reason, closed := "connection reset", errors.Is(err, io.EOF)
	switch {
	case errors.Is(err, io.EOF):
		err, reason = nil, "connection closed without leaving"
	case errors.Is(err, errUnexpected):
		reason = "sent an unexpected message"
	}
	sv.s.step(state.StreamBroken{Stream: c.id, Reason: reason, Closed: closed})
	return err
}

func (s *Server) open(stream workerStream, r token.Request) (*clientStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	c := &clientStream{request: r, stream: stream, received: make(chan *pb.WorkerMessage), queued: make(chan struct{}, 1)}
	s.lastStream++
	c.id = s.lastStream
	s.clients[c.id] = c
	s.wg.Add(1)     // for the handler, until release
	s.wg.Go(c.read) // ends when the handler returns
	return c, nil
}

func (s *Server) release(c *clientStream) {
	s.mu.Lock()
	delete(s.clients, c.id)
	if c.told {
		s.told++
	}
	close(s.clientLeft)
	s.clientLeft = make(chan struct{})
	s.mu.Unlock()
	s.wg.Done()
}

func (c *clientStream) read() {
	defer close(c.received)
	for {
		m, err := c.stream.Recv()
		if err != nil {
			c.err = err
			return
		}
		select {
		case c.received <- m:
		case <-c.stream.Context().Done():
			c.err = c.stream.Context().Err()
			return
		}
	}
}

// enqueue adds a message to the queue. It does not block.
func (c *clientStream) enqueue(m outgoing) {
	c.mu.Lock()
	c.queue = append(c.queue, m)
	c.mu.Unlock()
	select {
	case c.queued <- struct{}{}:
	default:
	}
}

func (c *clientStream) takeQueue() []outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	box := c.queue
	c.queue = nil
	return box
}

// serve exchanges messages with the client until the stream ends. It returns io.EOF if the client
// has closed the stream; after the last message this means that the client has read it.
func (sv service) serve(c *clientStream) error {
	ticker := time.NewTicker(state.BeatEvery(sv.s.config.Lease))
	defer ticker.Stop()
	beat := new(pb.Beat)
	heartbeat := &pb.RendezvousMessage{What: &pb.RendezvousMessage_Beat{Beat: beat}} // reused for each heartbeat
	limit := time.NewTimer(openTimeout)                                              // for the join first, and after the last message for the close
	defer limit.Stop()
	opening := &pb.Opening{LeaseMs: sv.s.lease.Load(), Instance: sv.s.instance}
	if err := c.stream.Send(&pb.RendezvousMessage{What: &pb.RendezvousMessage_Opening{Opening: opening}}); err != nil {
		return err
	}
	for {
		select {
		case m, ok := <-c.received:
			if !ok {
				return c.err
			}
			if c.lastSent {
				sv.handleAfterLast(c, m)
				continue
			}
			if err := sv.handle(c, m); err != nil {
				return err
			}
			if c.joined {
				limit.Stop()
			}
		case <-c.queued:
			for _, l := range c.takeQueue() {
				if l.msg == nil {
					return errClosed
				}
				if err := c.send(l); err != nil {
					return err
				}
				c.lastSent = c.lastSent || l.last
			}
			if c.lastSent {
				limit.Reset(wire.Milliseconds(sv.s.lease.Load()))
			}
		case <-ticker.C:
			if c.joined && !c.lastSent {
				beat.LeaseMs, beat.Number = sv.s.lease.Load(), c.lastBeat
				if err := c.stream.Send(heartbeat); err != nil {
					return err
				}
			}
		case <-limit.C:
			return errSilent
		case <-sv.s.ctx.Done():
			return errClosed
		}
	}
}

func (c *clientStream) send(l outgoing) error {
	if l.onSend != nil {
		l.onSend()
	}
	c.told = c.told || l.msg.GetAbort() != nil
	return c.stream.Send(l.msg)
}

// handle handles one message. An error ends the stream.
func (sv service) handle(c *clientStream, m *pb.WorkerMessage) error {
	if m.GetResume() == nil && proto.Size(m) > wire.MaxRequestBytes {
		return errUnexpected
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Join:
		return sv.admit(c, w.Join, func(r state.Request) state.Event { return state.Joined{Stream: c.id, Request: r} })
	case *pb.WorkerMessage_Report:
		cause := wire.DecodeCause(w.Report.GetCause())
		return sv.admit(c, w.Report.GetJoin(), func(r state.Request) state.Event { return state.Reported{Stream: c.id, Request: r, Cause: cause} })
	case *pb.WorkerMessage_Resume:
		record, _ := wire.DecodeRecord(w.Resume.GetRecord()) // the state refuses a bad one
		doing := state.Doing(w.Resume.GetDoing())
		return sv.admit(c, w.Resume.GetJoin(), func(r state.Request) state.Event {
			return state.Resumed{Stream: c.id, Request: r, Record: record, Doing: doing}
		})
	}
	if !c.joined {
		return errUnexpected
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Beat:
		wait, idle := wire.DecodeWait(w.Beat.GetWait())
		c.lastBeat = w.Beat.GetNumber()
		sv.s.step(state.Heartbeat{Stream: c.id, Step: max(w.Beat.GetStep(), -1), Whole: w.Beat.GetWhole(), Phase: phrase.Name(w.Beat.GetPhase()), Wait: wait, Unchanged: idle})
	case *pb.WorkerMessage_Abort:
		sv.s.step(state.Aborted{Stream: c.id, Cause: wire.DecodeCause(w.Abort)})
	case *pb.WorkerMessage_Leave:
		sv.s.step(state.Left{Stream: c.id})
	case *pb.WorkerMessage_Ready:
		sv.s.step(state.ReadyForNext{Stream: c.id, Generation: w.Ready.GetGeneration(), Step: max(w.Ready.GetStep(), -1)})
	case *pb.WorkerMessage_Notice:
		sv.s.step(state.StrangersCame{Stream: c.id, Text: phrase.Name(w.Notice.GetText())})
	case *pb.WorkerMessage_Leaving:
		sv.s.step(state.LeaveRequested{Stream: c.id, Code: stopCode(w.Leaving.GetExitCode())})
	default:
		return errUnexpected
	}
	return nil
}

// handleAfterLast handles a message that arrives after the last one was sent. A heartbeat still
// tells the step of the worker.
func (sv service) handleAfterLast(c *clientStream, m *pb.WorkerMessage) {
	if _, ok := m.GetWhat().(*pb.WorkerMessage_Beat); ok && c.joined {
		sv.handle(c, m)
	}
}

// stopCode returns the exit code that a worker requests, if it is valid.
func stopCode(code int32) int {
	if code <= 0 || code > 255 {
		return exitcode.Terminated
	}
	return int(code)
}

// admit passes the event of a client that says who it is to the state. The client names the worker
// that its connection was opened for.
func (sv service) admit(c *clientStream, j *pb.Join, event func(state.Request) state.Event) error {
	r := wire.DecodeRequest(j)
	from := token.End{Rank: int32(r.Rank), Incarnation: r.Worker.Incarnation}
	if c.joined || r.JobID != c.request.JobID || from != c.request.From {
		return errUnexpected
	}
	c.joined = true
	sv.s.step(event(r))
	return nil
}
