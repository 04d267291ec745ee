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

// meetStream is the server's end of a worker's stream.
type meetStream = grpc.BidiStreamingServer[pb.WorkerMessage, pb.RendezvousMessage]

// service is the Server as gRPC sees it.
type service struct {
	pb.UnimplementedRendezvousServer
	s *Server
}

var (
	errClosed  = status.Error(codes.Unavailable, "rendezvous: closed")
	errSilent  = status.Error(codes.DeadlineExceeded, "rendezvous: no hello and join in time")
	errStrange = status.Error(codes.InvalidArgument, "rendezvous: message out of turn or out of bounds")
)

// letter is a message to a worker, and whether it is the last one.
type letter struct {
	msg  *pb.RendezvousMessage
	last bool
	call func() // made when the letter is sent; may be nil
}

func (s *Server) refusal(w ring.Worker, c *ring.Cause) letter {
	l := letter{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Refused{Refused: wire.EncodeCause(c)}}}
	if s.c.Refused != nil {
		l.call = func() { s.c.Refused(w, c) }
	}
	return l
}

// visitor is somebody with a stream. Everything about it happens in the
// goroutine of its handler, apart from reading and put.
type visitor struct {
	s      *Server
	id     uint64
	stream meetStream
	in     chan *pb.WorkerMessage // closed when the stream ends
	err    error                  // why, once in is closed
	shake  handshake
	ended  bool // the last letter was sent

	mu    sync.Mutex // guards what follows
	box   []letter
	ready chan struct{} // has room for one: there is something in the box
}

// Meet is the handler of one stream.
func (sv service) Meet(stream meetStream) error {
	v, err := sv.s.enter(stream)
	if err != nil {
		return err
	}
	defer func() { v.s.leave(v) }() // where it has come to
	err = v.talk()
	if v.ended && errors.Is(err, io.EOF) {
		v.s.step(state.Heard{Stream: v.id})
	}
	why := "connection reset"
	switch {
	case errors.Is(err, io.EOF):
		err, why = nil, "connection closed without leaving"
	case errors.Is(err, errStrange):
		why = "spoke out of turn"
	}
	v.s.step(state.Broken{Stream: v.id, Why: why})
	return err
}

func (s *Server) enter(stream meetStream) (*visitor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	v := &visitor{stream: stream, in: make(chan *pb.WorkerMessage), ready: make(chan struct{}, 1)}
	v.shake.token = s.c.Token
	s.streams++
	s.adopt(v, s.streams)
	s.wg.Go(v.read) // ends when the handler returns
	return v, nil
}

// adopt is called with s.mu held, and s not closed.
func (s *Server) adopt(v *visitor, id uint64) {
	v.s, v.id = s, id
	s.visitors[v.id] = v
	s.wg.Add(1) // the handler, until leave
}

func (s *Server) leave(v *visitor) {
	s.mu.Lock()
	delete(s.visitors, v.id)
	close(s.gone)
	s.gone = make(chan struct{})
	s.mu.Unlock()
	s.wg.Done()
}

func (v *visitor) read() {
	defer close(v.in)
	for {
		m, err := v.stream.Recv()
		if err != nil {
			v.err = err
			return
		}
		select {
		case v.in <- m:
		case <-v.stream.Context().Done():
			v.err = v.stream.Context().Err()
			return
		}
	}
}

// put never blocks.
func (v *visitor) put(l letter) {
	v.mu.Lock()
	v.box = append(v.box, l)
	v.mu.Unlock()
	select {
	case v.ready <- struct{}{}:
	default:
	}
}

func (v *visitor) take() []letter {
	v.mu.Lock()
	defer v.mu.Unlock()
	box := v.box
	v.box = nil
	return box
}

// talk is the conversation with one visitor. It returns io.EOF when the other
// side has closed, which after the last letter means that it was read.
func (v *visitor) talk() error {
	beat := time.NewTicker(min(state.BeatEvery, v.s.c.Lease/3))
	defer beat.Stop()
	own := new(pb.Beat)
	ours := &pb.RendezvousMessage{What: &pb.RendezvousMessage_Beat{Beat: own}} // sent again and again
	limit := time.NewTimer(handshakeTimeout)                                   // for the join, and then for the close
	defer limit.Stop()
	for {
		select {
		case m, ok := <-v.in:
			if !ok {
				return v.err
			}
			if v.ended {
				v.hearLast(m)
				continue
			}
			if err := v.hear(m); err != nil {
				return err
			}
			if v.shake.proved {
				limit.Stop()
			}
		case <-v.ready:
			for _, l := range v.take() {
				if err := v.send(l); err != nil {
					return err
				}
				v.ended = v.ended || l.last
			}
			if v.ended {
				limit.Reset(wire.Milliseconds(v.s.lease.Load()))
			}
		case <-beat.C:
			if v.shake.proved && !v.ended {
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

func (v *visitor) send(l letter) error {
	if l.call != nil {
		l.call()
	}
	return v.stream.Send(l.msg)
}

// hear takes in one message; an error ends the stream.
func (v *visitor) hear(m *pb.WorkerMessage) error {
	if proto.Size(m) > wire.MaxRequestBytes {
		return errStrange
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Hello:
		return v.challenge(w.Hello)
	case *pb.WorkerMessage_Join:
		return v.prove(w.Join, func(r state.Request) state.Event { return state.Joined{Stream: v.id, Request: r} })
	case *pb.WorkerMessage_Report:
		c := wire.DecodeCause(w.Report.GetCause())
		return v.prove(w.Report.GetJoin(), func(r state.Request) state.Event { return state.Reported{Stream: v.id, Request: r, Cause: c} })
	case *pb.WorkerMessage_Resume:
		g := w.Resume.GetGeneration()
		return v.prove(w.Resume.GetJoin(), func(r state.Request) state.Event { return state.Resumed{Stream: v.id, Request: r, Generation: g} })
	}
	if !v.shake.proved {
		return errStrange
	}
	switch w := m.GetWhat().(type) {
	case *pb.WorkerMessage_Beat:
		wait, idle := wire.DecodeWait(w.Beat.GetWait())
		v.s.step(state.Beaten{Stream: v.id, Step: max(w.Beat.GetStep(), -1), Phase: sanitize.Name(w.Beat.GetPhase()), Wait: wait, For: idle})
	case *pb.WorkerMessage_Abort:
		v.s.step(state.Aborted{Stream: v.id, Cause: wire.DecodeCause(w.Abort)})
	case *pb.WorkerMessage_Away:
		v.s.step(state.Away{Stream: v.id})
	case *pb.WorkerMessage_Leave:
		v.s.step(state.Left{Stream: v.id})
	case *pb.WorkerMessage_Ready:
		v.s.step(state.Readied{Stream: v.id, Generation: w.Ready.GetGeneration(), Step: max(w.Ready.GetStep(), -1)})
	case *pb.WorkerMessage_Parted:
		v.s.step(state.Parted{Stream: v.id, Generation: w.Parted.GetGeneration(), Step: max(w.Parted.GetStep(), -1)})
	case *pb.WorkerMessage_Leaving:
		v.s.step(state.Leaving{Stream: v.id, Code: stopCode(w.Leaving.GetExitCode())})
	default:
		return errStrange
	}
	return nil
}

// hearLast takes in what crossed our last letter, or follows it: of that, how far the
// worker has come.
func (v *visitor) hearLast(m *pb.WorkerMessage) {
	if _, ok := m.GetWhat().(*pb.WorkerMessage_Beat); ok && v.shake.proved {
		v.hear(m)
	}
}

// stopCode is the code that a worker asks to end with, where it is one.
func stopCode(code int32) int {
	if code <= 0 || code > 255 {
		return exitcode.Terminated
	}
	return int(code)
}

// challenge proves our token and asks for the worker's proof.
func (v *visitor) challenge(h *pb.Hello) error {
	c := v.shake.challenge(h)
	if c == nil {
		return errStrange
	}
	c.LeaseMs, c.Durable, c.Recovers = v.s.lease.Load(), v.s.c.Journal != nil, v.s.c.Restarts > 0
	return v.stream.Send(&pb.RendezvousMessage{What: &pb.RendezvousMessage_Challenge{Challenge: c}})
}

// prove lets the state hear of a worker that has the token. Where there are many
// jobs it is the state of the worker's own.
func (v *visitor) prove(j *pb.Join, event func(state.Request) state.Event) error {
	if !v.shake.begun() || v.shake.proved {
		return errStrange
	}
	r := wire.DecodeRequest(j)
	if !v.shake.prove(j.GetProof()) {
		v.s.step(state.Unproved{Rank: r.Rank})
		v.put(v.s.refusal(ring.Worker{Rank: r.Rank}, state.JoinCause(&r, exitcode.Auth, "not the token of the rendezvous")))
		return nil
	}
	if v.s.jobs != nil {
		if c := v.s.jobs.admit(v, &r); c != nil {
			v.put(v.s.refusal(r.Worker, c))
			return nil
		}
	}
	v.s.step(event(r))
	return nil
}
