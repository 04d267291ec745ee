package main

import (
	"errors"
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

// Twelve ranks run on four hosts, with a rendezvous on a fifth. The test
// restarts processes that end, as a scheduler does. Every ten seconds it injects a
// fault:
//
//	make chaos                          five minutes
//	RINGTRAIN_CHAOS=60s RINGTRAIN_CHAOS_SEED=7 go test -run TestChaos -v ./cmd/ringtrain
//
// At the end the digest must be that of an undisturbed run.

const (
	chaosRanks = 12
	chaosHosts = 4
	chaosLease = 5 * time.Second
	faultEvery = 10 * time.Second
)

// chaosPatience is the maximum time without a completed step.
const chaosPatience = 90 * time.Second

// mischief lists the kinds of faults; duplicates make a kind more frequent.
var mischief = []string{
	"kill", "kill", "kill", "stop", "stop", "term", "cut", "flap", "slow", "rendezvous", "pause", "pause-kill", "double",
	"reset-control", "reset-data", "reset-both", "dark", "dark-one-way", "dark-rendezvous",
}

// A chaos is a job under random faults.
type chaos struct {
	*box
	r     *rand.Rand
	net   *netns.Net
	hosts []netns.Host // the last one is that of the rendezvous
	job   []string
	until time.Time // end of the injection of faults

	mu      sync.Mutex
	ranks   [chaosRanks][]*testProcess // all started processes; the last one is alive
	meeting *testProcess
	over    bool     // no process is restarted
	faults  []string // ends after which no scheduler restarts
}

// A mischance is an injected fault.
type mischance struct {
	kind  string
	ranks []int // ranks that may be named for it
	loss  bool  // some rank must be named
	calm  bool  // no rank may be lost
	at    time.Time
	ended time.Time // start of the next fault
}

// TestChaos verifies that a job under random faults completes with the right digest, and
// that each fault is attributed to the right rank.
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
	net := newNet(t, netns.Config{Hosts: chaosHosts + 1, Router: true})
	hosts := net.Hosts()
	steps := max(20_000, int(stepRate(t, hosts)*min(length, time.Minute).Seconds()))
	r := rand.New(rand.NewPCG(seed, 0))
	var scores tally
	faults := 0
	for begin := time.Now(); time.Since(begin) < length && !t.Failed(); { // one job per round
		c := &chaos{
			box: newBox(t).lasting(5*length + 10*time.Minute).with(newToken()), r: r, net: net, hosts: hosts, until: begin.Add(length),
			job: longLinear(steps, "--set", "log.every=100", "--set", "allreduce.codec=none", "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=30s"),
		}
		began, done := time.Now(), c.begin()
		all := c.disturb(done)
		<-done
		c.endRendezvous()
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

// stepRate returns the number of steps per second of the undisturbed job.
func stepRate(t *testing.T, hosts []netns.Host) float64 {
	t.Helper()
	const steps = 3000
	e := newBox(t).startOnHosts(hosts, spread(chaosRanks, chaosHosts), longLinear(steps, "--set", "allreduce.codec=none")...).trained()
	return steps / e.only(t, "done").num("took_s")
}

// begin starts all processes. The returned channel is closed when all ranks have ended.
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
		"--world-size", strconv.Itoa(chaosRanks), "--restarts", "100000", "--lease", chaosLease.String())
	p := c.startProgram(line[0], line[1:]...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meeting = p
}

// endRendezvous ends a rendezvous that began anew when the ranks had ended: it waits for them, on the port of
// the next job.
func (c *chaos) endRendezvous() {
	c.meeting.signal(syscall.SIGKILL)
	<-c.meeting.ended
}

// rank starts the process of a rank.
func (c *chaos) rank(rank int) *testProcess {
	place := c.with("RINGTRAIN_RANK="+strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE="+strconv.Itoa(chaosRanks),
		"RINGTRAIN_RENDEZVOUS="+c.hosts[chaosHosts].Addr+":29400")
	line := c.hosts[rank%chaosHosts].Command(append([]string{self(c.box), "train"}, c.job...)...)
	return place.startProgram(line[0], line[1:]...)
}

// tend starts a rank, and restarts it until it succeeds.
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

// current returns the process of the last start of a rank.
func (c *chaos) current(rank int) *testProcess {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ranks[rank][len(c.ranks[rank])-1]
}

// stepsDone returns the number of lines about steps.
func (c *chaos) stepsDone() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, p := range c.ranks[0] {
		n += strings.Count(p.stdout.String(), `"event":"step"`)
	}
	return n
}

// disturb injects faults until the job has ended.
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
		m.ended, m.loss = time.Now(), m.loss && on // a job that ended meanwhile may have lost nobody
		all = append(all, m)
		if !on {
			break
		}
	}
	for c.goesOn(done) { // until the end
	}
	return all
}

// goesOn returns true after some completed steps, false if the job has ended. It ends a
// job that hangs.
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

// do injects one fault and ends it.
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
		c.dark(chaosLease+3*time.Second, c.waysOf(host)...)
	case "flap":
		m.ranks = ofHost
		c.dark(500*time.Millisecond, c.waysOf(host)...)
	case "slow":
		m.ranks = nil
		slow(c, c.hosts[host], "1mbit")
		pause(5 * time.Second)
		fast(c, c.hosts[host])
	case "reset-control", "reset-data", "reset-both":
		m.ranks, m.calm = nil, m.kind == "reset-control"
		const control = ":29400"
		if m.kind != "reset-data" {
			resetConnections(c, "dport = "+control, c.hosts[host])
		}
		if m.kind != "reset-control" {
			resetConnections(c, "sport != "+control+" and dport != "+control, c.hosts[host])
		}
	case "dark", "dark-one-way", "dark-rendezvous":
		m.ranks, m.calm = nil, m.kind == "dark-rendezvous"
		other := c.hosts[(host+1+c.r.IntN(chaosHosts-1))%chaosHosts]
		if m.calm {
			other = c.hosts[chaosHosts]
		}
		ways := []way{{c.hosts[host], other}, {other, c.hosts[host]}}
		if m.kind == "dark-one-way" {
			ways = ways[:1]
		}
		c.dark(time.Second+time.Duration(c.r.IntN(3000))*time.Millisecond, ways...)
	case "rendezvous":
		m.ranks, m.calm = nil, true
		c.meeting.signal(syscall.SIGKILL)
		<-c.meeting.ended
		pause(time.Second)
		c.serve()
	case "pause": // loses no rank
		m.ranks, m.calm = nil, true
		c.pauseRendezvous(func() {})
	case "pause-kill":
		m.loss = true
		c.pauseRendezvous(func() { p.signal(syscall.SIGKILL) })
	case "double":
		m.ranks, m.calm = nil, true
		c.double(rank)
	}
}

// A way is what goes from one host to another.
type way struct{ from, to netns.Host }

// waysOf returns all ways from and to a host.
func (c *chaos) waysOf(host int) []way {
	var all []way
	for i, other := range c.hosts {
		if i != host {
			all = append(all, way{c.hosts[host], other}, way{other, c.hosts[host]})
		}
	}
	return all
}

// dark drops what goes some ways for a time.
func (c *chaos) dark(d time.Duration, ways ...way) {
	var errs []error
	for _, w := range ways {
		errs = append(errs, c.net.Cut(c.Context(), w.from, w.to))
	}
	pause(d)
	for _, w := range ways {
		errs = append(errs, c.net.Mend(c.Context(), w.from, w.to))
	}
	if err := errors.Join(errs...); err != nil {
		c.Error(err)
	}
}

// pauseRendezvous stops the rendezvous for three leases. Another fault happens
// meanwhile.
func (c *chaos) pauseRendezvous(meanwhile func()) {
	c.meeting.signal(syscall.SIGSTOP)
	pause(3*chaosLease - time.Second)
	meanwhile()
	pause(time.Second)
	c.meeting.signal(syscall.SIGCONT)
}

// double starts a running rank a second time. The second process must end with the
// reason.
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

// judge verifies the reaction of the job to each fault.
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
			for _, v := range m.of(events, "generation") {
				t.Logf("ranks %v, cause: %s", v.list("lost"), v.text("cause"))
			}
		}
	}
}

// history returns the events of all processes of rank 0, in order.
func (c *chaos) history() []event {
	var text strings.Builder
	for _, p := range c.ranks[0] {
		text.WriteString(wholeLines(p.stdout.String()))
	}
	return parsed(text.String())
}

// of returns the events with a name during m.
func (m mischance) of(events []event, name string) []event {
	var list []event
	for _, v := range events {
		if v.name() == name && v.at().After(m.at) && v.at().Before(m.ended) {
			list = append(list, v)
		}
	}
	return list
}

// blames returns the ranks that the generations during m have lost, and whether all
// losses are right: only faulty ranks are lost, and each cause names a faulty rank.
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

// told reports whether the job reported m correctly: it blamed no other rank and lost
// all ranks that it had to lose.
func (m mischance) told(events []event) bool {
	lost, right := m.blames(events)
	if !m.loss {
		return right
	}
	return right && !slices.ContainsFunc(m.ranks, func(rank int) bool { return !slices.Contains(lost, rank) })
}

// A tally has the results of all faults.
type tally struct {
	losses, named int
	wrong         int // faults without a loss that were attributed to another rank
	kinds         map[string]*score
}

// A score has the results of one kind of fault.
type score struct {
	times, generations, losses, named int
	took                              []time.Duration // until the next step, if there was a new generation
}

// add counts m. It returns false if the job did not report m correctly.
func (t *tally) add(m mischance, events []event) bool {
	if t.kinds == nil {
		t.kinds = map[string]*score{}
	}
	s := t.kinds[m.kind]
	if s == nil {
		s = &score{}
		t.kinds[m.kind] = s
	}
	s.times++
	ok := m.told(events)
	if !m.loss && !ok {
		t.wrong++
	}
	if m.loss {
		s.losses, t.losses = s.losses+1, t.losses+1
		if ok {
			s.named, t.named = s.named+1, t.named+1
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

func (t *tally) table() string {
	var b strings.Builder
	b.WriteString("\n| fault | times | new generations | named | next step after, median | at most |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, kind := range slices.Compact(slices.Clone(mischief)) {
		if s := t.kinds[kind]; s != nil {
			fmt.Fprintf(&b, "| %s | %s |\n", kind, s)
		}
	}
	fmt.Fprintf(&b, "\n%d of %d losses named, %d other faults blamed on somebody else\n\n", t.named, t.losses, t.wrong)
	return b.String()
}

func (s *score) String() string {
	took := " | "
	if len(s.took) > 0 {
		took = spreadOf(s.took)
	}
	return fmt.Sprintf("%d | %d | %d of %d | %s", s.times, s.generations, s.named, s.losses, took)
}
