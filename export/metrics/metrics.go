package metrics

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"ringtrain/model/train/report"
)

// Metrics has the sums of the events of a run. Several goroutines may call its methods.
type Metrics struct {
	registry *prometheus.Registry
	mu       sync.Mutex // locked while an event is counted, and while a scrape gathers
	step     int64      // of the newest event

	steps, examples, restarts, checkpoints, warnings prometheus.Counter

	ranks, present, generation, loss, rate, saved prometheus.Gauge

	phases             *prometheus.CounterVec // by phase
	evals              *prometheus.GaugeVec   // by metric and split
	busy, waited, sent *prometheus.CounterVec // by rank and host
	memory             *prometheus.GaugeVec   // by rank and host
}

// New returns the metrics of a run of a version of ringtrain.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	with := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return with.NewCounterVec(prometheus.CounterOpts{Name: "ringtrain_" + name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return with.NewGaugeVec(prometheus.GaugeOpts{Name: "ringtrain_" + name, Help: help}, labels)
	}
	gauge("build_info", "1, by the version of ringtrain.", "version").WithLabelValues(version).Set(1)
	return &Metrics{
		registry:    registry,
		steps:       counter("steps_total", "Steps that were done, also those that were repeated.").WithLabelValues(),
		examples:    counter("examples_total", "Examples of these steps, over all ranks.").WithLabelValues(),
		restarts:    counter("restarts_total", "Ranks that were lost and replaced.").WithLabelValues(),
		checkpoints: counter("checkpoints_total", "Checkpoints that were written.").WithLabelValues(),
		warnings:    counter("warnings_total", "Warnings of the run.").WithLabelValues(),
		ranks:       gauge("ranks", "Ranks of the job.").WithLabelValues(),
		present:     gauge("ranks_present", "Ranks that are there.").WithLabelValues(),
		generation:  gauge("generation", "Number of the generation of ranks.").WithLabelValues(),
		loss:        gauge("loss", "Mean training loss of an example in the newest steps.").WithLabelValues(),
		rate:        gauge("learning_rate", "Learning rate of the newest step.").WithLabelValues(),
		saved:       gauge("checkpoint_last_success_timestamp_seconds", "Unix time of the newest checkpoint, 0 before the first.").WithLabelValues(),
		phases:      counter("step_phase_seconds_total", "Time of rank 0's steps: input, compute (without the update), update, exchange (waiting for it).", "phase"),
		evals:       gauge("eval", "Result of the newest evaluation.", "metric", "split"),
		busy:        counter("rank_busy_seconds_total", "Time in which a rank read and computed.", "rank", "host"),
		waited:      counter("rank_waited_seconds_total", "Time in which a rank waited for the exchange.", "rank", "host"),
		sent:        counter("rank_sent_bytes_total", "Bytes that a rank sent, headers included.", "rank", "host"),
		memory:      gauge("rank_resident_memory_bytes", "Resident memory of a rank.", "rank", "host"),
	}
}

// Handler answers with the metrics, of whole events.
func (m *Metrics) Handler() http.Handler {
	whole := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.registry.Gather()
	})
	return promhttp.HandlerFor(whole, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Event counts an event.
func (m *Metrics) Event(s report.Stamped) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e := s.Event.(type) {
	case report.Waiting:
		m.ranks.Set(float64(e.WorldSize))
		m.present.Set(float64(e.Present))
	case report.Start:
		m.begin(e.Generation, e.WorldSize, e.RestoredStep)
	case report.Generation:
		m.begin(e.Generation, e.WorldSize, e.RestoredStep)
		add(m.restarts, len(e.Lost))
	case report.Step:
		m.stepped(e)
	case report.Ranks:
		m.loads(e.Ranks)
	case report.Metrics:
		m.evaluated(e)
	case report.Checkpointed:
		m.checkpoints.Inc()
		m.saved.Set(float64(s.Time.UnixMilli()) / 1e3)
	case report.Warning:
		m.warnings.Inc()
	}
}

// Present sets how many ranks are there, by the word of the rendezvous.
func (m *Metrics) Present(ranks int) { m.present.Set(float64(ranks)) }

// begin begins a generation after a step.
func (m *Metrics) begin(generation uint64, worldSize int, step int64) {
	m.step = step
	m.generation.Set(float64(generation))
	m.ranks.Set(float64(worldSize))
	m.present.Set(float64(worldSize))
}

// stepped counts the steps of an event.
func (m *Metrics) stepped(e report.Step) {
	add(m.steps, e.Step-m.step)
	m.step = e.Step
	add(m.examples, e.Examples)
	m.loss.Set(float64(e.Loss))
	m.rate.Set(float64(e.LearningRate))
	for _, part := range []struct {
		phase string
		took  report.Seconds
	}{{"input", e.Input}, {"compute", e.Compute - e.Update}, {"update", e.Update}, {"exchange", e.Exposed}} {
		add(m.phases.WithLabelValues(part.phase), seconds(part.took))
	}
}

// evaluated sets the results of an evaluation. The records of an item of input.evals are a split by its
// name.
func (m *Metrics) evaluated(e report.Metrics) {
	split := e.Split
	if e.Name != "" {
		split = strings.ToValidUTF8(e.Name, "�")
	}
	for _, n := range e.Numbers() {
		m.evals.WithLabelValues(n.Name, split).Set(float64(n.Value))
	}
}

// loads counts what ranks did. A rank that has moved to another host has a memory there alone.
func (m *Metrics) loads(ranks []report.RankLoad) {
	m.memory.Reset()
	for _, r := range ranks {
		rank, host := strconv.Itoa(r.Rank), strings.ToValidUTF8(r.Host, "�")
		missed := r.Missed
		if missed == nil {
			missed = &report.Load{}
		}
		add(m.busy.WithLabelValues(rank, host), seconds(r.Busy+missed.Busy))
		add(m.waited.WithLabelValues(rank, host), seconds(r.Waited+missed.Waited))
		add(m.sent.WithLabelValues(rank, host), r.Sent+missed.Sent)
		m.memory.WithLabelValues(rank, host).Set(float64(r.RSS))
	}
}

// add adds to a counter what it can count: nothing that is negative or no number.
func add[N int | int64 | float64](c prometheus.Counter, n N) {
	if n > 0 {
		c.Add(float64(n))
	}
}

func seconds(s report.Seconds) float64 { return float64(s) / 1e9 }
