// Package wire converts between the messages of package ringpb and the types of package state. The
// decoders bound every value: no message makes them panic.
package wire

import (
	"math"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Bounds of messages, in bytes. A roster of ring.MaxWorldSize workers with names of full length
// fits in MaxReplyBytes.
const (
	MaxRequestBytes = 256 << 10 // from a worker
	MaxReplyBytes   = 4 << 20   // from the rendezvous

	maxOperation = 40
)

// EncodeCause converts a cause to its message.
func EncodeCause(c *ring.Cause) *pb.Cause {
	return &pb.Cause{
		Rank: int32(c.Rank), Host: phrase.Name(c.Host), Step: c.Step, Operation: phrase.Name(c.Operation),
		Peer: phrase.Name(c.Peer), Text: phrase.Foreign(strings.ReplaceAll(c.Text, "\n", " "), phrase.MaxText), ExitCode: int32(c.ExitCode),
	}
}

// DecodeCause decodes a cause. An invalid exit code, or one of success, becomes exitcode.Failed.
func DecodeCause(c *pb.Cause) *ring.Cause {
	code := int(c.GetExitCode())
	if code <= 0 || code > 255 {
		code = exitcode.Failed
	}
	return &ring.Cause{
		Rank: int(max(c.GetRank(), -1)), Host: phrase.Name(c.GetHost()), Step: max(c.GetStep(), -1), Operation: phrase.Name(c.GetOperation()),
		Peer: phrase.Name(c.GetPeer()), Text: phrase.Foreign(c.GetText(), phrase.MaxText), ExitCode: code,
	}
}

func encodeWorker(w ring.Worker) *pb.Worker {
	return &pb.Worker{
		Rank: int32(w.Rank), Host: phrase.Name(w.Host), HostId: phrase.Name(w.HostID), Addr: phrase.Name(w.Addr),
		Pid: int64(w.PID), Incarnation: w.Incarnation,
	}
}

func decodeWorker(w *pb.Worker) ring.Worker {
	return ring.Worker{
		Rank: int(w.GetRank()), Host: phrase.Name(w.GetHost()), HostID: phrase.Name(w.GetHostId()), Addr: phrase.Name(w.GetAddr()),
		PID: int(w.GetPid()), Incarnation: w.GetIncarnation(),
	}
}

// EncodeRequest converts a request to its message.
func EncodeRequest(j state.Request) *pb.Join {
	agree := make([]string, len(j.Agree))
	for i, l := range j.Agree {
		agree[i] = strings.ToValidUTF8(l, "?")
	}
	return &pb.Join{
		Protocol: uint32(j.Protocol), Version: phrase.Name(j.Version), JobId: phrase.Name(j.JobID), Rank: int32(j.Rank),
		WorldSize: uint32(j.WorldSize), Worker: encodeWorker(j.Worker), Agree: agree, Offers: encodeOffers(j.Offers),
	}
}

// DecodeRequest converts a request from its message.
func DecodeRequest(j *pb.Join) state.Request {
	agree := make([]string, len(j.GetAgree()))
	for i, l := range j.GetAgree() {
		agree[i] = phrase.Foreign(l, MaxRequestBytes)
	}
	return state.Request{
		JobID: phrase.Name(j.GetJobId()), Rank: int(max(j.GetRank(), -1)), WorldSize: int(j.GetWorldSize()),
		Worker: decodeWorker(j.GetWorker()), Protocol: int(j.GetProtocol()), Version: phrase.Name(j.GetVersion()), Agree: agree,
		Offers: decodeOffers(j.GetOffers()),
	}
}

// EncodeWaiting converts a waiting report to its message.
func EncodeWaiting(w state.Waiting) *pb.Waiting {
	p := &pb.Waiting{Present: uint32(w.Present), WorldSize: uint32(w.WorldSize), RemainingMs: w.Remaining.Milliseconds()}
	for _, m := range w.Missing {
		p.Missing = append(p.Missing, &pb.Missing{
			Rank: int32(m.Rank), Address: phrase.Name(m.Address), Reason: phrase.Name(m.Reason), ForMs: m.For.Milliseconds(),
		})
	}
	return p
}

// DecodeWaiting converts a waiting report from its message.
func DecodeWaiting(p *pb.Waiting) state.Waiting {
	w := state.Waiting{Present: int(p.GetPresent()), WorldSize: int(p.GetWorldSize()), Remaining: Milliseconds(p.GetRemainingMs())}
	for _, m := range p.GetMissing() {
		w.Missing = append(w.Missing, state.Missing{
			Rank: int(max(m.GetRank(), -1)), Address: phrase.Name(m.GetAddress()), Reason: phrase.Name(m.GetReason()), For: Milliseconds(m.GetForMs()),
		})
	}
	return w
}

// EncodeWait writes a wait into its message dst.
func EncodeWait(dst *pb.Wait, w ring.Wait) {
	dst.Operation, dst.Seq, dst.Elements, dst.Peer, dst.Moved = w.Operation, w.Seq, uint64(w.Elements), int32(w.Peer), w.Moved
	dst.ForMs = 0
	if !w.Since.IsZero() {
		dst.ForMs = time.Since(w.Since).Milliseconds()
	}
}

// DecodeWait returns a wait without Since, and how long it has been unchanged.
func DecodeWait(p *pb.Wait) (w ring.Wait, idle time.Duration) {
	w = ring.Wait{
		Operation: phrase.Clip(phrase.Name(p.GetOperation()), maxOperation), Seq: p.GetSeq(), Elements: int(min(p.GetElements(), math.MaxInt)),
		Peer: int(max(p.GetPeer(), -1)), Moved: p.GetMoved(),
	}
	if p == nil || w.Operation == "" {
		w.Peer = -1
	}
	return w, Milliseconds(p.GetForMs())
}

// Milliseconds converts ms to a duration of at most a year, 0 if ms is negative.
func Milliseconds(ms int64) time.Duration {
	const year = int64(365 * 24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(ms, 0), year)) * time.Millisecond
}

func encodeWorkers(workers []ring.Worker) []*pb.Worker {
	roster := make([]*pb.Worker, len(workers))
	for i, w := range workers {
		roster[i] = encodeWorker(w)
	}
	return roster
}

// EncodeRanks converts ranks to the integers of a message.
func EncodeRanks(ranks []int) []int32 {
	var list []int32
	for _, r := range ranks {
		list = append(list, int32(r))
	}
	return list
}

// DecodeRanks converts ranks from the integers of a message.
func DecodeRanks(list []int32) []int {
	var ranks []int
	for _, r := range list {
		ranks = append(ranks, int(max(r, -1)))
	}
	return ranks
}
