package wire

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// FuzzWire verifies that no bytes from either side make a decoder panic, break a terminal's line,
// yield a request that cannot be sent on, or pass as a membership without being one.
func FuzzWire(f *testing.F) {
	c := EncodeCause(&ring.Cause{Rank: 3, Text: "a\nb\x00\xff", ExitCode: 999})
	j := EncodeRequest(state.Request{Rank: 1, Agree: []string{"k=v", "\xff"}, Worker: ring.Worker{Host: strings.Repeat("h", 999)}})
	for _, m := range []proto.Message{
		&pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}},
		&pb.WorkerMessage{What: &pb.WorkerMessage_Report{Report: &pb.Report{Cause: c, Join: j}}},
		&pb.RendezvousMessage{What: &pb.RendezvousMessage_Membership{Membership: &pb.Membership{Rank: 1, Record: &pb.Record{Fence: &pb.Fence{Generation: 1}, Workers: []*pb.Worker{{}, {Rank: 1, Incarnation: 7}}}}}},
		&pb.RendezvousMessage{What: &pb.RendezvousMessage_Waiting{Waiting: &pb.Waiting{RemainingMs: 1 << 62, Missing: []*pb.Missing{{ForMs: -1}}}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var w pb.WorkerMessage
		if proto.Unmarshal(b, &w) == nil {
			checkRequest(t, DecodeRequest(w.GetJoin()))
			checkRequest(t, DecodeRequest(w.GetReport().GetJoin()))
			c := DecodeCause(w.GetReport().GetCause())
			checkLine(t, c.Error())
			if c.ExitCode <= 0 || c.ExitCode > 255 || c.Rank < -1 {
				t.Errorf("cause %+v", c)
			}
		}
		var r pb.RendezvousMessage
		if proto.Unmarshal(b, &r) == nil {
			checkLine(t, DecodeWaiting(r.GetWaiting()).String())
			if m, _, ok := DecodeMembership(r.GetMembership(), 7); ok && m.Self().Rank != m.Rank {
				t.Errorf("membership %+v", m)
			}
		}
	})
}

func checkRequest(t *testing.T, r state.Request) {
	t.Helper()
	if _, err := proto.Marshal(EncodeRequest(r)); err != nil {
		t.Errorf("%+v cannot be sent on: %v", r, err)
	}
	for _, s := range append(r.Agree, r.JobID, r.Version, r.Worker.Host, r.Worker.HostID, r.Worker.Addr) {
		checkLine(t, s)
	}
	if len(r.Worker.Host) > phrase.MaxName || r.Rank < -1 || r.WorldSize < 0 {
		t.Errorf("request %+v is out of bounds", r)
	}
}

func checkLine(t *testing.T, s string) {
	t.Helper()
	if phrase.Foreign(s, len(s)+1) != s {
		t.Errorf("%q is not one printable line", s)
	}
}
