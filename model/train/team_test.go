package train

import (
	"context"
	"errors"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// The jobs of most tests, and their records.
const (
	linearText = traintest.Linear
	digitsText = traintest.Digits
	clicksText = traintest.Clicks
)

var (
	linearData = traintest.LinearData
	digitsData = traintest.DigitsData
	clicksData = traintest.ClicksData
	loadText   = traintest.Load
)

// member is one rank of a job under test: its parts, which a test may change before it runs, and its
// results.
type member struct {
	rank int
	job  *job.Config // this rank's copy
	data records.Set
	opts Options
	team Team
	end  func(step int64) error // called after each step; an error ends the context of all ranks

	trainer *Trainer
	result  Result
	err     error
	stream  []report.Event
	steps   report.Sum     // of the stream
	events  []report.Event // of the stream, with the sums of log.every as the only steps and without those of the ranks
	notices []string
}

// code returns the exit code of the member's process.
func (m *member) code() int {
	if m.err == nil {
		return m.result.Stopped
	}
	return m.cause().ExitCode
}

func (m *member) cause() *ring.Cause { return ring.CauseOf(m.err, m.rank, "", m.result.Step) }

// losses returns the losses of the step events.
func (m *member) losses() []float64 {
	var l []float64
	for _, e := range eventsOf[report.Step](m) {
		l = append(l, float64(e.Loss))
	}
	return l
}

// eventsOf returns the events of one kind, in order.
func eventsOf[E report.Event](m *member) []E {
	var all []E
	for _, e := range m.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// trainOn trains a job on p ranks over links in memory. A rank that fails ends the other ranks with its
// cause, as a process does. Change is called for each rank before any of them runs; it may be nil.
func trainOn(t testing.TB, p int, cfg *job.Config, data records.Set, change func(m *member)) []*member {
	t.Helper()
	return trainBy(t, p, func(rank func(g *ring.Group) error) {
		ringtest.Run(t, p, ring.DefaultConfig(), rank)
	}, cfg, data, change)
}

// trainBy is trainOn with the groups that all makes, one for each rank.
func trainBy(t testing.TB, p int, all func(rank func(g *ring.Group) error), cfg *job.Config, data records.Set, change func(m *member)) []*member {
	t.Helper()
	members := make([]*member, p)
	for rank := range members {
		members[rank] = newMember(rank, cfg, data, change)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	all(func(g *ring.Group) error {
		m := members[g.Membership().Rank]
		m.err = errors.New("the rank has not returned")
		defer func() {
			if m.err != nil {
				cancel(m.cause())
			}
		}()
		m.team.Group, m.team.Link = g, "memory"
		if m.end != nil {
			m.team.Progress = func(step int64, _ string) {
				if err := m.end(step); err != nil {
					cancel(err)
				}
			}
		}
		if m.trainer, m.err = newTrainer(m.job, m.opts, m.data); m.err == nil {
			m.result, m.err = m.trainer.Run(ctx, m.team)
		}
		if m.result.Alone {
			return g.Close()
		}
		return nil
	})
	for _, m := range members {
		m.releaseFolder(t)
	}
	return members
}

// releaseFolder closes the history and releases the folder of checkpoints, as a process does at its end. It ignores errors,
// because a test may have broken the disk.
func (m *member) releaseFolder(t testing.TB) {
	if m.trainer == nil || m.trainer.outputs.folder == nil {
		return
	}
	if err := errors.Join(m.trainer.reporter.closeHistory(), m.trainer.outputs.folder.Close()); err != nil {
		t.Log(err)
	}
}

// newMember returns a process that trains a job as one rank.
func newMember(rank int, cfg *job.Config, data records.Set, change func(m *member)) *member {
	own := *cfg
	m := &member{rank: rank, job: &own, data: data}
	m.opts = Options{
		Resume: "auto", Version: "test",
		Trace:  m.trace,
		Notice: func(line string) { m.notices = append(m.notices, line) },
	}
	if change != nil {
		change(m)
	}
	return m
}

// trace receives an event of the stream.
func (m *member) trace(e report.Event) {
	m.stream = append(m.stream, e)
	switch step := e.(type) {
	case report.Ranks:
		return
	case report.Step:
		sum, due := m.steps.Add(step)
		if !due {
			return
		}
		e = sum
	}
	m.events = append(m.events, e)
}

// mustTrain is trainOn for a run that must succeed.
func mustTrain(t testing.TB, p int, cfg *job.Config, data records.Set, change func(m *member)) []*member {
	t.Helper()
	return mustEnd(t, trainOn(t, p, cfg, data, change))
}

// mustEnd fails the test unless all ranks succeeded with the same result.
func mustEnd(t testing.TB, members []*member) []*member {
	t.Helper()
	for _, m := range members {
		if m.err != nil {
			t.Fatalf("rank %d of %d: %v", m.rank, len(members), m.err)
		}
		if m.result != members[0].result {
			t.Fatalf("rank %d ended with %+v, rank 0 with %+v", m.rank, m.result, members[0].result)
		}
	}
	return members
}

// stopAfter has all ranks told to stop with the code while the rank works on its n-th step.
func (m *member) stopAfter(n, code int) { m.team.Stop = m.signalAfter(n, code) }

// signalAfter returns a context that a signal with the code ends while m works on its n-th step.
func (m *member) signalAfter(n, code int) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	asks, asked := m.opts.Checkpoint, 0
	m.opts.Checkpoint = func() bool { // is called once a step
		if asked++; asked == n {
			cancel(exitcode.With(code, errors.New("stopped by a signal")))
		}
		return asks != nil && asks()
	}
	return ctx
}
