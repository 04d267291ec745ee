package page

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// The times and sizes that protect a server from strangers that send nothing, or a byte a second.
const (
	requestTime    = 10 * time.Second
	answerTime     = 30 * time.Second // also of each write to a reader of events
	idleTime       = 2 * time.Minute
	maxHeader      = 16 << 10 // bytes
	maxConnections = 128
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

// NewHTTP returns a server for few clients that has no time for strangers.
func NewHTTP(handler http.Handler) *http.Server {
	var open atomic.Int64
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), // faults of strangers
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if n := open.Add(1); n > maxConnections {
					c.Close()
				}
			case http.StateClosed:
				open.Add(-1)
			}
		},
	}
}
