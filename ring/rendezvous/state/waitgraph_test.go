package state

import (
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/phrase"
)

// waitingRank returns the state of a rank that has waited for peer in all-reduce seq for the time
// still, with moved as its progress.
func waitingRank(seq, moved uint64, peer int, still time.Duration) rankState {
	return rankState{step: 41, phase: "train", unchanged: still, wait: ring.Wait{Operation: "all-reduce", Seq: seq, Elements: 100, Peer: peer, Moved: moved}}
}

// idleRank returns the state of a rank without an operation.
func idleRank(phase string, seq uint64, still time.Duration) rankState {
	return rankState{step: 41, phase: phase, unchanged: still, wait: ring.Wait{Seq: seq, Peer: -1}}
}

func (s rankState) silentFor(d time.Duration) rankState {
	s.silence = d
	return s
}

func (s rankState) on(host string) rankState {
	s.host = host
	return s
}

func (s rankState) other(operation string, elements int) rankState {
	s.wait.Operation, s.wait.Elements = operation, elements
	return s
}

const sec = time.Second

// TestFindStall verifies the root that findStall finds in hand-made wait graphs.
func TestFindStall(t *testing.T) {
	tests := []struct {
		name string
		all  []rankState
		want stall
		ok   bool
	}{
		{"picture=empty", nil, stall{}, false},
		{"picture=all compute", []rankState{idleRank("train", 7, 4*sec), idleRank("train", 7, 4*sec)}, stall{}, false},
		{"picture=ring moves", []rankState{waitingRank(7, 1, 1, 1900*time.Millisecond), idleRank("train", 7, 1900*time.Millisecond)}, stall{}, false},
		{"picture=ring, root computes",
			[]rankState{waitingRank(7, 9, 3, 4*sec), waitingRank(7, 5, 0, 4*sec), idleRank("train", 7, 5*sec), waitingRank(7, 1, 2, 4*sec)},
			stall{kind: stallWorking, rank: 2, waiting: 3, longest: 4 * sec, unchanged: 5 * sec}, true},
		{"picture=doubling, root computes",
			[]rankState{waitingRank(7, 2, 2, 3*sec), waitingRank(7, 2, 3, 4*sec), waitingRank(7, 1, 3, 3*sec), idleRank("train", 7, 4*sec)},
			stall{kind: stallWorking, rank: 3, waiting: 3, longest: 4 * sec, unchanged: 4 * sec}, true},
		{"picture=two levels, root on the other host", // hosts {0, 1} and {2, 3}
			[]rankState{waitingRank(7, 1, 2, 3*sec), waitingRank(7, 0, 0, 3*sec), waitingRank(7, 0, 3, 3*sec), idleRank("train", 7, 3*sec)},
			stall{kind: stallWorking, rank: 3, waiting: 3, longest: 3 * sec, unchanged: 3 * sec}, true},
		{"picture=memory of a host, two late",
			[]rankState{waitingRank(7, 0, 3, 3*sec), waitingRank(7, 0, 3, 3*sec), idleRank("train", 7, 3*sec), idleRank("train", 7, 3*sec)},
			stall{kind: stallWorking, rank: 3, waiting: 2, longest: 3 * sec, unchanged: 3 * sec}, true},
		{"picture=works in the operation",
			[]rankState{waitingRank(7, 1, 1, 3*sec), waitingRank(7, 0, -1, 3*sec)},
			stall{kind: stallWorking, rank: 1, waiting: 1, longest: 3 * sec, unchanged: 3 * sec}, true},
		{"picture=one-way partition 1 to 2",
			[]rankState{waitingRank(7, 5, 3, 11*sec), waitingRank(7, 6, 0, 11*sec), waitingRank(7, 3, 1, 12*sec), waitingRank(7, 4, 2, 11*sec)},
			stall{kind: stallDeadLink, rank: 2, peer: 1, waiting: 4, longest: 12 * sec, unchanged: 11 * sec, allWaiting: true}, true},
		{"picture=all wait on one host",
			[]rankState{waitingRank(7, 5, 1, 11*sec).on("a"), waitingRank(7, 3, 0, 12*sec).on("a")},
			stall{kind: stallDeadLink, rank: 1, peer: 0, waiting: 2, longest: 12 * sec, unchanged: 11 * sec, allWaiting: true, oneHost: true}, true},
		{"picture=all wait on two hosts",
			[]rankState{waitingRank(7, 5, 1, 11*sec).on("a"), waitingRank(7, 3, 0, 12*sec).on("b")},
			stall{kind: stallDeadLink, rank: 1, peer: 0, waiting: 2, longest: 12 * sec, unchanged: 11 * sec, allWaiting: true}, true},
		{"picture=one-way partition, an end silent",
			[]rankState{waitingRank(7, 5, 3, 11*sec), waitingRank(7, 6, 0, 11*sec).silentFor(4 * sec), waitingRank(7, 3, 1, 12*sec), waitingRank(7, 4, 2, 11*sec)},
			stall{kind: stallSilent, rank: 1, waiting: 3, longest: 12 * sec, unchanged: 11 * sec}, true},
		{"picture=pair stuck while another computes",
			[]rankState{waitingRank(7, 2, 1, 11*sec), waitingRank(7, 1, 0, 11*sec), idleRank("train", 7, 1200*time.Millisecond)},
			stall{kind: stallDeadLink, rank: 1, peer: 0, waiting: 2, longest: 11 * sec, unchanged: 11 * sec}, true},
		{"picture=rank 0 evaluates",
			[]rankState{idleRank("evaluate", 7, 12*sec), waitingRank(7, 0, 0, 11*sec), waitingRank(7, 1, 1, 11*sec)},
			stall{kind: stallWorking, rank: 0, waiting: 2, longest: 11 * sec, unchanged: 12 * sec}, true},
		{"picture=frozen in a wait of its own",
			[]rankState{waitingRank(8, 3, 2, 4*sec), waitingRank(8, 1, 0, 4*sec), waitingRank(7, 5, 1, 5*sec).silentFor(4 * sec)},
			stall{kind: stallSilent, rank: 2, waiting: 2, longest: 4 * sec, unchanged: 5 * sec}, true},
		{"picture=not heard of for a moment", // rank 2 may be frozen: its wait may not be followed
			[]rankState{waitingRank(8, 3, 2, 3*sec), waitingRank(8, 1, 0, 3*sec), waitingRank(7, 5, 1, 4*sec).silentFor(2 * sec)},
			stall{}, false},
		{"picture=root has just moved", []rankState{waitingRank(8, 3, 1, 3*sec), idleRank("train", 9, 200*time.Millisecond)}, stall{}, false},
		{"picture=other operation",
			[]rankState{waitingRank(7, 1, 2, 1*sec), waitingRank(7, 1, 0, 1*sec), waitingRank(7, 0, 1, 1*sec).other("barrier", 0)},
			stall{kind: stallMismatch, rank: 0, peer: 2}, true},
		{"picture=other length",
			[]rankState{waitingRank(7, 1, 2, 1*sec), waitingRank(7, 1, 0, 1*sec).other("all-reduce", 99), waitingRank(7, 0, 1, 1*sec)},
			stall{kind: stallMismatch, rank: 0, peer: 1}, true},
		{"picture=other operation a moment ago",
			[]rankState{waitingRank(7, 1, 1, 900*time.Millisecond), waitingRank(7, 1, 0, 5*sec).other("barrier", 0)}, stall{}, false},
		{"picture=other operation at another number",
			[]rankState{waitingRank(7, 1, 1, 1500*time.Millisecond), waitingRank(8, 1, 0, 1500*time.Millisecond).other("barrier", 0)}, stall{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := findStall(tt.all); got != tt.want || ok != tt.ok {
				t.Errorf("found %+v, %v; want %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestStallTextIsBounded verifies that a notice about a stall has at most 500 bytes, for any names
// of hosts and phases.
func TestStallTextIsBounded(t *testing.T) {
	s := New(Config{WorldSize: 2, Lease: time.Hour})
	long := string(make([]byte, phrase.MaxName))
	for rank := range 2 {
		s.members = append(s.members, &member{Request: Request{Rank: rank, Worker: ring.Worker{Host: long, Addr: long}}})
	}
	s.worldSize = ring.MaxWorldSize
	all := []rankState{idleRank(long, 7, 1000*time.Hour).silentFor(1000 * time.Hour), waitingRank(7, 0, 0, 1000*time.Hour)}
	all[1].step = 1 << 62
	for kind := stallWorking; kind <= stallDeadLink; kind++ {
		for rank := range 2 {
			if text := s.formatStall(all, stall{kind: kind, rank: rank, peer: 1 - rank, waiting: ring.MaxWorldSize}); len(text) > 500 {
				t.Errorf("%d bytes: %s", len(text), text)
			}
		}
	}
}

// TestLeaseAdapts verifies that the lease follows the delays of heartbeats, but not a single late
// one.
func TestLeaseAdapts(t *testing.T) {
	tests := []struct {
		name          string
		normal, late  time.Duration
		in            int // one of this many heartbeats is late
		current, want time.Duration
	}{
		{"late=none", HeartbeatEvery, HeartbeatEvery, 10, 5 * sec, 5 * sec},
		{"late=by a little", HeartbeatEvery + 100*time.Millisecond, HeartbeatEvery + 300*time.Millisecond, 10, 5 * sec, 5 * sec},
		{"late=one of ten by 2 s", HeartbeatEvery, HeartbeatEvery + 2*sec, 10, 5 * sec, 16 * sec},
		{"late=one of ten by 2 s, lease is longer", HeartbeatEvery, HeartbeatEvery + 2*sec, 10, 30 * sec, 30 * sec},
		{"late=one of two thousand", HeartbeatEvery, HeartbeatEvery + 2*sec, 2000, 5 * sec, 5 * sec},
		{"late=by more than counts", HeartbeatEvery, time.Hour, 10, 5 * sec, 60 * sec},
		{"late=by more than counts, lease is longer", HeartbeatEvery, time.Hour, 10, 90 * sec, 90 * sec},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var g heartbeatDelays
			for i := range maxDelays * 3 {
				if i == minDelays-1 && g.lateness() != 0 {
					t.Errorf("lateness is %v after %d heartbeats, want none yet", g.lateness(), i)
				}
				gap := tt.normal
				if i%tt.in == tt.in-1 {
					gap = tt.late
				}
				g.observe(gap)
			}
			if got := g.lease(tt.current); got != tt.want {
				t.Errorf("lease is %v, want %v", got, tt.want)
			}
		})
	}
}

// TestLeaseIsTold verifies that a longer lease holds, and that it is announced once.
func TestLeaseIsTold(t *testing.T) {
	s := New(Config{WorldSize: 1, Lease: 5 * time.Second, StartTimeout: time.Minute, Unique: true, NewLife: func() (life [16]byte) { return life }})
	s.Step(0, Joined{1, Request{Rank: 0}})
	told := 0
	for now := time.Duration(0); now < 300*sec; now += 200 * time.Millisecond {
		effects := s.Step(now, Tick{})
		if now%(2600*time.Millisecond) == 0 {
			effects = append(effects, s.Step(now, Heartbeat{Stream: 1, Phase: "train", Wait: ring.Wait{Peer: -1}})...)
		}
		for _, f := range effects {
			switch f := f.(type) {
			case SetLease:
				told++
				if f.Lease != 18400*time.Millisecond {
					t.Errorf("lease is %v, want eight times 2.3 s", f.Lease)
				}
			case SendAbort:
				t.Fatalf("lost at %v: %v", now, f.Cause)
			}
		}
	}
	if told != 1 || s.lease.current != 18400*time.Millisecond {
		t.Errorf("lease is %v, told %d times; want 18.4s, once", s.lease.current, told)
	}
}

// TestStepRate verifies that the speed of a job is that of its steps, and that it falls after the
// last one.
func TestStepRate(t *testing.T) {
	var p stepRate
	for i := range 100 {
		p.observe(time.Duration(i)*sec, int64(i*3))
		p.observe(time.Duration(i)*sec+sec/4, int64(i*3-1)) // of a rank behind
	}
	if got := p.perSecond(99 * sec); got != 3 {
		t.Errorf("speed is %g steps/s, want 3", got)
	}
	if got := p.perSecond(1000 * sec); got > 0.1 {
		t.Errorf("speed is %g steps/s long after the last step", got)
	}
	if len(p.marks) > 50 {
		t.Errorf("%d marks", len(p.marks))
	}
}
