package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

// hostile is a name and a text that must stay text.
const hostile = `</script><script>document.title="broken"</script><img src=x onerror="document.title='broken'">`

// maker makes the events of a run that never was, second by second.
type maker struct {
	rnd    *rand.Rand
	at     time.Time
	events []report.Stamped
	step   int64
	start  report.Start
	slow   int // the rank that the others wait for, -1 for none
}

func newMaker(seed uint64, job string, ranks, hosts int) *maker {
	m := &maker{rnd: rand.New(rand.NewPCG(seed, 1)), at: time.Date(2026, 11, 26, 14, 3, 0, 0, time.UTC), slow: -1}
	m.start = report.Start{
		Job: job, JobID: fmt.Sprintf("%s-%d", job, seed), Version: "1.0.0", WorldSize: ranks, Hosts: hosts, Generation: 1,
		Codec: "int8", Link: "tcp", Levels: "two", Algorithm: "ring", Seed: 1, GlobalBatch: 100, Variables: 2, Parameters: 7850,
		Cores: 2, Kernels: "avx2", Model: "softmax", Records: 60000, EvalRecords: 10000, Epochs: 5, Steps: 3000,
		CheckpointDir: "ckpt/" + job, Options: map[string]string{"optimizer.learning_rate": "0.01", "input.batch": "100", "name": job},
	}
	m.add(m.start)
	m.add(report.Decision{What: "codec", Choice: "int8", Why: "the wire between hosts is the slowest part", Predicted: report.Seconds(2e6), Achieved: report.Seconds(2100000)})
	return m
}

func (m *maker) add(e report.Event) {
	m.events = append(m.events, report.Stamped{Event: e, Time: m.at})
}

// end moves all events, so that the last one is at a time.
func (m *maker) end(at time.Time) {
	for i := range m.events {
		m.events[i].Time = m.events[i].Time.Add(at.Sub(m.at))
	}
	m.at = at
}

// train adds n step events of the given distance, an evaluation every tenth of the run, and ranks each second.
func (m *maker) train(n int, steps int64, apart time.Duration) {
	var since time.Duration
	for range n {
		m.at, m.step, since = m.at.Add(apart), m.step+steps, since+apart
		m.add(m.steps(steps, apart))
		if since >= time.Second {
			m.add(m.ranks(since))
			since = 0
		}
		if m.step%(m.start.Steps/10) < steps {
			m.add(m.eval())
		}
	}
}

func (m *maker) steps(steps int64, apart time.Duration) report.Step {
	part := func(share float64) report.Seconds {
		return report.Seconds(float64(apart) * share * (0.9 + 0.2*m.rnd.Float64()))
	}
	e := report.Step{
		Step: m.step, Steps: m.start.Steps, Epoch: 1 + m.step/600, Examples: 100 * steps, Interval: report.Seconds(apart),
		Loss:         report.Number(2.3/(1+float64(m.step)/150) + 0.25 + 0.03*m.rnd.NormFloat64()),
		LearningRate: report.Number(0.005 * (1 + math.Cos(math.Pi*float64(m.step)/float64(m.start.Steps)))),
		ExamplesPerS: float64(100*steps) / apart.Seconds(), Compute: part(0.4), Update: part(0.05), Input: part(0.15), Reduce: part(0.5), Exposed: part(0.35),
		Left: report.Seconds(time.Duration(m.start.Steps-m.step) * apart / time.Duration(steps)),
	}
	if m.slow >= 0 {
		e.Straggler = &report.Straggler{Rank: m.slow, Host: m.host(m.slow), Share: 0.41}
	}
	return e
}

func (m *maker) host(rank int) string {
	return fmt.Sprintf("host-%c", 'a'+rank*m.start.Hosts/m.start.WorldSize)
}

func (m *maker) ranks(interval time.Duration) report.Ranks {
	e := report.Ranks{Step: m.step, Interval: report.Seconds(interval)}
	for rank := range m.start.WorldSize {
		busy := 0.5 + 0.04*m.rnd.Float64()
		if rank == m.slow {
			busy = 0.93
		}
		e.Ranks = append(e.Ranks, report.RankLoad{Rank: rank, Host: m.host(rank), Load: report.Load{
			Busy: report.Seconds(float64(interval) * busy), Waited: report.Seconds(float64(interval) * (0.98 - busy)),
			Sent: int64(12e6 * interval.Seconds() * (0.9 + 0.2*m.rnd.Float64())), RSS: 210<<20 + int64(rank)<<20,
		}})
	}
	return e
}

// eval makes an evaluation of ten classes with their confusion matrix.
func (m *maker) eval() report.Metrics {
	accuracy := 0.93 - 0.8*math.Exp(-float64(m.step)/300)
	e := report.Metrics{
		Step: m.step, Epoch: 1 + m.step/600, Split: "eval", Examples: 10000, Loss: report.Number(2.3/(1+float64(m.step)/150) + 0.26),
		Accuracy: report.NewNumber(accuracy), LogLoss: report.NewNumber(2.3/(1+float64(m.step)/150) + 0.26),
		Baseline: &report.Baseline{Accuracy: report.NewNumber(0.1135), LogLoss: report.NewNumber(2.3008)},
	}
	for class := range 10 {
		row := make([]int64, 10)
		for i := range row {
			row[i] = m.rnd.Int64N(20)
		}
		row[class] = 900 + m.rnd.Int64N(80)
		e.Confusion = append(e.Confusion, row)
	}
	return e
}

// binary makes an evaluation of two classes with calibration.
func (m *maker) binary() report.Metrics {
	e := report.Metrics{
		Step: m.step, Epoch: 1, Split: "eval", Examples: 4000, Loss: 0.33, Accuracy: report.NewNumber(0.85), AUC: report.NewNumber(0.906),
		LogLoss: report.NewNumber(0.33), Baseline: &report.Baseline{Accuracy: report.NewNumber(0.76), AUC: report.NewNumber(0.5)},
		Classes: []string{"no", hostile}, Confusion: [][]int64{{2800, 240}, {360, 600}},
	}
	for i := range 10 {
		low := float64(i) / 10
		e.Buckets = append(e.Buckets, report.CalibrationBucket{From: report.Number(low), To: report.Number(low + 0.1), Examples: int64(900 - 80*i),
			Predicted: report.Number(low + 0.05), Observed: report.Number(low + 0.05 + 0.03*m.rnd.NormFloat64())})
	}
	return e
}

func (m *maker) checkpoint() {
	m.add(report.Checkpointed{Step: m.step, Path: fmt.Sprintf("ckpt/%s/step-%06d", m.start.Job, m.step), Bytes: 64 << 10, Took: report.Seconds(30e6)})
}

func (m *maker) done() {
	m.checkpoint()
	m.add(report.Exported{Step: m.step, Path: "export/" + m.start.Job + "/1", Format: "savedmodel", Verified: 1000, Of: 1000, MaxDifference: 1e-7, How: "graph run"})
	e := m.eval()
	m.add(report.Done{Steps: m.step, Epochs: 5, Examples: 100 * m.step, Took: report.Seconds(m.at.Sub(m.events[0].Time)), ExamplesPerS: 29700, Loss: 0.27, Eval: &e})
}

// resume begins another attempt from a step, some time after the last event.
func (m *maker) resume(step int64, after time.Duration) {
	m.at, m.step = m.at.Add(after), step
	m.start.RestoredStep, m.start.JobID = step, m.start.JobID+"b"
	m.add(m.start)
}

func (m *maker) run(name string, running bool) *history.Run {
	return &history.Run{Name: name, Events: m.events, Running: running}
}

// made has histories of each kind, by name.
func made() map[string][]*history.Run {
	all := map[string][]*history.Run{}

	m := newMaker(1, "mnist", 4, 2)
	m.slow = 3
	m.train(100, 30, 100*time.Millisecond)
	m.done()
	all["finished"] = []*history.Run{m.run("mnist", false)}

	m = newMaker(2, "mnist", 4, 2)
	m.train(30, 30, 500*time.Millisecond)
	m.checkpoint()
	m.add(report.Warning{Rank: 2, Host: "host-b", Step: m.step, Operation: "summary", Cause: "no space left on device", ExitCode: 74})
	m.train(10, 30, 500*time.Millisecond)
	m.add(report.Failure{Rank: 2, Host: "host-b", Step: m.step, Cause: "lost (silent for 5s)", ExitCode: 138})
	all["failed"] = []*history.Run{m.run("mnist", false)}

	m = newMaker(3, "mnist", 4, 1)
	m.train(60, 20, time.Second)
	all["running"] = []*history.Run{m.run("mnist", true)}
	all["silent"] = []*history.Run{m.run("mnist", false)}

	m = newMaker(4, "mnist", 4, 2)
	m.train(40, 30, time.Second)
	m.checkpoint()
	m.train(20, 30, time.Second)
	m.at = m.at.Add(6 * time.Second)
	m.add(report.Generation{Generation: 2, WorldSize: 4, Lost: []int{2}, Cause: "rank 2 on host-b at step 1800: lost (silent for 5s)", RestoredStep: m.step})
	m.train(5, 30, time.Second)
	m.resume(1200, 20*time.Hour)
	m.train(60, 30, time.Second)
	m.done()
	all["resumed"] = []*history.Run{m.run("mnist", false)}

	a, b := newMaker(5, "mnist", 4, 2), newMaker(6, "mnist", 2, 1)
	b.start.Options = map[string]string{"optimizer.learning_rate": "0.02", "input.batch": "100", "train.seed": "2"}
	b.start.Codec = "none"
	b.events[0].Event = b.start
	for _, m := range []*maker{a, b} {
		m.train(100, 30, time.Duration(80+10*m.start.WorldSize)*time.Millisecond)
		m.done()
	}
	all["two"] = []*history.Run{a.run("mnist", false), b.run("mnist", false)}

	m = newMaker(7, "many", 20, 4)
	m.slow = 13
	m.train(60, 25, time.Second)
	all["twenty"] = []*history.Run{m.run("many", true)}

	m = newMaker(8, hostile, 2, 2)
	m.start.Options[hostile] = hostile
	m.train(20, 30, time.Second)
	m.add(m.binary())
	for _, e := range m.events {
		if r, ok := e.Event.(report.Ranks); ok {
			r.Ranks[1].Host = hostile
		}
	}
	m.add(report.Warning{Rank: 1, Host: hostile, Cause: hostile})
	for _, name := range []string{hostile, "__proto__", "constructor"} {
		m.add(report.Unknown{Name: name})
	}
	m.add(report.Failure{Rank: 1, Host: hostile, Step: m.step, Cause: hostile, ExitCode: 1})
	all["hostile"] = []*history.Run{m.run(hostile, false)}

	m = newMaker(9, "empty", 2, 1)
	all["empty"] = []*history.Run{m.run("empty", false)}

	// A minute, at the distance of a history: the size of its report is bounded.
	m = newMaker(10, "minute", 4, 2)
	m.start.Steps = 120000
	for gone := time.Duration(0); gone < time.Minute; {
		apart := max(20*time.Millisecond, gone/500)
		m.train(1, max(1, int64(apart/(500*time.Microsecond))), apart)
		gone += apart
		if len(m.events)%25 == 0 && gone > 2*time.Second {
			m.add(m.ranks(time.Second))
		}
	}
	m.done()
	all["minute"] = []*history.Run{m.run("minute", false)}
	return all
}
