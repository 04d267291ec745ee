package serving

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring/exitcode"
)

// The times and sizes that protect a server from clients that send nothing, or a byte a second.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10 // bytes
)

// endTime bounds the wait for requests in flight when a server ends.
const endTime = 30 * time.Second

// Listen listens on HOST:PORT. The error has [exitcode.Retry] if the port is in use.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exitcode.With(exitcode.Retry, fmt.Errorf("listen %s: %w: another program has the port; stop it or give another one", address, syscall.EADDRINUSE))
	case err != nil:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("listen %s: %w", address, errors.Unwrap(err)))
	}
	return l, nil
}

// Options are those of both protocols.
type Options struct {
	MaxBody int           // bytes of a request, also after it is unpacked
	Timeout time.Duration // of a request
	Token   *Token        // that a request must have, but for those of probes; nil: none
	CORS    bool          // pages of other origins may read the answers of REST
	Metrics *Metrics
}

// Server answers both protocols. Serve closes what it was given.
type Server struct {
	Models *Models
	REST   http.Handler
	GRPC   *grpc.Server
	Body   time.Duration // for the body of a request to arrive, and as long for its answer to be taken
	Drain  time.Duration // between not being ready and the end, for those who still send
	Fault  func(string)  // receives a line about a fault of the server itself
}

// faults are the lines of http.Server without those of strangers, who do not speak TLS.
type faults func(string)

func (f faults) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		f(string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

// Serve answers on the listeners until ctx is done: rest of REST, rpc of gRPC. A nil listener is left
// out. Then the server is not ready, answers for the time Drain, takes nothing new, and waits up to 30 s
// for the requests in flight. The error is that of a listener.
func (s *Server) Serve(ctx context.Context, rest, rpc net.Listener) error {
	h := &http.Server{Handler: s.REST, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime + s.Body, WriteTimeout: headerTime + 2*s.Body, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(faults(s.Fault), "", 0)}
	failed := make(chan error, 2)
	if rest != nil {
		go func() { failed <- h.Serve(rest) }()
	}
	if rpc != nil {
		go func() { failed <- s.GRPC.Serve(rpc) }()
	}
	var err error
	select {
	case <-ctx.Done():
		s.Models.Leave()
		select {
		case <-time.After(s.Drain):
		case err = <-failed:
		}
	case err = <-failed:
	}
	s.end(h)
	return err
}

// end takes no new requests, and waits for those in flight.
func (s *Server) end(h *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	stop := context.AfterFunc(ctx, s.GRPC.Stop)
	defer stop()
	var both sync.WaitGroup
	both.Go(s.GRPC.GracefulStop)
	both.Go(func() {
		if h.Shutdown(ctx) != nil {
			h.Close()
		}
	})
	both.Wait()
}
