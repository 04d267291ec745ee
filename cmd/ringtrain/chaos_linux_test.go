package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// Twelve ranks on four hosts, a rendezvous with a journal on a fifth, and somebody
// who starts again what ends, as a scheduler does. Every ten seconds something bad
// happens:
//
//	make chaos                          five minutes
//	RINGTRAIN_CHAOS=60s RINGTRAIN_CHAOS_SEED=7 go test -run TestChaos -v ./cmd/ringtrain
//
// In the end the digest must be that of an undisturbed run.

const (
	chaosRanks = 12
	chaosHosts = 4
	chaosLease = 5 * time.Second
	faultEvery = 10 * time.Second
)

// chaosPatience is how long no step may be completed.
const chaosPatience = 90 * time.Second

// mischief are the kinds of faults, each as often as it is here.
var mischief = []string{
	"kill", "kill", "kill", "stop", "stop", "term", "cut", "flap", "slow", "rendezvous", "pause", "pause-kill", "double",
}

// A chaos is a job that is disturbed.
type chaos struct {
	*box
	r     *rand.Rand
	hosts []netns.Host // the last one is the rendezvous'
	job   []string
	until time.Time // no fault begins later

	mu      sync.Mutex
	ranks   [chaosRanks][]*testProcess // all that were started, the last one lives
	meeting *testProcess
	over    bool     // nobody is started again
	faults  []string // that no scheduler would start again after
}

// A mischance is a fault that happened.
type mischance struct {
	kind  string
	ranks []int // that may be named for it
	loss  bool  // somebody must be
	calm  bool  // nobody may be lost
	at    time.Time
	ended time.Time // when the next one began
}

// TestChaos disturbs a job by random faults. If it fails, one of them hangs it,
// changes what it trains, or is blamed on somebody else.
func TestChaos(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("RINGTRAIN_CHAOS"))
	if err != nil {
		t.Skip("takes minutes: set RINGTRAIN_CHAOS=5m, as make chaos does")
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("RINGTRAIN_CHAOS_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d (RINGTRAIN_CHAOS_SEED)", seed)
	hosts := newHosts(t, chaosHosts+1, "")
	steps := max(20_000, int(stepRate(t, hosts)*min(length, time.Minute).Seconds()))
	r := rand.New(rand.NewPCG(seed, 0))
	var scores tally
	faults := 0
	for begin := time.Now(); time.Since(begin) < length && !t.Failed(); { // a round is a job
		c := &chaos{
			box: newBox(t).lasting(5*length + 10*time.Minute).with(newToken()), r: r, hosts: hosts, until: begin.Add(length),
			job: longLinear(steps, "--set", "log.every=100", "--set", "allreduce.codec=none", "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=30s"),
		}
		began, done := time.Now(), c.begin()
		all := c.disturb(done)
		<-done
		faults += len(all)
		t.Logf("%d steps in %v, %d faults", steps, time.Since(began).Round(time.Second), len(all))
		c.judge(t, steps, all, &scores)
	}
	fmt.Print(scores.table())
	if faults == 0 {
		t.Error("nothing was disturbed: nothing is shown")
	}
	if float64(scores.named) < 0.99*float64(scores.losses) {
		t.Errorf("%d of %d losses named, want 99 %%", scores.named, scores.losses)
	}
	if scores.wrong > 0 {
		t.Errorf("%d faults that nobody dies of were blamed on somebody else, want none", scores.wrong)
	}
}

// stepRate is how many steps a second the job makes undisturbed.
func stepRate(t *testing.T, hosts []netns.Host) float64 {
	t.Helper()
	const steps = 3000
	e := newBox(t).startOnHosts(hosts, spread(chaosRanks, chaosHosts), longLinear(steps, "--set", "allreduce.codec=none")...).trained()
	return steps / e.only(t, "done").num("took_s")
}

// begin starts all and returns what is closed when all ranks have ended.
func (c *chaos) begin() <-chan struct{} {
	c.serve()
	var all sync.WaitGroup
	for rank := range chaosRanks {
		all.Go(func() { c.tend(rank) })
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// serve starts the rendezvous.
func (c *chaos) serve() {
	line := c.hosts[chaosHosts].Command(self(c.box), "rendezvous", "--listen", c.hosts[chaosHosts].Addr+":29400",
		"--world-size", strconv.Itoa(chaosRanks), "--restarts", "100000", "--lease", chaosLease.String(), "--journal", "journal")
	p := c.startProgram(line[0], line[1:]...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meeting = p
}

// rank starts the process of a rank.
func (c *chaos) rank(rank int) *testProcess {
	place := c.with("RINGTRAIN_RANK="+strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE="+strconv.Itoa(chaosRanks),
		"RINGTRAIN_RENDEZVOUS="+c.hosts[chaosHosts].Addr+":29400")
	line := c.hosts[rank%chaosHosts].Command(append([]string{self(c.box), "train"}, c.job...)...)
	return place.startProgram(line[0], line[1:]...)
}

// tend starts a rank, and again until it ends well.
func (c *chaos) tend(rank int) {
	for {
		p := c.rank(rank)
		c.mu.Lock()
		c.ranks[rank] = append(c.ranks[rank], p)
		c.mu.Unlock()
		<-p.ended
		code := p.cmd.ProcessState.ExitCode()
		c.mu.Lock()
		over := c.over || code == 0
		if code > 0 && code < 128 {
			over, c.faults = true, append(c.faults, fmt.Sprintf("rank %d ended with %d: %s", rank, code, p.stderr))
		}
		c.mu.Unlock()
		if over {
			return
		}
		pause(200 * time.Millisecond)
	}
}

// current is the process of a rank that was started last.
func (c *chaos) current(rank int) *testProcess {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ranks[rank][len(c.ranks[rank])-1]
}

// stepsDone counts the lines about steps.
func (c *chaos) stepsDone() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, p := range c.ranks[0] {
		n += strings.Count(p.stdout.String(), `"event":"step"`)
	}
	return n
}

// disturb makes faults until the job has ended.
func (c *chaos) disturb(done <-chan struct{}) []mischance {
	var all []mischance
	var deck []string
	if !c.goesOn(done) {
		return all
	}
	for time.Now().Before(c.until) {
		if len(deck) == 0 {
			deck = slices.Clone(mischief)
			c.r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		m := mischance{kind: deck[0], at: time.Now()}
		deck = deck[1:]
		c.do(&m)
		on := c.goesOn(done)
		select {
		case <-done:
			on = false
		case <-time.After(time.Until(m.at.Add(faultEvery))):
		}
		m.ended = time.Now()
		all = append(all, m)
		if !on {
			break
		}
	}
	for c.goesOn(done) { // to the end
	}
	return all
}

// goesOn returns true once some steps have been completed, false if the job has
// ended. If it hangs it is ended.
func (c *chaos) goesOn(done <-chan struct{}) bool {
	before, since := c.stepsDone(), time.Now()
	for {
		select {
		case <-done:
			return false
		case <-time.After(100 * time.Millisecond):
		}
		switch {
		case c.stepsDone() >= before+3:
			return true
		case time.Since(since) > chaosPatience:
			c.giveUp()
			return false
		}
	}
}

// giveUp ends a job that hangs.
func (c *chaos) giveUp() {
	c.mu.Lock()
	c.over = true
	c.faults = append(c.faults, fmt.Sprintf("no step within %v", chaosPatience))
	c.mu.Unlock()
	for rank := range chaosRanks {
		c.current(rank).signal(syscall.SIGQUIT)
	}
	pause(time.Second)
	for rank := range chaosRanks {
		c.current(rank).signal(syscall.SIGKILL)
	}
}

// do makes one fault, and what ends it.
func (c *chaos) do(m *mischance) {
	rank, host := c.r.IntN(chaosRanks), c.r.IntN(chaosHosts)
	ofHost := []int{host, host + chaosHosts, host + 2*chaosHosts}
	m.ranks = []int{rank}
	p := c.current(rank)
	switch m.kind {
	case "kill":
		m.loss = true
		p.signal(syscall.SIGKILL)
	case "term":
		m.loss = true
		p.signal(syscall.SIGTERM)
	case "stop":
		length := 3*time.Second + time.Duration(c.r.IntN(5000))*time.Millisecond
		m.loss = length > chaosLease+2*time.Second
		p.signal(syscall.SIGSTOP)
		pause(length)
		p.signal(syscall.SIGCONT)
	case "cut":
		m.loss, m.ranks = true, ofHost
		unplug(c, c.hosts[host])
		pause(chaosLease + 3*time.Second)
		plug(c, c.hosts[host])
	case "flap":
		m.ranks = ofHost
		unplug(c, c.hosts[host])
		pause(500 * time.Millisecond)
		plug(c, c.hosts[host])
	case "slow":
		m.ranks = nil
		slow(c, c.hosts[host], "1mbit")
		pause(5 * time.Second)
		fast(c, c.hosts[host])
	case "rendezvous":
		m.ranks = nil
		c.meeting.signal(syscall.SIGKILL)
		<-c.meeting.ended
		pause(time.Second)
		c.serve()
	case "pause": // nobody is lost by it
		m.ranks, m.calm = nil, true
		c.pauseRendezvous(func() {})
	case "pause-kill":
		m.loss = true
		c.pauseRendezvous(func() { p.signal(syscall.SIGKILL) })
	case "double":
		c.double(rank)
	}
}

// pauseRendezvous stops the rendezvous for three leases. Something happens meanwhile.
func (c *chaos) pauseRendezvous(meanwhile func()) {
	c.meeting.signal(syscall.SIGSTOP)
	pause(3*chaosLease - time.Second)
	meanwhile()
	pause(time.Second)
	c.meeting.signal(syscall.SIGCONT)
}

// double starts a rank that is there a second time: it must go, and say why.
func (c *chaos) double(rank int) {
	if p := c.rank(rank); !c.endsSoon(p) || p.cmd.ProcessState.ExitCode() != 138 || !namesRank(lastOf(strings.Split(strings.TrimSpace(p.stderr.String()), "\n")), rank) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.faults = append(c.faults, fmt.Sprintf("the second rank %d: %v, %s", rank, p.cmd.ProcessState, p.stderr))
	}
}

func (c *chaos) endsSoon(p *testProcess) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(30 * time.Second):
		p.signal(syscall.SIGKILL)
		<-p.ended
		return false
	}
}

// judge holds what came of it against what must be.
func (c *chaos) judge(t *testing.T, steps int, all []mischance, scores *tally) {
	t.Helper()
	for _, fault := range c.faults {
		t.Error(fault)
	}
	if len(c.faults) == 0 {
		want := "digest=" + longAlone(t, steps)
		for rank := range chaosRanks {
			if e := c.current(rank).wait(); e.last() != want {
				t.Errorf("rank %d ends with %q, want %s of an undisturbed run", rank, e.last(), want)
			}
		}
		if done := c.current(0).wait().only(t, "done"); done.num("steps") != float64(steps) {
			t.Errorf("done after %v steps, want %d", done["steps"], steps)
		}
	}
	events := c.history()
	for _, m := range all {
		for _, v := range m.of(events, "generation") {
			if m.calm {
				t.Errorf("%s at %v: a generation ended by %q, want that steps go on", m.kind, m.at.UTC().Format(time.RFC3339Nano), v.text("cause"))
			}
		}
		if !scores.add(m, events) {
			lost, _ := m.blames(events)
			t.Logf("%s of ranks %v at %v (a loss: %v): ranks %v are said to be lost", m.kind, m.ranks, m.at.UTC().Format(time.RFC3339Nano), m.loss, lost)
		}
	}
}

// history is all that the processes of rank 0 have told, in order.
func (c *chaos) history() []event {
	var list []event
	for _, p := range c.ranks[0] {
		for line := range strings.Lines(p.stdout.String()) {
			var v event
			if json.Unmarshal([]byte(line), &v) == nil { // the last one of a killed rank may be in part
				list = append(list, v)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b event) int { return a.at().Compare(b.at()) })
	return list
}

// of are the events called name in the time of m.
func (m mischance) of(events []event, name string) []event {
	var list []event
	for _, v := range events {
		if v.name() == name && v.at().After(m.at) && v.at().Before(m.ended) {
			list = append(list, v)
		}
	}
	return list
}

// blames tells whom the generations in the time of m have lost, and whether all of that
// is right: nobody is lost who did not have the fault, and each cause names one who did.
func (m mischance) blames(events []event) (lost []int, right bool) {
	right = true
	for _, v := range m.of(events, "generation") {
		named := false
		for _, r := range v.list("lost") {
			rank := int(r.(float64))
			lost = append(lost, rank)
			right = right && slices.Contains(m.ranks, rank)
			named = named || namesRank(v.text("cause"), rank)
		}
		right = right && (named || len(v.list("lost")) == 0)
	}
	return lost, right
}

// told reports whether the job said what m was: it blamed nobody else, and lost all
// ranks that had to be.
func (m mischance) told(events []event) bool {
	lost, right := m.blames(events)
	if !m.loss {
		return right
	}
	return right && !slices.ContainsFunc(m.ranks, func(rank int) bool { return !slices.Contains(lost, rank) })
}

// A tally is what came of all faults.
type tally struct {
	losses, named int
	wrong         int // faults that were no loss and that somebody else was blamed for
	kinds         map[string]*score
}

// A score is what came of one kind of fault.
type score struct {
	times, generations, losses, named int
	took                              []time.Duration // to the next step, where there was a new generation
}

// add counts m, and returns false if the job did not say what it was.
func (all *tally) add(m mischance, events []event) bool {
	if all.kinds == nil {
		all.kinds = map[string]*score{}
	}
	s := all.kinds[m.kind]
	if s == nil {
		s = &score{}
		all.kinds[m.kind] = s
	}
	s.times++
	ok := m.told(events)
	if !m.loss && !ok {
		all.wrong++
	}
	if m.loss {
		s.losses, all.losses = s.losses+1, all.losses+1
		if ok {
			s.named, all.named = s.named+1, all.named+1
		}
	}
	changed := slices.Concat(m.of(events, "generation"), m.of(events, "start"))
	s.generations += len(changed)
	for _, v := range m.of(events, "step") {
		if len(changed) > 0 && v.at().After(changed[0].at()) {
			s.took = append(s.took, v.at().Sub(m.at))
			break
		}
	}
	return ok
}

func (all *tally) table() string {
	var b strings.Builder
	b.WriteString("\n| fault | times | new generations | named | next step after, median | at most |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, kind := range slices.Compact(slices.Clone(mischief)) {
		if s := all.kinds[kind]; s != nil {
			fmt.Fprintf(&b, "| %s | %s |\n", kind, s)
		}
	}
	fmt.Fprintf(&b, "\n%d of %d losses named, %d other faults blamed on somebody else\n\n", all.named, all.losses, all.wrong)
	return b.String()
}

func (s *score) String() string {
	took := " | "
	if len(s.took) > 0 {
		took = spreadOf(s.took)
	}
	return fmt.Sprintf("%d | %d | %d of %d | %s", s.times, s.generations, s.named, s.losses, took)
}
