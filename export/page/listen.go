package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// The times and sizes that protect a server from strangers that send nothing, or a byte a second.
const (
	requestTime  = 10 * time.Second
	answerTime   = 30 * time.Second // also of each write to a reader of events
	idleTime     = 2 * time.Minute
	maxHeader    = 16 << 10 // bytes
	maxStrangers = 128      // connections
)

// Listen listens on HOST:PORT, the value of an option. The error has exitcode.Retry if the port is in use. Unless
// public, an address that other hosts reach is refused.
func Listen(option, address string, public bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exitcode.With(exitcode.Retry, fmt.Errorf("%s is %s: %w: another program has the port; stop it or give another one", option, address, syscall.EADDRINUSE))
	case err != nil:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is %s, want HOST:PORT of this host: %w", option, address, err))
	}
	at := l.Addr().(*net.TCPAddr)
	if public || at.IP.IsLoopback() {
		return l, nil
	}
	l.Close()
	return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is %s, which other hosts reach: --dash-public allows that. "+
		"From another host a page on 127.0.0.1 is seen by `ssh -L %d:127.0.0.1:%d HOST`, or in a cluster by `kubectl port-forward POD %d`", option, address, at.Port, at.Port, at.Port))
}

// Address returns how others reach a listener: by the name of this host if it listens on all addresses.
func Address(l net.Listener) string {
	at := l.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// NewHTTP returns a server for few clients that has no time for strangers.
func NewHTTP(handler http.Handler) *http.Server {
	var s strangers
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), // faults of strangers
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.come(c)
			case http.StateClosed:
				s.forget(c)
			}
		},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, proved{}, func() { s.forget(c) })
		},
	}
}

// proved is the key of a request's context for the function that tells that its connection has shown the token.
type proved struct{}

// strangers are the open connections that have not shown a token, oldest first.
type strangers struct {
	mu  sync.Mutex
	all []net.Conn
}

// come adds a connection. Of too many the oldest is closed.
func (s *strangers) come(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all = append(s.all, c); len(s.all) > maxStrangers {
		s.all[0].Close()
		s.all = slices.Delete(s.all, 0, 1)
	}
}

func (s *strangers) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(one net.Conn) bool { return one == c })
}
