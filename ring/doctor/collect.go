package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"ringtrain/ring/exitcode"
)

// receivedMessage is a message with the connection that it came from.
type receivedMessage struct {
	from    *peerConn
	kind    byte
	payload []byte
}

// collector brings reports to rank 0 and its verdict to the others. No measurement uses its
// connections any more: a rank that sends a report has completed its measurements, including
// those with this worker.
type collector struct {
	conns    []*peerConn
	rankZero *peerConn // to rank 0, if all measurements with it succeeded; else nil
	messages chan receivedMessage
	done     chan struct{}
	reading  sync.WaitGroup
}

// newCollector starts a goroutine for each connection, which reads until close.
func (t *survey) newCollector() *collector {
	o := &collector{messages: make(chan receivedMessage), done: make(chan struct{})}
	for rank := range t.out {
		for _, l := range []*peerConn{t.out[rank], t.in[rank]} {
			if l != nil {
				o.conns = append(o.conns, l)
				l.SetDeadline(time.Time{})
				o.reading.Go(func() { o.read(l) })
			}
		}
	}
	if t.members.Rank != 0 {
		o.rankZero = t.out[0]
	}
	return o
}

// lingerTimeout bounds the time that close waits for the other ends to close.
const lingerTimeout = 1 * time.Second

// close closes the connections after the other ends have. A socket that is closed with unread
// bytes discards what it has just sent.
func (o *collector) close() {
	close(o.done)
	for _, l := range o.conns {
		l.SetReadDeadline(time.Now().Add(lingerTimeout))
		if half, ok := l.Conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}
	o.reading.Wait()
	for _, l := range o.conns {
		l.Close()
	}
}

// read reads until the other end closes. After close it drops the messages.
func (o *collector) read(l *peerConn) {
	for {
		kind, payload, err := l.next()
		if err != nil {
			return
		}
		select {
		case o.messages <- receivedMessage{l, kind, append([]byte(nil), payload...)}:
		case <-o.done:
		}
	}
}

// notify sends a message and ignores an error: the other end notices that the message is
// missing.
func (l *peerConn) notify(kind byte, payload []byte) {
	l.SetWriteDeadline(time.Now().Add(answerTimeout))
	l.send(kind, payload)
}

// relayTimeout bounds the time that rank 0 waits for relayed reports after the last report.
const relayTimeout = 5 * time.Second

// gather receives the reports of all ranks on rank 0, until ctx ends. It waits for each rank to
// which rank 0 has a connection; the others may have no path at all.
func (o *collector) gather(ctx context.Context, r *Report) {
	direct, missing := map[int]bool{}, len(r.Hosts)-1
	for _, l := range o.conns {
		direct[l.rank] = true
	}
	late := time.NewTimer(relayTimeout)
	defer late.Stop()
	for missing > 0 {
		var over <-chan time.Time
		if len(direct) == 0 {
			over = late.C
		}
		select {
		case p := <-o.messages:
			var s rankReport
			if p.kind == kindReport && json.Unmarshal(p.payload, &s) == nil && r.add(s) {
				missing--
				delete(direct, s.Host.Rank)
				late.Reset(relayTimeout)
			}
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// maxFindings bounds the findings that the other ranks receive.
const maxFindings = 64

// broadcast sends the verdict to all others.
func (o *collector) broadcast(v Verdict) {
	v.Findings = v.Findings[:min(len(v.Findings), maxFindings)]
	text, err := json.Marshal(v)
	if err != nil {
		panic("doctor: a verdict cannot be encoded")
	}
	for _, l := range o.conns {
		l.notify(kindVerdict, text)
	}
}

// report sends this rank's report to rank 0 and returns rank 0's verdict. Meanwhile it relays the
// reports of ranks without a connection to rank 0, and then the verdict to them.
func (o *collector) report(ctx context.Context, s rankReport) (Verdict, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return Verdict{}, exitcode.With(exitcode.Internal, err)
	}
	if len(o.conns) == 0 {
		return Verdict{}, errNoVerdict
	}
	o.submit(text)
	var relayed []*peerConn
	for {
		select {
		case p := <-o.messages:
			switch {
			case p.kind == kindRelay && o.rankZero != nil:
				o.rankZero.notify(kindReport, p.payload)
				relayed = append(relayed, p.from)
			case p.kind == kindVerdict:
				var v Verdict
				if err := json.Unmarshal(p.payload, &v); err != nil {
					return v, exitcode.With(exitcode.Protocol, err)
				}
				for _, l := range relayed {
					l.notify(kindVerdict, p.payload)
				}
				return v, nil
			}
		case <-ctx.Done():
			return Verdict{}, errNoVerdict
		}
	}
}

// submit sends a report to rank 0, or to all other ranks if the connection to rank 0 failed.
func (o *collector) submit(report []byte) {
	if o.rankZero != nil {
		o.rankZero.notify(kindReport, report)
		return
	}
	for _, l := range o.conns {
		kind := byte(kindRelay)
		if l.rank == 0 {
			kind = kindReport
		}
		l.notify(kind, report)
	}
}

var errNoVerdict = exitcode.With(exitcode.Retry, errors.New("no verdict from rank 0: this rank cannot reach it, directly or through another rank"))
