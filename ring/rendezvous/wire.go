package rendezvous

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	pb "ringtrain/ring/ringpb"
)

// Bounds of what goes over the wire, in bytes. A roster of ring.MaxWorldSize workers with
// names of full length fits in MaxReplyBytes.
const (
	MaxRequestBytes = 256 << 10 // from a worker
	MaxReplyBytes   = 4 << 20   // from the rendezvous

	maxName      = 255 // host, address, job id, version, phase
	maxOperation = 40
	maxText      = 8192 // of a cause: 64 missing ranks with addresses and reasons
)

// clip cuts s to at most n bytes at the border of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const dots = "…"
	for n -= len(dots); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + dots
}

// line makes of s what may go over the wire and to a terminal: one line of
// valid UTF-8 without control characters, of at most n bytes.
func line(s string, n int) string {
	s = strings.ToValidUTF8(s, "?")
	return clip(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s), n)
}

func name(s string) string { return line(s, maxName) }

func causeToWire(c *ring.Cause) *pb.Cause {
	return &pb.Cause{
		Rank: int32(c.Rank), Host: name(c.Host), Step: c.Step, Operation: name(c.Operation),
		Peer: name(c.Peer), Text: line(c.Text, maxText), ExitCode: int32(c.ExitCode),
	}
}

// causeFromWire never returns a code that means success or is none.
func causeFromWire(c *pb.Cause) *ring.Cause {
	code := int(c.GetExitCode())
	if code <= 0 || code > 255 {
		code = exitcode.Failed
	}
	return &ring.Cause{
		Rank: int(max(c.GetRank(), -1)), Host: name(c.GetHost()), Step: max(c.GetStep(), -1), Operation: name(c.GetOperation()),
		Peer: name(c.GetPeer()), Text: line(c.GetText(), maxText), ExitCode: code,
	}
}

func workerToWire(w ring.Worker) *pb.Worker {
	return &pb.Worker{
		Rank: int32(w.Rank), Host: name(w.Host), HostId: name(w.HostID), Addr: name(w.Addr),
		Pid: int64(w.PID), Incarnation: w.Incarnation,
	}
}

func workerFromWire(w *pb.Worker) ring.Worker {
	return ring.Worker{
		Rank: int(w.GetRank()), Host: name(w.GetHost()), HostID: name(w.GetHostId()), Addr: name(w.GetAddr()),
		PID: int(w.GetPid()), Incarnation: w.GetIncarnation(),
	}
}

func joinToWire(j Request) *pb.Join {
	agree := make([]string, len(j.Agree))
	for i, l := range j.Agree {
		agree[i] = strings.ToValidUTF8(l, "?")
	}
	return &pb.Join{
		Protocol: uint32(j.Protocol), Version: name(j.Version), JobId: name(j.JobID), Rank: int32(j.Rank),
		WorldSize: uint32(j.WorldSize), Worker: workerToWire(j.Worker), Agree: agree, Offers: offersToWire(j.Offers),
	}
}

func joinFromWire(j *pb.Join) Request {
	agree := make([]string, len(j.GetAgree()))
	for i, l := range j.GetAgree() {
		agree[i] = line(l, MaxRequestBytes)
	}
	return Request{
		JobID: name(j.GetJobId()), Rank: int(max(j.GetRank(), -1)), WorldSize: int(j.GetWorldSize()),
		Worker: workerFromWire(j.GetWorker()), Protocol: int(j.GetProtocol()), Version: name(j.GetVersion()), Agree: agree,
		Offers: offersFromWire(j.GetOffers()),
	}
}

func waitingToWire(w Waiting) *pb.Waiting {
	p := &pb.Waiting{Present: uint32(w.Present), WorldSize: uint32(w.WorldSize), RemainingMs: w.Remaining.Milliseconds()}
	for _, m := range w.Missing {
		p.Missing = append(p.Missing, &pb.Missing{
			Rank: int32(m.Rank), Address: name(m.Address), Reason: name(m.Reason), ForMs: m.For.Milliseconds(),
		})
	}
	return p
}

func waitingFromWire(p *pb.Waiting) Waiting {
	w := Waiting{Present: int(p.GetPresent()), WorldSize: int(p.GetWorldSize()), Remaining: milliseconds(p.GetRemainingMs())}
	for _, m := range p.GetMissing() {
		w.Missing = append(w.Missing, Missing{
			Rank: int(max(m.GetRank(), -1)), Address: name(m.GetAddress()), Reason: name(m.GetReason()), For: milliseconds(m.GetForMs()),
		})
	}
	return w
}

func waitToWire(dst *pb.Wait, w ring.Wait) {
	dst.Operation, dst.Seq, dst.Elements, dst.Peer, dst.Moved = w.Operation, w.Seq, uint64(w.Elements), int32(w.Peer), w.Moved
	dst.ForMs = 0
	if !w.Since.IsZero() {
		dst.ForMs = time.Since(w.Since).Milliseconds()
	}
}

// waitFromWire returns a wait without Since, and for how long nothing has moved.
func waitFromWire(p *pb.Wait) (w ring.Wait, idle time.Duration) {
	w = ring.Wait{
		Operation: clip(name(p.GetOperation()), maxOperation), Seq: p.GetSeq(), Elements: int(min(p.GetElements(), math.MaxInt)),
		Peer: int(max(p.GetPeer(), -1)), Moved: p.GetMoved(),
	}
	if p == nil || w.Operation == "" {
		w.Peer = -1
	}
	return w, milliseconds(p.GetForMs())
}

// milliseconds never overflows, whatever the wire says.
func milliseconds(ms int64) time.Duration {
	const year = int64(365 * 24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(ms, 0), year)) * time.Millisecond
}

func rosterToWire(workers []ring.Worker) []*pb.Worker {
	roster := make([]*pb.Worker, len(workers))
	for i, w := range workers {
		roster[i] = workerToWire(w)
	}
	return roster
}

func ranksToWire(ranks []int) []int32 {
	var list []int32
	for _, r := range ranks {
		list = append(list, int32(r))
	}
	return list
}

func ranksFromWire(list []int32) []int {
	var ranks []int
	for _, r := range list {
		ranks = append(ranks, int(max(r, -1)))
	}
	return ranks
}

// membershipFromWire tells by ok whether it is one: rank r at place r, and a
// place for this worker.
func membershipFromWire(p *pb.Membership) (m ring.Membership, ok bool) {
	m = ring.Membership{JobID: name(p.GetJobId()), Generation: p.GetGeneration(), Rank: int(p.GetRank()), Choices: choicesFromWire(p.GetChoices())}
	for i, w := range p.GetWorkers() {
		if int(w.GetRank()) != i {
			return m, false
		}
		m.Workers = append(m.Workers, workerFromWire(w))
	}
	return m, m.Rank >= 0 && m.Rank < len(m.Workers) && m.Generation > 0
}
