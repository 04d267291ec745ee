package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Limits of one try to reach an address.
const (
	dialTimeout  = 2 * time.Second
	greetTimeout = 300 * time.Millisecond
)

// A dialFunc opens a connection to host:port. Names are looked up at each call.
type dialFunc func(ctx context.Context, addr string) (net.Conn, error)

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, "tcp", addr)
}

// Reason is the class of a failed dial, in words for people.
func Reason(err error) string {
	var (
		dns *net.DNSError
		ne  net.Error
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("name %s does not resolve", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to host"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return "connect timeout"
	}
	return err.Error()
}

// probe tells why nobody has come from addr: whether it can be reached at all,
// and if so whether somebody else answers there.
func probe(ctx context.Context, addr string) string {
	conn, err := dialTCP(ctx, addr)
	if err != nil {
		return Reason(err)
	}
	defer conn.Close()
	if hi := greeting(conn, ""); hi != "" {
		return fmt.Sprintf("accepted, but not our protocol: begins with %q", hi)
	}
	if hi := greeting(conn, "GET / HTTP/1.0\r\n\r\n"); strings.HasPrefix(hi, "HTTP/1") {
		return "accepted, but not our protocol: an HTTP server"
	}
	return "accepts connections, has not joined"
}

// greeting sends ask and returns the first bytes that come, as a line.
func greeting(conn net.Conn, ask string) string {
	conn.SetDeadline(time.Now().Add(greetTimeout))
	if ask != "" {
		if _, err := conn.Write([]byte(ask)); err != nil {
			return ""
		}
	}
	buf := make([]byte, 16)
	n, _ := conn.Read(buf) // silence and an end are no greeting
	return strings.TrimSpace(line(string(buf[:n]), len(buf)))
}
