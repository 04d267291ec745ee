package serving

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
)

// Metrics counts what a server does. The first ones have TensorFlow Serving's names and units, which
// are microseconds; ringtrain's own are by version and signature, in seconds and bytes.
type Metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec   // by model and status
	latency  *prometheus.HistogramVec // by model, API and protocol
	runtime  *prometheus.HistogramVec // by model and API
	examples *prometheus.HistogramVec // by model
	total    *prometheus.CounterVec   // examples, by model
	queuing  *prometheus.HistogramVec // by model
	warmup   *prometheus.HistogramVec // by folder and status

	waited  *prometheus.HistogramVec // these by model, version and signature
	batches *prometheus.HistogramVec
	load    *prometheus.GaugeVec // these by model and version
	mapped  *prometheus.GaugeVec
}

// NewMetrics returns metrics of a server with these cores.
func NewMetrics(c *Cores) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	with := promauto.With(registry)
	with.NewGaugeFunc(prometheus.GaugeOpts{Name: "ringtrain_serving_waiting_requests", Help: "Requests that wait for a core."},
		func() float64 { return float64(c.Waiting()) })
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return with.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return with.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return with.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"model_name", "version"})
	}
	micros, powers := prometheus.ExponentialBuckets(10, 1.8, 33), prometheus.ExponentialBuckets(1, 2, 15)
	seconds := prometheus.ExponentialBuckets(1e-5, 4, 12)
	return &Metrics{
		registry: registry,
		requests: counter(":tensorflow:serving:request_count", "The total number of requests.", "model_name", "status"),
		latency:  histogram(":tensorflow:serving:request_latency", "Microseconds of a request that has its answer.", micros, "model_name", "API", "entrypoint"),
		runtime:  histogram(":tensorflow:serving:runtime_latency", "Microseconds of a run of the graph.", micros, "model_name", "API", "runtime"),
		examples: histogram(":tensorflow:serving:request_example_counts", "tf.Examples of a request.", powers, "model"),
		total:    counter(":tensorflow:serving:request_example_count_total", "The total number of tf.Examples.", "model"),
		queuing:  histogram(":tensorflow:serving:batching_session:queuing_latency", "Microseconds that a request waits for a core.", micros, "thread_pool_name"),
		warmup:   histogram(":tensorflow:serving:model_warmup_latency", "Microseconds of the warm-up of a version.", micros, "model_path", "status"),
		waited:   histogram("ringtrain_serving_queue_seconds", "Time that a request waits for a core.", seconds, "model_name", "version", "signature"),
		batches:  histogram("ringtrain_serving_batch_records", "Records that are computed together.", powers, "model_name", "version", "signature"),
		load:     gauge("ringtrain_serving_load_seconds", "Time that a version took to load and to warm up."),
		mapped:   gauge("ringtrain_serving_mapped_bytes", "Bytes of variables that are mapped from the files."),
	}
}

// Handler returns the page of the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// answered counts a request. A name that is no model's must not make a metric of its own.
func (m *Metrics) answered(model, api, entrypoint string, began time.Time, err error) {
	code := status.Code(err)
	if code == codes.NotFound {
		model = ""
	}
	m.requests.WithLabelValues(model, servingpb.Code_name[int32(code)]).Inc()
	if code == codes.OK {
		m.latency.WithLabelValues(model, api, entrypoint).Observe(microseconds(time.Since(began)))
	}
}

// warmed counts the warm-up of a version.
func (m *Metrics) warmed(path string, took time.Duration, err error) {
	m.warmup.WithLabelValues(path, servingpb.Code_name[int32(status.Code(err))]).Observe(microseconds(took))
}

// loaded sets the metrics of a version that answers requests.
func (m *Metrics) loaded(v *Version) {
	number := strconv.FormatInt(v.Number, 10)
	m.load.WithLabelValues(v.Name, number).Set(v.Took.Seconds())
	m.mapped.WithLabelValues(v.Name, number).Set(float64(v.Model.Mapped))
}

// dropped removes the metrics of a version that is gone.
func (m *Metrics) dropped(v *Version) {
	labels := prometheus.Labels{"model_name": v.Name, "version": strconv.FormatInt(v.Number, 10)}
	for _, of := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.waited, m.batches, m.load, m.mapped} {
		of.DeletePartialMatch(labels)
	}
}

// meters are the metrics of a lane.
type meters struct {
	waited, queuing, batches, runtime prometheus.Observer
	examples                          prometheus.Observer // nil of a lane that takes no examples
	total                             prometheus.Counter
}

// of returns the metrics of a signature of a version.
func (m *Metrics) of(model string, version int64, s interpreter.Signature) meters {
	number := strconv.FormatInt(version, 10)
	all := meters{
		waited:  m.waited.WithLabelValues(model, number, s.Name),
		queuing: m.queuing.WithLabelValues(model),
		batches: m.batches.WithLabelValues(model, number, s.Name),
		runtime: m.runtime.WithLabelValues(model, api(s.Method), "ringtrain"),
	}
	if s.Features != nil {
		all.examples, all.total = m.examples.WithLabelValues(model), m.total.WithLabelValues(model)
	}
	return all
}

// api returns the word of TensorFlow Serving for the requests of a method.
func api(method string) string {
	for api, m := range methods {
		if m.name == method {
			return api
		}
	}
	return "Predict"
}

// began counts a batch that has a core.
func (m *meters) began(batch []*request, now time.Time) {
	records := 0
	for _, r := range batch {
		waited := now.Sub(r.arrived)
		m.waited.Observe(waited.Seconds())
		m.queuing.Observe(microseconds(waited))
		n := r.size()
		records += n
		if m.examples != nil {
			m.examples.Observe(float64(n))
			m.total.Add(float64(n))
		}
	}
	m.batches.Observe(float64(records))
}

// ran counts a run of the graph.
func (m *meters) ran(took time.Duration) { m.runtime.Observe(microseconds(took)) }

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
