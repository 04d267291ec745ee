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

// A crew is the processes of a job under test, one for each rank, over the
// generations of their group.
type crew struct {
	t      *testing.T
	job    *job.Config
	data   records.Set
	change func(m *member) // called for each process before it runs; may be nil
	ledger ledger

	members []*member // the living one of each rank
	gone    []*member // those that were killed, in order
}

func newCrew(t *testing.T, p int, cfg *job.Config, data records.Set, change func(m *member)) *crew {
	c := &crew{t: t, job: cfg, data: data, change: change, ledger: newLedger(p), members: make([]*member, p)}
	for rank := range p {
		c.start(rank)
	}
	return c
}

// start starts a process.
func (c *crew) start(rank int) {
	m := newMember(rank, c.job, c.data, c.change)
	c.ledger.watch(m)
	var err error
	if m.trainer, err = newTrainer(m.job, m.opts, m.data); err != nil {
		c.t.Fatal(err)
	}
	c.members[rank] = m
	c.t.Cleanup(func() { m.letGo(c.t) })
}

// kill puts other processes in the places of some, which have died.
func (c *crew) kill(ranks ...int) {
	for _, rank := range ranks {
		c.gone = append(c.gone, c.members[rank])
		c.start(rank)
	}
}

// over is a generation on groups that all makes, one for each rank. A process
// whose run fails leaves the group, as one does that has died, or that goes to
// the next generation. It tells whether all went well.
func (c *crew) over(all func(rank func(g *ring.Group) error)) bool {
	c.t.Helper()
	all(func(g *ring.Group) error {
		m := c.members[g.Membership().Rank]
		m.team.Group, m.team.Link = g, "memory"
		m.result, m.err = m.trainer.Run(context.Background(), m.team)
		if m.err != nil {
			return g.Close()
		}
		return nil
	})
	return !slices.ContainsFunc(c.members, func(m *member) bool { return m.err != nil })
}

// generation is a generation over links in memory, of which some ranks' are of
// another kind.
func (c *crew) generation(odd map[int]*dying) bool {
	c.t.Helper()
	links := memlink.Ring(len(c.members))
	for rank, d := range odd {
		d.Link, links[rank] = links[rank], d
	}
	return c.over(func(rank func(g *ring.Group) error) {
		ringtest.RunOver(c.t, links, ring.DefaultConfig(), rank)
	})
}

// mustEnd is a generation that has to go well.
func (c *crew) mustEnd() []*member {
	c.t.Helper()
	c.generation(nil)
	return mustEnd(c.t, c.members)
}

// dying is the link of a rank that dies where it would send another frame after
// so many; frames -1: it lives.
type dying struct {
	ring.Link
	frames   int
	vanishes bool // what is sent to it does not come back: its host is gone
	sent     int
}

func (l *dying) Send(ctx context.Context, f ring.Frame) error {
	if l.sent == l.frames {
		if l.vanishes {
			return nil
		}
		return ringtest.ErrCut
	}
	l.sent++
	return l.Link.Send(ctx, f)
}

// A ledger is which records each rank has read for each step. What is read again
// for a step that is repeated replaces what was.
type ledger []map[int64][]int // by rank and step

func newLedger(p int) ledger {
	l := make(ledger, p)
	for rank := range l {
		l[rank] = map[int64][]int{}
	}
	return l
}

// watch has what m reads written down. It must not read ahead.
func (l ledger) watch(m *member) {
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

func (w *watched) Append(b *input.Batch, i int) error {
	if !w.begun {
		w.begun, w.of[w.step] = true, nil
	}
	w.of[w.step] = append(w.of[w.step], i)
	return w.Dataset.Append(b, i)
}

// mustBeWhole fails the test unless each record was read once in each of the
// epochs, of so many steps.
func (l ledger) mustBeWhole(t *testing.T, recs int, epochs, steps int64) {
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

// glob returns the files that fit a pattern.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
