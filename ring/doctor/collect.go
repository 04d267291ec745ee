package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"ringtrain/ring/exitcode"
)

// A parcel is a message that has come by one of the lines.
type parcel struct {
	from    *line
	kind    byte
	payload []byte
}

// A post brings sheets to rank 0 and its verdict to the others. Nobody measures
// any more at the other end of its lines: who sends a sheet has made its tour, and
// has met this worker on it.
type post struct {
	lines   []*line
	home    *line // to rank 0, if measurements went well there; else nil
	parcels chan parcel
	done    chan struct{}
	reading sync.WaitGroup
}

// post has a goroutine read each line until close.
func (t *tour) post() *post {
	o := &post{parcels: make(chan parcel), done: make(chan struct{})}
	for rank := range t.out {
		for _, l := range []*line{t.out[rank], t.in[rank]} {
			if l != nil {
				o.lines = append(o.lines, l)
				l.SetDeadline(time.Time{})
				o.reading.Go(func() { o.read(l) })
			}
		}
	}
	if t.members.Rank != 0 {
		o.home = t.out[0]
	}
	return o
}

// lingering is how long close waits for the other ends to close.
const lingering = 1 * time.Second

// close closes the lines, once the other ends have: a socket that is closed with
// something unread takes back what it has just sent.
func (o *post) close() {
	close(o.done)
	for _, l := range o.lines {
		l.SetReadDeadline(time.Now().Add(lingering))
		if half, ok := l.Conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}
	o.reading.Wait()
	for _, l := range o.lines {
		l.Close()
	}
}

// read reads until the other end closes; after close it drops what comes.
func (o *post) read(l *line) {
	for {
		kind, payload, err := l.next()
		if err != nil {
			return
		}
		select {
		case o.parcels <- parcel{l, kind, append([]byte(nil), payload...)}:
		case <-o.done:
		}
	}
}

// tell sends a message. Nothing is done about a failure: that the message is
// missing shows at the other end.
func (l *line) tell(kind byte, payload []byte) {
	l.SetWriteDeadline(time.Now().Add(silence))
	l.send(kind, payload)
}

// straggling is how long rank 0 waits for sheets that come by way of others, after
// the last one that came.
const straggling = 5 * time.Second

// gather takes all sheets, for rank 0, or those that come until ctx ends. Whom rank
// 0 has a line to is waited for; the others may have no way at all.
func (o *post) gather(ctx context.Context, r *Report) {
	direct, missing := map[int]bool{}, len(r.Hosts)-1
	for _, l := range o.lines {
		direct[l.rank] = true
	}
	late := time.NewTimer(straggling)
	defer late.Stop()
	for missing > 0 {
		var over <-chan time.Time
		if len(direct) == 0 {
			over = late.C
		}
		select {
		case p := <-o.parcels:
			var s sheet
			if p.kind == kindSheet && json.Unmarshal(p.payload, &s) == nil && r.add(s) {
				missing--
				delete(direct, s.Host.Rank)
				late.Reset(straggling)
			}
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// mostFindings is how many of them the others are told.
const mostFindings = 64

// announce tells all others the verdict.
func (o *post) announce(v Verdict) {
	v.Findings = v.Findings[:min(len(v.Findings), mostFindings)]
	text, err := json.Marshal(v)
	if err != nil {
		panic("doctor: a verdict cannot be encoded")
	}
	for _, l := range o.lines {
		l.tell(kindVerdict, text)
	}
}

// hand sends a sheet to rank 0 and returns rank 0's verdict. Meanwhile it passes
// on the sheets of those who have no way there, and then the verdict to them.
func (o *post) hand(ctx context.Context, s sheet) (Verdict, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return Verdict{}, exitcode.With(exitcode.Internal, err)
	}
	if len(o.lines) == 0 {
		return Verdict{}, errNoVerdict
	}
	o.submit(text)
	var guests []*line
	for {
		select {
		case p := <-o.parcels:
			switch {
			case p.kind == kindPassOn && o.home != nil:
				o.home.tell(kindSheet, p.payload)
				guests = append(guests, p.from)
			case p.kind == kindVerdict:
				var v Verdict
				if err := json.Unmarshal(p.payload, &v); err != nil {
					return v, exitcode.With(exitcode.Protocol, err)
				}
				for _, l := range guests {
					l.tell(kindVerdict, p.payload)
				}
				return v, nil
			}
		case <-ctx.Done():
			return Verdict{}, errNoVerdict
		}
	}
}

// submit sends a sheet to rank 0, or by all ways where there is none that is well.
func (o *post) submit(sheet []byte) {
	if o.home != nil {
		o.home.tell(kindSheet, sheet)
		return
	}
	for _, l := range o.lines {
		kind := byte(kindPassOn)
		if l.rank == 0 {
			kind = kindSheet
		}
		l.tell(kind, sheet)
	}
}

var errNoVerdict = exitcode.With(exitcode.Retry, errors.New("no verdict from rank 0: there is no way to it, and none by way of others"))
