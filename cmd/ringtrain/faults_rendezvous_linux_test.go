package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// Ranks without a launcher go through faults of their rendezvous, which is alone or in rank 0.
// The hosts have names in a file: a pod that comes back has another address.

const (
	meetingName = "meeting.test"
	meetingPort = "29400"
	squadRanks  = 4
)

// A meetingFault is a row of the table.
type meetingFault struct {
	name     string
	share    bool // `make check-long` has it
	inside   bool // the rendezvous is in rank 0
	restarts int
	lasts    time.Duration // time of the undisturbed job
	do       func(*squad)
	lost     []int
	says     string // pattern of what each rank says
}

func meetingFaults() []meetingFault {
	const usual = 10 * time.Second
	all := []meetingFault{
		{name: "rendezvous killed and back", share: true, lasts: usual, do: (*squad).killMeeting},
		{name: "rendezvous and rank 2 killed and back", restarts: 1, lasts: usual, do: (*squad).killMeetingAndRank, lost: []int{2}},
		{name: "second process for a rank", lasts: usual, do: (*squad).second},
		{name: "rendezvous killed, second process for a rank first", lasts: usual, do: (*squad).secondFirst},
		{name: "rendezvous killed, never back", lasts: usual, do: (*squad).neverBack, says: "confirm"},
		{name: "two rendezvous at one name", lasts: 60 * time.Second, do: (*squad).twoMeetings},
	}
	for _, d := range []time.Duration{15 * time.Second, 60 * time.Second} {
		all = append(all, meetingFault{
			name: fmt.Sprintf("rendezvous frozen/for=%v", d), lasts: d + 10*time.Second, do: func(s *squad) { s.frozen(d) },
		})
	}
	for place, host := range map[string]int{"its address": 0, "another address": 3} {
		all = append(all, meetingFault{
			name: "rank 0 with the rendezvous killed and back/at=" + place, share: host != 0,
			inside: true, restarts: 1, lasts: usual, do: func(s *squad) { s.rank0Back(host) }, lost: []int{0},
		})
	}
	slices.SortStableFunc(all, func(a, b meetingFault) int { return strings.Compare(a.name, b.name) })
	return all
}

// A squad is a job of ranks without a launcher, two on each of two hosts. A third host has the
// rendezvous, unless it is in rank 0; the fourth is a spare.
type squad struct {
	*box
	fault    meetingFault
	hosts    []netns.Host
	steps    int
	ranks    [squadRanks][]*testProcess // all processes of a rank; the last one is to train
	meetings []*testProcess             // all processes of the rendezvous
	turmoil
}

// run runs a job through the fault and returns its row.
func (f meetingFault) run(t *testing.T, known *yardstick) string {
	net := newNet(t, netns.Config{Hosts: 4, Router: true})
	s := &squad{box: newBox(t).lasting(4 * time.Minute).with(newToken()), fault: f, hosts: net.Hosts()}
	steps, digest := known.steps("squad", f.lasts, s.undisturbed)
	s.begun(steps)
	f.do(s)
	v := s.judge(s.history(t, digest))
	v.wantLost(t, f.lost)
	for i, p := range s.meetings {
		if e := p.wait(); i == len(s.meetings)-1 && e.code != 0 && !p.killed {
			t.Errorf("the rendezvous ended with %d\n%s", e.code, e.stderr)
		}
	}
	return v.row(f.name, s.current(0).wait().code, s.current(0).wait().last(), digest)
}

// undisturbed returns the end of a job without a fault.
func (s *squad) undisturbed(steps int) event {
	c := *s
	c.begun(steps)
	e := c.current(0).wait()
	if e.code != 0 {
		s.Fatalf("the undisturbed job ended with %d\n%s", e.code, e.stderr)
	}
	for _, p := range c.meetings {
		p.wait()
	}
	for rank := range squadRanks {
		c.current(rank).wait()
	}
	return e.only(s, "done")
}

// begun starts the job and waits for its first steps.
func (s *squad) begun(steps int) {
	s.Helper()
	s.steps = steps
	if s.fault.inside {
		s.named(s.hosts[0])
	} else {
		s.named(s.hosts[2])
		s.serve(s.hosts[2])
	}
	for rank := range squadRanks {
		s.start(rank)
	}
	s.current(0).await(`"event":"step"`)
}

// named gives the rendezvous's name the address of a host, for all ranks.
func (s *squad) named(h netns.Host) {
	s.Helper()
	text := fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", h.Addr, meetingName)
	if err := os.WriteFile(s.path("hosts"), []byte(text), 0o666); err != nil { // in place, because it is mounted
		s.Fatal(err)
	}
}

// serve starts a rendezvous.
func (s *squad) serve(h netns.Host) *testProcess {
	s.Helper()
	line := h.Command(self(s.box), "rendezvous", "--listen", h.Addr+":"+meetingPort, "--world-size", strconv.Itoa(squadRanks),
		"--restarts", strconv.Itoa(s.fault.restarts))
	p := s.startProgram(line[0], line[1:]...)
	p.await("rendezvous on ")
	s.meetings = append(s.meetings, p)
	return p
}

// start starts a process of a rank on its host.
func (s *squad) start(rank int) *testProcess {
	s.Helper()
	return s.startOn(s.hosts[rank/2], rank)
}

func (s *squad) startOn(h netns.Host, rank int) *testProcess {
	s.Helper()
	p := s.process(h, rank)
	s.ranks[rank] = append(s.ranks[rank], p)
	return p
}

func (s *squad) process(h netns.Host, rank int) *testProcess {
	s.Helper()
	argv := append([]string{self(s.box), "train", "--start-timeout", "30s"}, faultJob(s.steps, 10)...)
	place := s.with("RINGTRAIN_RANK="+strconv.Itoa(rank), "RINGTRAIN_WORLD_SIZE="+strconv.Itoa(squadRanks), "RINGTRAIN_RENDEZVOUS="+meetingName+":"+meetingPort)
	if s.fault.inside {
		place = s.with("RANK="+strconv.Itoa(rank), "WORLD_SIZE="+strconv.Itoa(squadRanks), "MASTER_ADDR="+meetingName, "MASTER_PORT="+meetingPort)
		argv = append(argv, "--restarts", strconv.Itoa(s.fault.restarts))
	}
	line := h.Command(withHosts(s.path("hosts"), argv...)...)
	return place.startProgram(line[0], line[1:]...)
}

func (s *squad) current(rank int) *testProcess { return s.ranks[rank][len(s.ranks[rank])-1] }

// kill kills a process and waits for its end.
func (s *squad) kill(p *testProcess) {
	s.Helper()
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// steady waits until steps complete.
func (s *squad) steady() {
	s.Helper()
	s.current(0).stepAfter(s, time.Now())
}

// history waits for the end of all ranks, verifies it, and returns the events of rank 0.
func (s *squad) history(t *testing.T, digest string) []event {
	t.Helper()
	for rank := range squadRanks {
		e := s.current(rank).wait()
		if e.code != 0 || e.last() != "digest="+digest {
			t.Errorf("rank %d ended with %d and %q, want 0 and digest=%s\n%s", rank, e.code, e.last(), digest, withoutSteps(e.stderr))
		}
		if !regexp.MustCompile(s.fault.says).MatchString(e.stderr) {
			t.Errorf("rank %d does not say %q\n%s", rank, s.fault.says, withoutSteps(e.stderr))
		}
	}
	var text strings.Builder
	for _, p := range s.ranks[0] {
		text.WriteString(wholeLines(p.stdout.String()))
	}
	return parsed(text.String())
}

// killMeeting kills the rendezvous and starts it, empty, at its address.
func (s *squad) killMeeting() {
	s.steady()
	s.begin()
	s.kill(s.meetings[0])
	s.steady() // training goes on meanwhile
	s.serve(s.hosts[2])
	s.turmoil.end()
}

// killMeetingAndRank kills the rendezvous and rank 2 and starts both again.
func (s *squad) killMeetingAndRank() {
	s.steady()
	s.begin()
	s.kill(s.meetings[0])
	s.kill(s.current(2))
	s.serve(s.hosts[2])
	s.start(2)
	s.turmoil.end()
}

// second starts a second process for a living rank.
func (s *squad) second() {
	s.steady()
	s.begin()
	s.wantRefused(s.process(s.hosts[3], 2))
	s.turmoil.end()
}

// secondFirst starts a second process for a living rank and then an empty rendezvous, which
// may hear the second process first.
func (s *squad) secondFirst() {
	s.steady()
	s.begin()
	s.kill(s.meetings[0])
	p := s.process(s.hosts[3], 2)
	p.await("waiting: rendezvous not reached")
	s.serve(s.hosts[2])
	s.wantRefused(p)
	s.turmoil.end()
}

// wantRefused verifies that a second process of rank 2 is refused.
func (s *squad) wantRefused(p *testProcess) {
	s.Helper()
	if e := p.wait(); e.code != 138 || !namesRank(e.last(), 2) || !strings.Contains(e.last(), "started twice") {
		s.Errorf("the second process of rank 2 ended with %d and %q, want 138 and that rank 2 is taken\n%s", e.code, e.last(), e.stderr)
	}
}

// neverBack kills the rendezvous for good.
func (s *squad) neverBack() {
	s.steady()
	s.begin()
	s.kill(s.meetings[0])
	s.turmoil.end()
}

// twoMeetings starts a second rendezvous, gives it the name of the first, and makes the ranks of
// one host dial that name again. One of the two has to end, and its ranks have to go to the other.
func (s *squad) twoMeetings() {
	s.steady()
	s.begin()
	s.serve(s.hosts[3])
	s.named(s.hosts[3])
	eventually(s, patience, "a rank goes to the second rendezvous", func() bool {
		pause(6 * time.Second) // a rank reads the file again after five seconds
		if strings.Contains(s.meetings[1].stderr.String(), "goes on with generation") {
			return true
		}
		resetConnections(s, "dport = :"+meetingPort, s.hosts[1])
		return false
	})
	select {
	case <-s.meetings[0].ended:
		s.wantSuperseded(s.meetings[0])
	case <-s.meetings[1].ended:
		s.wantSuperseded(s.meetings[1])
		s.meetings[0], s.meetings[1] = s.meetings[1], s.meetings[0]
		s.named(s.hosts[2]) // else the name means a host where nobody serves, and its ranks find nobody
	case <-s.current(0).ended:
		s.Errorf("the job ended with two rendezvous, want that one ends before")
	}
	s.turmoil.end()
}

// wantSuperseded verifies that a rendezvous ended because there is another one.
func (s *squad) wantSuperseded(p *testProcess) {
	s.Helper()
	if e := p.wait(); e.code != 138 {
		s.Errorf("one of two rendezvous ended with %d, want 138\n%s", e.code, e.stderr)
	}
}

// frozen stops the rendezvous for a time.
func (s *squad) frozen(d time.Duration) {
	s.steady()
	s.begin()
	s.meetings[0].signal(syscall.SIGSTOP)
	pause(d)
	s.meetings[0].signal(syscall.SIGCONT)
	s.turmoil.end()
}

// rank0Back kills rank 0, which serves the rendezvous, and starts it again on a host that then
// has its name.
func (s *squad) rank0Back(host int) {
	s.steady()
	s.begin()
	s.kill(s.current(0))
	s.named(s.hosts[host])
	s.startOn(s.hosts[host], 0)
	s.turmoil.end()
}
