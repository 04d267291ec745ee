package rendezvous

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
)

// TestSimulation plays random lives of a job, thousands of them, and checks
// after each event what must hold always. A failure means that a job could be
// split, a rank be owned twice, a worker wait for ever, or an innocent one be
// blamed; its seed repeats it.
func TestSimulation(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(1500) {
		w := newWorld(seed)
		if err := w.live(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.log)
		}
		ends[w.end()]++
	}
	for _, end := range []string{"clean", "lost", "abort", "own", "missing"} {
		if ends[end] < 10 {
			t.Errorf("only %d of 1500 lives end %q: the simulation says nothing about it; all: %v", ends[end], end, ends)
		}
	}
}

const simulatedTimeout, simulatedLease = 20 * time.Second, 5 * time.Second

// world is a job with workers that come, beat, fail and leave at random.
type world struct {
	r       *rand.Rand
	s       *State
	now     time.Duration
	size    int
	eager   int // how often one comes, of 40
	streams uint64
	workers map[uint64]*simulated // with an open stream
	starts  int
	first   time.Duration   // of the first join that was not refused
	begun   bool            // there was one
	roster  []ring.Worker   // of generation 1
	cause   *ring.Cause     // of the end
	ended   bool            // Finish was seen
	left    map[uint64]bool // who has said leave
	log     []string
}

// simulated is a worker, with what it was told.
type simulated struct {
	rank   int
	frozen bool          // beats no more
	since  time.Duration // frozen, or member
	member bool          // has the membership
	told   int           // times it was told an end, of any kind
}

func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &world{r: r, size: 1 + r.IntN(5), eager: 1 + r.IntN(12), workers: map[uint64]*simulated{}, left: map[uint64]bool{}}
	w.s = NewState(StateConfig{Drawn: "job-sim", WorldSize: w.size, StartTimeout: simulatedTimeout, Lease: simulatedLease})
	return w
}

func (w *world) live() error {
	for range 400 {
		w.now += time.Duration(w.r.IntN(300)) * time.Millisecond
		for id, k := range w.workers {
			if !k.frozen {
				if err := w.step(Beaten{Stream: id, Step: 1}); err != nil {
					return err
				}
			}
		}
		if err := w.step(w.event()); err != nil {
			return err
		}
		if err := w.step(Tick{}); err != nil {
			return err
		}
		if err := w.settled(); err != nil {
			return err
		}
	}
	return nil
}

// end is the first word of how it went.
func (w *world) end() string {
	switch {
	case !w.ended:
		return "open"
	case w.cause == nil:
		return "clean"
	case strings.Contains(w.cause.Text, "missing after"), strings.HasPrefix(w.cause.Text, "only"):
		return "missing"
	}
	word, _, _ := strings.Cut(w.cause.Text, " ")
	return word
}

// event draws what happens next.
func (w *world) event() Event {
	id, k := w.any()
	switch n := w.r.IntN(40); {
	case n < w.eager && w.starts < 3*w.size:
		w.starts++
		w.streams++
		r := Request{Rank: w.r.IntN(w.size+1) - 1, WorldSize: w.size, Protocol: 1, Worker: ring.Worker{Incarnation: w.r.Uint64()}}
		w.workers[w.streams] = &simulated{rank: r.Rank}
		if w.r.IntN(40) == 0 {
			return Reported{w.streams, r, &ring.Cause{Rank: r.Rank, Text: "own fault", ExitCode: 65}}
		}
		return Joined{w.streams, r}
	case k == nil:
	case n == 13 && w.r.IntN(4) == 0:
		delete(w.workers, id)
		return Broken{id, "connection reset"}
	case n == 15 && w.r.IntN(4) == 0:
		k.frozen, k.since = true, w.now
	case n == 14 && w.r.IntN(6) == 0:
		return Aborted{id, &ring.Cause{Rank: w.r.IntN(w.size), Text: fmt.Sprint("abort by ", id), ExitCode: 1}}
	case n < 25 && k.member:
		w.left[id] = true
		return Left{id}
	}
	return Tick{}
}

// any returns one of the workers that have not been told an end.
func (w *world) any() (uint64, *simulated) {
	for id := range w.streams { // in order: a map's would not repeat
		if k := w.workers[id+1]; k != nil && k.told == 0 && w.r.IntN(3) == 0 {
			return id + 1, k
		}
	}
	return 0, nil
}

func (w *world) step(e Event) error {
	effects := w.s.Step(w.now, e)
	if _, beat := e.(Beaten); !beat && (len(effects) > 0 || e != Event(Tick{})) {
		w.log = append(w.log, fmt.Sprintf("%v %T%+v → %+v\n", w.now, e, e, effects))
	}
	joined, ok := e.(Joined)
	for _, f := range effects {
		if err := w.take(f); err != nil {
			return err
		}
	}
	if ok && !w.begun && w.workers[joined.Stream].told == 0 {
		w.begun, w.first = true, w.now
	}
	return nil
}

// take checks one effect against all that was seen before.
func (w *world) take(f Effect) error {
	switch f := f.(type) {
	case SendMembership:
		k := w.workers[f.Stream]
		m := f.Membership
		switch {
		case k == nil || k.member || k.told > 0:
			return fmt.Errorf("membership for stream %d, which has one or is gone", f.Stream)
		case m.Generation != 1 || len(m.Workers) != w.size:
			return fmt.Errorf("membership %+v", m)
		case w.roster != nil && &w.roster[0] != &m.Workers[0]:
			return fmt.Errorf("a second roster")
		case k.rank >= 0 && k.rank != m.Rank:
			return fmt.Errorf("stream %d asked for rank %d and got %d", f.Stream, k.rank, m.Rank)
		}
		w.roster, k.member, k.rank = m.Workers, true, m.Rank
		k.since = max(k.since, w.now)
	case SendRefused:
		k := w.workers[f.Stream]
		if k == nil || k.member {
			return fmt.Errorf("stream %d is refused, a member or gone", f.Stream)
		}
		k.told++
	case SendAbort:
		if k := w.workers[f.Stream]; k != nil {
			k.told++
		}
		if w.cause == nil {
			w.cause = f.Cause
		}
		if w.cause != f.Cause {
			return fmt.Errorf("a second cause: %v after %v", f.Cause, w.cause)
		}
	case SendEnd:
		k := w.workers[f.Stream]
		if k == nil || !w.left[f.Stream] {
			return fmt.Errorf("clean end for stream %d, which has not left", f.Stream)
		}
		k.told++
	case Finish:
		if w.ended || f.Cause != w.cause && w.cause != nil {
			return fmt.Errorf("a second end")
		}
		w.ended, w.cause = true, f.Cause
	}
	return nil
}

// settled checks what must hold between events.
func (w *world) settled() error {
	owners := map[int]uint64{}
	for id, k := range w.workers {
		if k.told > 1 {
			return fmt.Errorf("stream %d was told %d ends", id, k.told)
		}
		if w.ended && k.told == 0 {
			return fmt.Errorf("stream %d was not told the end", id)
		}
		if other, taken := owners[k.rank]; taken && k.rank >= 0 && k.told == 0 {
			return fmt.Errorf("rank %d is owned by streams %d and %d", k.rank, other, id)
		}
		if k.told == 0 {
			owners[k.rank] = id
		}
		if k.frozen && k.told == 0 && w.now > k.since+simulatedLease+time.Second {
			return fmt.Errorf("stream %d is frozen since %v, and nobody noticed", id, k.since)
		}
	}
	if w.begun && w.roster == nil && !w.ended && w.now > w.first+simulatedTimeout {
		return fmt.Errorf("the start goes on at %v, begun at %v", w.now, w.first)
	}
	return nil
}
