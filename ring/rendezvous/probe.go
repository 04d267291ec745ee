package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/phrase"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// Limits of one attempt to reach an address.
const (
	dialTimeout      = 2 * time.Second
	exchangeTimeout  = 500 * time.Millisecond
	maxShownGreeting = 16 // bytes of a foreign greeting in a reason
	maxShownJobID    = 80 // bytes of a job id in a reason: two fit in a name
)

// A dialFunc opens a connection to host:port. It resolves names at each call.
type dialFunc func(ctx context.Context, addr string) (net.Conn, error)

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, "tcp", addr)
}

// refusedReason is the Reason if the host is up and nobody listens.
const refusedReason = "connection refused"

// Reason returns the kind of a failed dial, in words for people.
func Reason(err error) string {
	var (
		dns *net.DNSError
		ne  net.Error
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("name %s does not resolve", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return refusedReason
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to host"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return port.NoFree()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return "connect timeout"
	}
	return err.Error()
}

// probe probes a rank: a member's port, or the configured address of a missing rank.
func probe(ctx context.Context, p state.Probe, t token.Token) state.Probed {
	if p.Incarnation != 0 {
		return probeMember(ctx, p, t)
	}
	return state.Probed{Reason: probeMissing(ctx, p)}
}

// probeMissing returns why no worker has joined from p.Addr: why the address is not reached, or who
// listens there.
func probeMissing(ctx context.Context, p state.Probe) string {
	answer, err := exchange(ctx, dialTCP, p.Addr, port.Question)
	if o, ok := port.ParseAnswer(answer); ok {
		return ownerReason(p, o)
	}
	if err == nil && len(answer) == 0 {
		answer, _ = exchange(ctx, dialTCP, p.Addr, "GET / HTTP/1.0\r\n\r\n") // an error tells nothing new: the address accepts connections
	}
	greeting := strings.TrimSpace(phrase.Foreign(string(answer[:min(len(answer), maxShownGreeting)]), maxShownGreeting))
	switch {
	case err != nil:
		return Reason(err)
	case strings.HasPrefix(greeting, "HTTP/1"):
		return "accepted, but not our protocol: an HTTP server"
	case greeting != "":
		return fmt.Sprintf("accepted, but not our protocol: begins with %q", greeting)
	}
	return notJoinedReason
}

const notJoinedReason = "accepts connections, has not joined"

// ownerReason returns why o, the process at p.Addr, is not the missing rank. The answer of o is not
// proved.
func ownerReason(p state.Probe, o port.Owner) string {
	switch job := phrase.Name(o.JobID); {
	case o.Rendezvous && job == "":
		return "is a rendezvous, of no rank"
	case o.Rendezvous:
		return "is the rendezvous of run " + phrase.Clip(job, maxShownJobID)
	case job != "" && job != p.JobID:
		return fmt.Sprintf("answers for run %s, not %s", phrase.Clip(job, maxShownJobID), phrase.Clip(p.JobID, maxShownJobID))
	case o.Rank >= 0 && o.Rank != p.Rank:
		return fmt.Sprintf("is rank %d's", o.Rank)
	}
	return notJoinedReason
}

// exchange sends ask to addr and returns the beginning of the answer. Silence and a broken
// connection are no errors.
func exchange(ctx context.Context, dial dialFunc, addr, question string) ([]byte, error) {
	conn, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	if _, err := io.WriteString(conn, question); err != nil {
		return nil, nil
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, port.MaxAnswerBytes+1))
	return answer, nil
}

// otherOwner returns which worker listens at addr, where no rendezvous has answered. It returns ""
// if that is not known. The port of a worker closes the stream, and tells its owner:
//
//	10.0.0.7:4402 is the port of rank 3 of job mnist, not of a rendezvous
//
// The answer is not proved.
func otherOwner(ctx context.Context, dial dialFunc, addr string) string {
	answer, _ := exchange(ctx, dial, addr, port.Question)
	o, ok := port.ParseAnswer(answer)
	if !ok || o.Rendezvous {
		return ""
	}
	owner, job := "a worker", "a job"
	if o.Rank >= 0 {
		owner = fmt.Sprintf("rank %d", o.Rank)
	}
	if id := phrase.Name(o.JobID); id != "" {
		job = "job " + phrase.Clip(id, maxShownJobID)
	}
	return fmt.Sprintf("%s is the port of %s of %s, not of a rendezvous", addr, owner, job)
}
