package rendezvous

import (
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
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
	errSilent     = status.Error(codes.DeadlineExceeded, "rendezvous: no hello and join in time")
	errUnexpected = status.Error(codes.InvalidArgument, "rendezvous: message out of turn or out of bounds")
)

// outgoing is a message to a worker.
type outgoing struct {
	msg    *pb.RendezvousMessage
	last   bool
	onSend func() // called when the message is sent; may be nil
}

func (s *Server) refusal(w ring.Worker, c *ring.Cause) outgoing {
	l := outgoing{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Refused{Refused: wire.EncodeCause(c)}}}
	if s.config.WorkerRefused != nil {
		l.onSend = func() { s.config.WorkerRefused(w, c) }
	}
	return l
}

// clientStream is one stream of a client. The goroutine of its handler owns all fields but those of
// the queue, and calls all methods but read and enqueue.
type clientStream struct {
	s         *Server
	id        uint64
	stream    workerStream
	received  chan *pb.WorkerMessage // closed when the stream ends
	err       error                  // reason of the end, once received is closed
	handshake handshake
	lastSent  bool // the last message was sent

	mu     sync.Mutex // guards what follows
	queue  []outgoing
	queued chan struct{} // has room for one: the queue is not empty
}

// Meet handles one stream.
func (sv service) Meet(stream workerStream) error {
	v, err := sv.s.open(stream)
	if err != nil {
		return err
	}
	defer func() { v.s.release(v) }() // v.s changes when the client is assigned to its job
	err = v.serve()
	if v.lastSent && errors.Is(err, io.EOF) {
		v.s.step(state.EndConfirmed{Stream: v.id})
	}
	why := "connection reset"
	switch {
	case errors.Is(err, io.EOF):
		err, why = nil, "connection closed without leaving"
	case errors.Is(err, errUnexpected):
		why = "sent an unexpected message"
	}
	v.s.step(state.StreamBroken{Stream: v.id, Reason: why})
	return err
}

func (s *Server) open(stream workerStream) (*clientStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	v := &clientStream{stream: stream, received: make(chan *pb.WorkerMessage), queued: make(chan struct{}, 1)}
	v.handshake.token = s.config.Token
	s.lastStream++
	s.add(v, s.lastStream)
	s.wg.Go(v.read) // ends when the handler returns
	return v, nil
}

// add adds a client. It is called with s.mu held, and s is not closed.
func (s *Server) add(v *clientStream, id uint64) {
	v.s, v.id = s, id
	s.clients[v.id] = v
	s.wg.Add(1) // for the handler, until release
}

func (s *Server) release(v *clientStream) {
	s.mu.Lock()
	delete(s.clients, v.id)
	close(s.clientLeft)
	s.clientLeft = make(chan struct{})
	s.mu.Unlock()
	s.wg.Done()
}

func (v *clientStream) read() {
	defer close(v.received)
	for {
		m, err := v.stream.Recv()
		if err != nil {
			v.err = err
			return
		}
		select {
		case v.received <- m:
		case <-v.stream.Context().Done():
			v.err = v.stream.Context().Err()
			return
		}
	}
}

// enqueue adds a message to the queue. It does not block.
func (v *clientStream) enqueue(l outgoing) {
	v.mu.Lock()
	v.queue = append(v.queue, l)
	v.mu.Unlock()
	select {
	case v.queued <- struct{}{}:
	default:
	}
}

func (v *clientStream) takeQueue() []outgoing {
	v.mu.Lock()
	defer v.mu.Unlock()
	box := v.queue
	v.queue = nil
	return box
}

// serve exchanges messages with the client until the stream ends. It returns io.EOF if the client
// has closed the stream; after the last message this means that the client has read it.
func (v *clientStream) serve() error {
	beat := time.NewTicker(min(state.HeartbeatEvery, v.s.config.Lease/3))
	defer beat.Stop()
	own := new(pb.Beat)
	ours := &pb.RendezvousMessage{What: &pb.RendezvousMessage_Beat{Beat: own}} // reused for each heartbeat
	limit := time.NewTimer(handshakeTimeout)                                   // for the join first, and after the last message for the close
	defer limit.Stop()
	for {
		select {
		case m, ok := <-v.received:
			if !ok {
				return v.err
			}
			if v.lastSent {
				v.handleAfterLast(m)
				continue
			}
			if err := v.handle(m); err != nil {
				return err
			}
			if v.handshake.proved {
				limit.Stop()
			}
		case <-v.queued:
			for _, l := range v.takeQueue() {
				if err := v.send(l); err != nil {
					return err
				}
				v.lastSent = v.lastSent || l.last
			}
			if v.lastSent {
				limit.Reset(wire.Milliseconds(v.s.lease.Load()))
			}
		case <-beat.C:
			if v.handshake.proved && !v.lastSent {
				own.LeaseMs = v.s.lease.Load()
				if err := v.stream.Send(ours); err != nil {
					return err
				}
			}
		case <-limit.C:
			return errSilent
		case <-v.s.ctx.Done():
			return errClosed
		}
	}
}

func (v *clientStream) send(l outgoing) error {
	if l.onSend != nil {
		l.onSend()
	}
	return v.stream.Send(l.msg)
}

// handle handles one message. An error ends the stream.
func (v *clientStream) handle(m *pb.WorkerMessage) error {
	if proto.Size(m) > wire.MaxRequestBytes {
		return errUnexpected
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Hello:
		return v.challenge(w.Hello)
	case *pb.WorkerMessage_Join:
		return v.authenticate(w.Join, func(r state.Request) state.Event { return state.Joined{Stream: v.id, Request: r} })
	case *pb.WorkerMessage_Report:
		c := wire.DecodeCause(w.Report.GetCause())
		return v.authenticate(w.Report.GetJoin(), func(r state.Request) state.Event { return state.Reported{Stream: v.id, Request: r, Cause: c} })
	case *pb.WorkerMessage_Resume:
		g := w.Resume.GetGeneration()
		return v.authenticate(w.Resume.GetJoin(), func(r state.Request) state.Event { return state.Resumed{Stream: v.id, Request: r, Generation: g} })
	}
	if !v.handshake.proved {
		return errUnexpected
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Beat:
		wait, idle := wire.DecodeWait(w.Beat.GetWait())
		v.s.step(state.Heartbeat{Stream: v.id, Step: max(w.Beat.GetStep(), -1), Phase: sanitize.Name(w.Beat.GetPhase()), Wait: wait, Unchanged: idle})
	case *pb.WorkerMessage_Abort:
		v.s.step(state.Aborted{Stream: v.id, Cause: wire.DecodeCause(w.Abort)})
	case *pb.WorkerMessage_Away:
		v.s.step(state.StreamAbandoned{Stream: v.id})
	case *pb.WorkerMessage_Leave:
		v.s.step(state.Left{Stream: v.id})
	case *pb.WorkerMessage_Ready:
		v.s.step(state.ReadyForNext{Stream: v.id, Generation: w.Ready.GetGeneration(), Step: max(w.Ready.GetStep(), -1)})
	case *pb.WorkerMessage_Parted:
		v.s.step(state.Parted{Stream: v.id, Generation: w.Parted.GetGeneration(), Step: max(w.Parted.GetStep(), -1)})
	case *pb.WorkerMessage_Leaving:
		v.s.step(state.LeaveRequested{Stream: v.id, Code: stopCode(w.Leaving.GetExitCode())})
	default:
		return errUnexpected
	}
	return nil
}

// handleAfterLast handles a message that arrives after the last one was sent. A heartbeat still
// tells the step of the worker.
func (v *clientStream) handleAfterLast(m *pb.WorkerMessage) {
	if _, ok := m.GetWhat().(*pb.WorkerMessage_Beat); ok && v.handshake.proved {
		v.handle(m)
	}
}

// stopCode returns the exit code that a worker requests, if it is valid.
func stopCode(code int32) int {
	if code <= 0 || code > 255 {
		return exitcode.Terminated
	}
	return int(code)
}

// challenge proves the token to the client and asks for the client's proof.
func (v *clientStream) challenge(h *pb.Hello) error {
	c := v.handshake.challenge(h)
	if c == nil {
		return errUnexpected
	}
	c.LeaseMs, c.Durable, c.Recovers = v.s.lease.Load(), v.s.config.Journal != nil, v.s.config.Restarts > 0
	return v.stream.Send(&pb.RendezvousMessage{What: &pb.RendezvousMessage_Challenge{Challenge: c}})
}

// authenticate checks the client's proof and passes the event to the state. With many jobs, the
// state is that of the client's job.
func (v *clientStream) authenticate(j *pb.Join, event func(state.Request) state.Event) error {
	if !v.handshake.challenged() || v.handshake.proved {
		return errUnexpected
	}
	r := wire.DecodeRequest(j)
	if !v.handshake.verify(j.GetProof()) {
		v.s.step(state.WrongToken{Rank: r.Rank})
		v.enqueue(v.s.refusal(ring.Worker{Rank: r.Rank}, state.JoinCause(&r, exitcode.Auth, "not the token of the rendezvous")))
		return nil
	}
	if v.s.jobs != nil {
		if c := v.s.jobs.admit(v, &r); c != nil {
			v.enqueue(v.s.refusal(r.Worker, c))
			return nil
		}
	}
	v.s.step(event(r))
	return nil
}
