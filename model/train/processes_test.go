package train

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// processes are the processes of a job under test, one for each rank, over the generations of their
// group.
type processes struct {
	t       *testing.T
	job     *job.Config
	data    records.Set
	change  func(m *member) // called for each process before it runs; may be nil
	readLog readLog

	members []*member // living process of each rank
	killed  []*member // in the order of their kills
}

func newProcesses(t *testing.T, p int, cfg *job.Config, data records.Set, change func(m *member)) *processes {
	c := &processes{t: t, job: cfg, data: data, change: change, readLog: newReadLog(p), members: make([]*member, p)}
	for rank := range p {
		c.start(rank)
	}
	return c
}

// start starts the process of a rank.
func (p *processes) start(rank int) {
	m := newMember(rank, p.job, p.data, p.change)
	p.readLog.watch(m)
	var err error
	if m.trainer, err = newTrainer(m.job, m.opts, m.data); err != nil {
		p.t.Fatal(err)
	}
	p.members[rank] = m
	p.t.Cleanup(func() { m.releaseFolder(p.t) })
}

// kill replaces the processes of ranks by new ones.
func (p *processes) kill(ranks ...int) {
	for _, rank := range ranks {
		p.killed = append(p.killed, p.members[rank])
		p.start(rank)
	}
}

// runGeneration runs one generation on the groups that all makes, one for each rank. A process whose
// run fails leaves the group, as a dead process does, or one that joins the next generation. It reports
// whether all ranks succeeded.
func (p *processes) runGeneration(all func(rank func(g *ring.Group) error)) bool {
	p.t.Helper()
	all(func(g *ring.Group) error {
		m := p.members[g.Membership().Rank]
		m.team.Group, m.team.Link = g, "memory"
		m.result, m.err = m.trainer.Run(context.Background(), m.team)
		if m.err != nil || m.result.Alone {
			return g.Close()
		}
		return nil
	})
	return !slices.ContainsFunc(p.members, func(m *member) bool { return m.err != nil })
}

// runInMemory runs one generation over links in memory. The ranks of odd have other links.
func (p *processes) runInMemory(odd map[int]*killedLink) bool {
	p.t.Helper()
	links := memlink.Ring(len(p.members))
	for rank, d := range odd {
		d.Link, links[rank] = links[rank], d
	}
	return p.runGeneration(func(rank func(g *ring.Group) error) {
		ringtest.RunOver(p.t, links, ring.DefaultConfig(), rank)
	})
}

// mustEnd runs one generation over links in memory, which must succeed.
func (p *processes) mustEnd() []*member {
	p.t.Helper()
	p.runInMemory(nil)
	return mustEnd(p.t, p.members)
}

// killedLink is the link of a rank that dies before it sends its next frame, after a number of frames;
// frames -1: it lives.
type killedLink struct {
	ring.Link
	frames   int
	vanishes bool // frames to the rank get no error: its host is gone
	sent     int
}

func (l *killedLink) Send(ctx context.Context, f ring.Frame) error {
	if l.sent == l.frames {
		if l.vanishes {
			return nil
		}
		return ringtest.ErrCut
	}
	l.sent++
	return l.Link.Send(ctx, f)
}

// A readLog holds the records that each rank has read for each step. The records of a repeated step
// replace those of the first attempt.
type readLog []map[int64][]int // by rank and step

func newReadLog(p int) readLog {
	l := make(readLog, p)
	for rank := range l {
		l[rank] = map[int64][]int{}
	}
	return l
}

// watch logs the records that m reads. m must not read ahead.
func (l readLog) watch(m *member) {
	w := &watched{Dataset: m.data.Train, of: l[m.rank], step: 1}
	m.data.Train, m.job.Input.Prefetch = w, 0
	next := m.team.Progress
	m.team.Progress = func(step int64, phase string) {
		w.step, w.begun = step+1, false
		if next != nil {
			next(step, phase)
		}
	}
}

type watched struct {
	input.Dataset
	of    map[int64][]int
	step  int64 // that is under way
	begun bool
}

func (w *watched) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, w.append)
}

func (w *watched) append(b *input.Batch, i int) error {
	if !w.begun {
		w.begun, w.of[w.step] = true, nil
	}
	w.of[w.step] = append(w.of[w.step], i)
	return w.Dataset.Append(b, i)
}

// mustBeComplete fails the test unless each record was read once in each of the epochs, of so many
// steps.
func (l readLog) mustBeComplete(t *testing.T, recs int, epochs, steps int64) {
	t.Helper()
	for epoch := range epochs {
		read := make([]int, recs)
		for step := epoch*steps + 1; step <= (epoch+1)*steps; step++ {
			for _, of := range l {
				for _, i := range of[step] {
					read[i]++
				}
			}
		}
		for i, n := range read {
			if n != 1 {
				t.Fatalf("record %d was used %d times in epoch %d, want once", i, n, epoch)
			}
		}
	}
}

// glob returns the files that match a pattern.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
