package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
)

// The configuration of all simulations.
const simulatedTimeout, simulatedLease = 20 * time.Second, 5 * time.Second

// TestSimulation verifies, in thousands of random lives of a job, what must always hold: no two
// generations go on side by side, the state is lost only with the last process that has it, a
// generation has one list of workers, a loss is charged once, nobody is lost by broken connections,
// and no worker waits for ever. Processes are killed, stopped and started twice. Rendezvous are
// killed, stand still, and are started beside another one. Streams break, messages are late, and
// paths are dark. The seed of a failure repeats it.
//
// RINGTRAIN_SIMULATE=N plays N lives.
func TestSimulation(t *testing.T) {
	lives := uint64(3000)
	if testing.Short() {
		t.Log("long: more lives")
		lives = 300
	}
	if n, err := strconv.ParseUint(os.Getenv("RINGTRAIN_SIMULATE"), 10, 64); err == nil {
		lives = n
	}
	seen := map[string]uint64{}
	for seed := range lives {
		w := newWorld(seed, nil)
		if err := w.live(); err != nil {
			w = newWorld(seed, nil) // once more, with a log
			w.logs = true
			w.live()
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(w.log, "\n"))
		}
		for what := range w.seen {
			seen[what]++
		}
	}
	for _, what := range []string{
		"rendezvous killed", "rendezvous stood still", "rendezvous doubled", "fresh duplicate", "late message", "stream cut", "all silent",
		"process killed", "process stopped", "dark", "adopted", "next generation", "steps after a loss", "nobody but the network",
		"cut off from one rendezvous", "started again", "two halves",
	} {
		if seen[what]*100 < lives {
			t.Errorf("%q in %d of %d lives, want 1 %% at least; all: %v", what, seen[what], lives, seen)
		}
	}
}

// world is a job with its processes, its rendezvous and a slow network.
type world struct {
	r        *rand.Rand
	now      time.Duration
	size     int
	restarts int
	launcher bool // the rendezvous is unique, and sees processes end
	gaveUp   bool // a process has waited in vain: no rendezvous was started
	calm     bool // nothing happens but to connections and rendezvous
	fixed    bool // the processes of a rank have one address
	procs    []*simProcess
	servers  []*simServer
	last     uint64 // number of the newest stream
	lives    byte   // lives that were begun
	jobEnded bool   // a rendezvous has ended the job

	rosters map[ring.Fence][]uint64 // of all generations
	done    ring.Fence              // generation of the last completed step
	state   int64                   // number of that step
	holders []uint64                // processes that have its result
	faults  int                     // events that may cost a restart

	noFence, takesAny, noQuorum, noIncarnation, noSettle, readyFirst, noTaken bool

	seen map[string]bool
	err  error
	logs bool
	log  []string
}

func newWorld(seed uint64, set func(*world)) *world {
	r := rand.New(rand.NewPCG(seed, 2))
	w := &world{r: r, size: 2 + r.IntN(4), restarts: r.IntN(9), rosters: map[ring.Fence][]uint64{}, seen: map[string]bool{}, state: -1}
	w.launcher, w.calm, w.fixed = r.IntN(3) == 0, r.IntN(6) == 0, r.IntN(2) == 0
	if set != nil {
		set(w)
	}
	w.serve()
	for rank := range w.size {
		w.start(rank)
	}
	return w
}

func (w *world) note(format string, args ...any) {
	if w.logs {
		w.log = append(w.log, fmt.Sprintf("%v ", w.now)+fmt.Sprintf(format, args...))
	}
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
		w.note("FAIL: %v", w.err)
	}
}

// start starts a process of a rank.
func (w *world) start(rank int) {
	p := &simProcess{id: uint64(len(w.procs) + 1), rank: rank, alive: true, step: -1, since: w.now}
	p.record.Step = -1
	w.procs = append(w.procs, p)
	w.note("process %d of rank %d starts", p.id, rank)
}

// serve starts an empty rendezvous.
func (w *world) serve() {
	v := &simServer{id: uint64(len(w.servers) + 1), born: w.now, started: w.now, streams: map[uint64]*simStream{}}
	if w.noSettle {
		v.born -= settleTime
	}
	v.s = New(Config{
		DefaultJobID: "job", WorldSize: w.size, StartTimeout: simulatedTimeout, Lease: simulatedLease, Restarts: w.restarts, Unique: w.launcher,
		Instance: v.id, NewLife: func() [16]byte { w.lives++; return [16]byte{w.lives} },
	})
	w.servers = append(w.servers, v)
	w.note("rendezvous %d starts", v.id)
}

// live plays a life: first with faults, then without for so long that nobody may wait any more.
func (w *world) live() error {
	for range 100 + w.r.IntN(300) {
		w.moment(true)
		if w.err != nil {
			return w.err
		}
	}
	for _, p := range w.procs {
		p.darkUntil = min(p.darkUntil, w.now)
		p.thaw(w)
	}
	for until := w.now + 4*simulatedTimeout; w.now < until; {
		w.moment(false)
		if w.err != nil {
			return w.err
		}
	}
	w.checkRest()
	return w.err
}

// moment lets time pass and everybody act.
func (w *world) moment(faults bool) {
	if faults {
		w.now += time.Duration(20+w.r.IntN(180)) * time.Millisecond
		w.strike()
	} else {
		w.now += 200 * time.Millisecond
		w.heal()
	}
	for _, p := range w.procs {
		p.act(w)
	}
	w.exchange()
	w.checkOwners()
	for _, v := range w.servers {
		if w.err == nil && v.runs(w) {
			w.deliver(v)
			v.answer(w)
			w.step(v, Tick{})
		}
	}
}

// heal lets a rendezvous serve and each rank have a process, until the job ends.
func (w *world) heal() {
	if w.jobEnded {
		return
	}
	if !slices.ContainsFunc(w.servers, func(v *simServer) bool { return !v.gone }) {
		w.serve()
	}
	if w.r.IntN(10) == 0 {
		w.revive()
	}
}

// revive starts a process for a rank without one.
func (w *world) revive() {
	for rank := range w.size {
		if !slices.ContainsFunc(w.procs, func(p *simProcess) bool { return p.rank == rank && p.alive }) {
			w.start(rank)
			return
		}
	}
}

// checkRest fails if a process still waits, or if the network alone has cost anything.
func (w *world) checkRest() {
	for _, p := range w.procs {
		if p.alive && (p.doing != InGroup || p.record.Fence.Generation == 0) && w.now-p.since > 3*simulatedTimeout {
			w.fail("process %d of rank %d has waited since %v", p.id, p.rank, p.since)
		}
	}
	if !w.calm || w.gaveUp {
		return
	}
	w.seen["nobody but the network"] = true
	for _, p := range w.procs {
		if !p.alive && p.record.Fence.Generation > 0 {
			w.fail("process %d of rank %d has ended, and nothing happened but to the network", p.id, p.rank)
		}
	}
}

// exchange lets the members of generations complete steps, and notice that others do not take part.
func (w *world) exchange() {
	for _, p := range w.procs {
		if p.trains() && p.rank == 0 && w.r.IntN(3) == 0 {
			w.complete(p)
		}
	}
	for _, p := range w.procs {
		if p.trains() && w.r.IntN(3) == 0 {
			p.blame(w)
		}
	}
}

// complete completes a step of the group of p, if all its members take part.
func (w *world) complete(p *simProcess) {
	var group []*simProcess
	for rank, id := range p.members {
		q := w.owner(p.group, rank, id)
		if len(group) > 0 && w.unseenBy(q) != w.unseenBy(group[0]) || !q.trains() || q.group != p.group && !w.noFence || q.darkUntil > w.now {
			return
		}
		group = append(group, q)
	}
	newest := slices.MaxFunc(group, func(a, b *simProcess) int { return int(a.step - b.step) })
	w.checkStep(p.group, newest, group)
	for _, q := range group {
		q.step = newest.step + 1
		q.record.Step, q.record.Cause = q.step, nil
		q.record.Complete()
	}
	w.done, w.state, w.holders = p.group, newest.step, nil
	for _, q := range group {
		w.holders = append(w.holders, q.id)
	}
	w.note("step %d in generation %d of %d", w.state, p.group.Generation, p.group.Issuer)
}

// unseenBy returns the rendezvous that a process does not reach, nil if there is none. Processes that
// differ in it do not reach each other.
func (w *world) unseenBy(p *simProcess) *simServer {
	for v, until := range p.blind {
		if until > w.now {
			return v
		}
	}
	return nil
}

// owner returns the process that answers for a member of a generation: the one that the generation
// names. Without fences it is whoever has the rank, and without incarnations whoever has the rank in
// that generation.
func (w *world) owner(f ring.Fence, rank int, id uint64) *simProcess {
	if !w.noFence && !w.noIncarnation {
		return w.procs[id-1]
	}
	has := func(q *simProcess) bool { return q.trains() && q.rank == rank && (w.noFence || q.group == f) }
	if i := slices.IndexFunc(w.procs, has); i >= 0 {
		return w.procs[i]
	}
	return w.procs[rank]
}

// checkOwners fails if a rank of a generation has two owners.
func (w *world) checkOwners() {
	owners := map[string]uint64{}
	for _, p := range w.procs {
		if !p.trains() {
			continue
		}
		place := fmt.Sprint(p.group, p.rank)
		if o, taken := owners[place]; taken {
			w.fail("processes %d and %d have rank %d of generation %+v", o, p.id, p.rank, p.group)
		}
		owners[place] = p.id
	}
}

// checkStep fails if a newer generation has gone on and a process lives that has its result, or if the
// state was lost while a process has it. With two rendezvous both may begin anew when all who had the
// state have ended, one after the other.
func (w *world) checkStep(f ring.Fence, newest *simProcess, group []*simProcess) {
	for _, q := range group {
		if q.group != f {
			w.fail("a step of generation %+v with process %d of rank %d, whose generation is %+v", f, q.id, q.rank, q.group)
		}
	}
	lives := func(id uint64) bool { return w.procs[id-1].alive }
	if Newer(w.done, f) && w.done.Life == f.Life && slices.ContainsFunc(w.holders, lives) {
		w.fail("a step in generation %+v after one in %+v", f, w.done)
	}
	if newest.step < w.state-1 {
		for _, id := range w.holders {
			if q := w.procs[id-1]; w.wasHeard(q, f) {
				w.fail("the job goes on with step %d, and process %d of rank %d has step %d", newest.step, id, q.rank, q.step)
			}
		}
	}
	if w.faults > 0 && f.Generation > 1 {
		w.seen["steps after a loss"] = true
	}
}

// wasHeard reports whether the rendezvous that formed generation f must have heard of q before: q is
// alive, its path was whole, and there was no other rendezvous. With two of them a member that was lost
// by silence may go on when all that it knew of have ended: they count no more.
func (w *world) wasHeard(q *simProcess, f ring.Fence) bool {
	v := w.servers[f.Issuer-1]
	only := !slices.ContainsFunc(w.servers, func(o *simServer) bool { return o != v && !(o.gone && o.goneAt <= v.started) })
	return q.alive && !q.told && !q.frozen && q.heldBack < v.started && only
}

// step passes an event to a rendezvous, and performs the effects.
func (w *world) step(v *simServer, e Event) {
	if v.gone || w.err != nil {
		return
	}
	w.note("  %d <- %T%+v", v.id, e, e)
	effects := v.s.Step(w.now-v.born, e)
	if w.noQuorum {
		v.s.known.Whole, v.s.known.Taken = Roster{}, nil
	}
	if w.noTaken {
		v.s.known.Taken = nil
	}
	if used := v.s.known.used(); used > w.faults {
		w.fail("rendezvous %d counts %d lost workers, by %d faults", v.id, used, w.faults)
	}
	if v.s.adopted {
		w.seen["adopted"] = true
	}
	for _, f := range effects {
		w.note("  %d -> %T%+v", v.id, f, f)
		w.take(v, f)
	}
}

// take performs one effect.
func (w *world) take(v *simServer, f Effect) {
	switch f := f.(type) {
	case Probe:
		v.probes = append(v.probes, f)
	case RankAbandoned:
		if w.launcher {
			w.abandoned(v, f.Rank)
		}
	case Finish:
		if !v.s.endedAlone {
			w.jobEnded = true
		}
		v.ended = true
	case SendMembership:
		w.checkRoster(f.Membership)
		v.send(w, f.Stream, f)
	case SendEndGeneration:
		v.send(w, f.Stream, f)
	case SendResumed:
		v.send(w, f.Stream, f)
	case SendRefused:
		v.send(w, f.Stream, f)
	case SendAbort:
		if c := v.streams[f.Stream]; c != nil {
			c.p.told = true
		}
		v.send(w, f.Stream, f)
	case SendEnd:
		v.send(w, f.Stream, f)
	case CloseStream:
		if c := v.streams[f.Stream]; c != nil {
			c.cut()
		}
	}
}

// abandoned kills the processes of a rank that the launcher gives up, but a fresh one.
func (w *world) abandoned(v *simServer, rank int) {
	for _, p := range w.procs {
		if p.rank == rank && p.alive && p.record.Fence.Generation > 0 {
			p.alive = false
			if p.stream != nil {
				p.stream.cut()
			}
		}
	}
}

// checkRoster fails if a generation has two lists of workers.
func (w *world) checkRoster(m ring.Membership) {
	var list []uint64
	for _, o := range m.Workers {
		list = append(list, o.Incarnation)
	}
	if known := w.rosters[m.Fence()]; known != nil && !slices.Equal(known, list) {
		w.fail("generation %+v is of %v and of %v", m.Fence(), known, list)
	}
	w.rosters[m.Fence()] = list
	for _, p := range w.procs {
		if m.Generation == 1 && p.inGroup && p.record.Fence.Life != m.Life && w.wasHeard(p, m.Fence()) {
			w.fail("life %v begins beside process %d, which is in generation %+v", m.Life[0], p.id, p.group)
		}
	}
	if m.Generation > 1 {
		w.seen["next generation"] = true
	}
}

// dark reports whether the path between a process and a rendezvous is dark.
func (w *world) dark(p *simProcess, v *simServer) bool {
	return p.darkUntil > w.now || p.blind[v] > w.now
}

// deliver lets some of the messages of a rendezvous arrive.
func (w *world) deliver(v *simServer) {
	for _, id := range slices.Sorted(maps.Keys(v.streams)) { // the order of a map would not repeat
		c := v.streams[id]
		if w.r.IntN(6) == 0 && !c.begins() {
			w.seen["late message"] = true
			continue
		}
		dark := w.dark(c.p, v)
		for len(c.up) > 0 && !dark && w.err == nil {
			e := c.up[0]
			c.up = c.up[1:]
			w.step(v, e)
		}
		for len(c.down) > 0 && !dark && w.err == nil && c.p.alive && !c.p.frozen && (c.p.stream == c || w.takesAny) {
			f := c.down[0]
			c.down = c.down[1:]
			c.p.hear(w, f)
		}
		if c.closed && len(c.up) == 0 && len(c.down) == 0 {
			delete(v.streams, id)
		}
	}
}
