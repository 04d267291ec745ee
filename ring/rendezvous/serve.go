package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	pb "ringtrain/ring/ringpb"
)

const (
	drainTimeout = 2 * time.Second // at the end of a job, for the workers to hear the end
	maxStreams   = 8               // of one connection
)

// Check returns all faults of the settings at once, with exitcode.Usage.
func (c ServerConfig) Check() error {
	var errs []error
	switch {
	case c.WorldSize < 0:
		errs = append(errs, fmt.Errorf("world size is %d, want 1 or more", c.WorldSize))
	case c.WorldSize > ring.MaxWorldSize:
		errs = append(errs, fmt.Errorf("world size is %d, want at most %d", c.WorldSize, ring.MaxWorldSize))
	}
	if c.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("start timeout is %v, want more than 0", c.StartTimeout))
	}
	if c.Lease < 0 || c.Lease > 0 && c.Lease < time.Second {
		errs = append(errs, fmt.Errorf("lease is %v, want 1s or more", c.Lease))
	}
	if c.Restarts < 0 {
		errs = append(errs, fmt.Errorf("restarts is %d, want 0 or more", c.Restarts))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Serve serves the rendezvous of a job on l until Close. The connections of l are [*token.Conn]s of the
// purposes control and status, whose requests are proved and answered; see port.Port.GRPC. The Server
// owns l. c has passed Check.
func Serve(l net.Listener, c ServerConfig) *Server {
	s := newServer(c, l.Addr().String())
	s.grpc = grpc.NewServer(
		grpc.Creds(provedCredentials{insecure.NewCredentials()}),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxRecvMsgSize(wire.MaxReplyBytes), // a record names all workers
		grpc.ForceServerCodecV2(newCodec()),
		grpc.ConnectionTimeout(openTimeout),
		grpc.WaitForHandlers(true),
	)
	pb.RegisterRendezvousServer(s.grpc, service{s: s})
	go func() {
		defer close(s.served)
		s.grpc.Serve(l)
	}()
	return s
}

// Addr returns the address that the rendezvous listens on.
func (s *Server) Addr() string { return s.addr }

// Wait returns when the job has ended: nil after a clean end, else the first cause with its exit
// code. When ctx ends, Wait returns its cause: the job goes on without this rendezvous. Wait closes s.
// If the job ended before it began, workers that come within two seconds are told the cause.
func (s *Server) Wait(ctx context.Context) error {
	defer s.Close()
	select {
	case <-s.done:
	case <-ctx.Done():
		return fmt.Errorf("rendezvous on %s: %w", s.addr, context.Cause(ctx))
	}
	if s.Cause() == nil {
		return nil
	}
	s.AwaitTold(ctx, s.config.WorldSize)
	return s.Cause().WithCode() // now with the step that the workers have reported
}

// begun reports whether all workers have joined.
func (s *Server) begun() bool { return s.Status().Generation > 0 }

// Drain waits until the job has ended and every connected worker has received the end and closed
// its stream, or until ctx ends. Workers that connect later receive the end too, until Close.
func (s *Server) Drain(ctx context.Context) {
	select {
	case <-s.done:
		s.awaitClients(ctx, func() bool { return len(s.clients) == 0 })
	case <-ctx.Done():
	}
}

// AwaitTold waits until n workers have been told why the job ended before it began, for two seconds
// at most. A worker may come a moment after the end. An n of 0 is unknown.
func (s *Server) AwaitTold(ctx context.Context, n int) {
	if s.begun() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	s.awaitClients(ctx, func() bool { return n > 0 && s.told >= n })
}

// awaitClients waits until enough returns true, or until ctx ends. enough is called with s.mu held,
// again when a client has left.
func (s *Server) awaitClients(ctx context.Context, enough func() bool) {
	for {
		s.mu.Lock()
		over, left := enough(), s.clientLeft
		s.mu.Unlock()
		if over {
			return
		}
		select {
		case <-left:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all streams, stops listening, and waits for all goroutines. If the job has ended, Close
// first tells the connected workers the end, for two seconds at most. A job that has not ended loses
// its rendezvous. Close may be called more than once.
func (s *Server) Close() {
	if isClosed(s.done) {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		s.Drain(ctx)
		cancel()
	}
	free := time.AfterFunc(drainTimeout, s.grpc.Stop) // a handler whose worker does not read
	defer free.Stop()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
	s.grpc.Stop()
	<-s.served
}
