package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// LearnOptions says how a worker learns its place.
type LearnOptions struct {
	Timeout time.Duration // for all ranks to come; 0: DefaultLearnTimeout
	Notice  func(string)  // receives lines for people; may be nil
}

// DefaultLearnTimeout bounds the wait for all ranks of a job, as the rendezvous does.
const DefaultLearnTimeout = 300 * time.Second

// Times of the notices while a rank waits for the others.
const (
	firstLearnNotice = 2 * time.Second
	learnNotice      = 10 * time.Second // between them
)

// pmiKey is the key of rank 0's rendezvous in the key-value space of mpiexec.
const pmiKey = "ringtrain-rendezvous"

// Learn returns p with the rendezvous, if no variable gives it. For all launchers but
// MPICH's mpiexec the result is p itself.
//
// Under mpiexec the job's id is the name of mpiexec's key-value space, and the port of the
// rendezvous follows from the id. On one host no more is needed. On several hosts rank 0
// puts the name of its host there, and the other ranks get the name once all ranks are in
// mpiexec's barrier. mpiexec does not say which ranks are missing in the barrier, so the
// notices do not either. After c.Timeout the error is exitcode.Retry.
func (p Place) Learn(ctx context.Context, c LearnOptions) (Place, error) {
	if p.PMI == nil {
		return p, nil
	}
	conn, err := openPMI(p.PMI.FD)
	if err != nil {
		return Place{}, err
	}
	defer conn.Close()
	return p.learn(ctx, conn, c)
}

// learn is Learn on an open connection to mpiexec.
func (p Place) learn(ctx context.Context, conn net.Conn, c LearnOptions) (Place, error) {
	limit := cmp.Or(c.Timeout, DefaultLearnTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, exitcode.With(exitcode.Retry, fmt.Errorf(
		"not all %d ranks came to mpiexec's barrier within %v; mpiexec does not tell which did not", p.WorldSize, limit)))
	defer cancel()
	w, err := newPMI(ctx, conn)
	if err != nil {
		return Place{}, err
	}
	id, err := w.name(ctx)
	if err != nil {
		return Place{}, err
	}
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(portOf(id)))
	if !p.PMI.OneHost {
		if at, err = p.exchange(ctx, w, id, c); err != nil {
			return Place{}, err
		}
	}
	if err := w.finish(ctx); err != nil {
		return Place{}, err
	}
	flag := p.PMI.Listen
	p.PMI, p.JobID = nil, cmp.Or(p.JobID, id)
	return p.withRendezvous(at, true, flag)
}

// exchange returns the address of the rendezvous. Rank 0 tells the other ranks.
func (p Place) exchange(ctx context.Context, w *pmiConn, id string, c LearnOptions) (string, error) {
	if p.Rank == 0 {
		host, err := p.PMI.ownHost()
		if err != nil {
			return "", err
		}
		if err := w.put(ctx, id, pmiKey, net.JoinHostPort(host, strconv.Itoa(portOf(id)))); err != nil {
			return "", err
		}
	}
	stop := c.remind(fmt.Sprintf("waiting: for all %d ranks at mpiexec's barrier; mpiexec does not tell which are missing", p.WorldSize))
	err := w.barrier(ctx)
	stop()
	if err != nil {
		return "", err
	}
	at, err := w.get(ctx, id, pmiKey)
	if err != nil {
		return "", err
	}
	if err := checkEndpoint(at); err != nil {
		return "", pmiFault(fmt.Errorf("rank 0's rendezvous is %s, want %w", phrase.Quote(at), err))
	}
	return at, nil
}

// ownHost returns the name by which the other hosts know this host: that of --listen, of
// mpiexec, or the system's.
func (p *PMI) ownHost() (string, error) {
	if l, err := parseListen(p.Listen); err == nil && l.isOneHost() {
		return l.host, nil
	}
	if p.Host != "" && !isLoopback(net.JoinHostPort(p.Host, "1")) {
		return p.Host, nil
	}
	name, err := os.Hostname()
	if err != nil || checkEndpoint(net.JoinHostPort(name, "1")) != nil {
		return "", errors.Join(fmt.Errorf("this host's name is %q: add --listen ADDR, which the other hosts reach", name), err)
	}
	return name, nil
}

// remind repeats line as a notice until stop is called. stop waits for the end of a notice
// that is being written.
func (l LearnOptions) remind(line string) (stop func()) {
	if l.Notice == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(firstLearnNotice)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				l.Notice(line)
				timer.Reset(learnNotice)
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}
