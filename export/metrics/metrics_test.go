package metrics

import (
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// scrape returns the metrics as a server of Prometheus reads them: values by series.
func scrape(t *testing.T, m *Metrics) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("answer %d, %v: %s", w.Code, err, text)
	}
	series := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at := strings.LastIndexByte(line, '}'); at > 0 {
			name, value = line[:at+1], strings.TrimSpace(line[at+1:])
		}
		series[strings.TrimPrefix(name, "ringtrain_")] = value
	}
	return series
}

// send gives m events of one moment.
func send(m *Metrics, events ...report.Event) {
	for _, e := range events {
		m.Event(report.Stamped{Event: e, Time: time.UnixMilli(1_700_000_000_500)})
	}
}

// want verifies values of series.
func want(t *testing.T, m *Metrics, values map[string]string) {
	t.Helper()
	got := scrape(t, m)
	for name, value := range values {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}

func loads(hosts ...string) report.Ranks {
	var e report.Ranks
	for rank, host := range hosts {
		e.Ranks = append(e.Ranks, report.RankLoad{Rank: rank, Host: host, Load: report.Load{Busy: report.Seconds(time.Second), Waited: report.Seconds(time.Second / 2), Sent: 100, RSS: 1 << 20}})
	}
	return e
}

// TestMetrics verifies the series that each event of a run changes.
func TestMetrics(t *testing.T) {
	m := New("1.2")
	send(m, report.Waiting{Present: 1, WorldSize: 2})
	want(t, m, map[string]string{"build_info{version=\"1.2\"}": "1", "ranks": "2", "ranks_present": "1", "steps_total": "0", "checkpoint_last_success_timestamp_seconds": "0"})
	second := report.Seconds(time.Second)
	send(m, report.Start{Generation: 1, WorldSize: 2, RestoredStep: 40},
		report.Step{Step: 50, Examples: 1000, Loss: 0.5, LearningRate: 0.25, Input: second, Compute: 3 * second, Update: second, Reduce: 9 * second, Exposed: 2 * second},
		report.Metrics{Split: "eval", Loss: 0.75, Accuracy: report.NewNumber(0.5), AUC: report.NewNumber(math.NaN())},
		report.Metrics{Split: "eval", Name: "june", Loss: 1}, report.Checkpointed{}, report.Warning{}, loads("a", "b"))
	want(t, m, map[string]string{
		"ranks_present": "2", "generation": "1", "steps_total": "10", "examples_total": "1000", "loss": "0.5", "learning_rate": "0.25",
		`step_phase_seconds_total{phase="input"}`: "1", `step_phase_seconds_total{phase="compute"}`: "2", `step_phase_seconds_total{phase="update"}`: "1", `step_phase_seconds_total{phase="exchange"}`: "2",
		`eval{metric="loss",split="eval"}`: "0.75", `eval{metric="accuracy",split="eval"}`: "0.5", `eval{metric="auc",split="eval"}`: "NaN", `eval{metric="loss",split="june"}`: "1",
		"checkpoints_total": "1", "checkpoint_last_success_timestamp_seconds": "1.7000000005e+09", "warnings_total": "1",
		`rank_busy_seconds_total{host="b",rank="1"}`: "1", `rank_waited_seconds_total{host="b",rank="1"}`: "0.5", `rank_sent_bytes_total{host="b",rank="1"}`: "100", `rank_resident_memory_bytes{host="b",rank="1"}`: "1.048576e+06",
	})
	m.Present(1)
	want(t, m, map[string]string{"ranks": "2", "ranks_present": "1"})
}

// TestCountersNeverFall verifies that counters go on where steps are repeated, and where a rank moves to
// another host, and that they catch up where an event has left a rank out.
func TestCountersNeverFall(t *testing.T) {
	m := New("1")
	send(m, report.Start{Generation: 1, WorldSize: 2}, report.Step{Step: 100, Examples: 10}, loads("a", "b"))
	send(m, report.Generation{Generation: 2, WorldSize: 2, Lost: []int{1}, RestoredStep: 60, StepsRepeated: 40}, report.Step{Step: 110, Examples: 5}, loads("a", "c"))
	want(t, m, map[string]string{
		"steps_total": "150", "examples_total": "15", "restarts_total": "1", "generation": "2",
		`rank_sent_bytes_total{host="a",rank="0"}`: "200", `rank_sent_bytes_total{host="b",rank="1"}`: "100", `rank_sent_bytes_total{host="c",rank="1"}`: "100",
		`rank_resident_memory_bytes{host="b",rank="1"}`: "", `rank_resident_memory_bytes{host="c",rank="1"}`: "1.048576e+06",
	})
	send(m, report.Step{Step: 20, Examples: -4, Input: report.Seconds(-time.Second)})
	want(t, m, map[string]string{"steps_total": "150", "examples_total": "15"})
	again := loads("a")
	again.Ranks[0].Missed = &report.Load{Busy: report.Seconds(time.Second), Sent: 23}
	send(m, again)
	want(t, m, map[string]string{`rank_busy_seconds_total{host="a",rank="0"}`: "4", `rank_sent_bytes_total{host="a",rank="0"}`: "323"})
}

// TestForeignNames verifies that names of hosts and evaluations that are no UTF-8 or have quotes and
// newlines are values of labels like others.
func TestForeignNames(t *testing.T) {
	m := New("1")
	send(m, loads("a\xff\"\n"), report.Metrics{Name: "\xfe"})
	want(t, m, map[string]string{`rank_sent_bytes_total{host="a�\"\n",rank="0"}`: "100", `eval{metric="loss",split="�"}`: "0"})
}

// TestOpenMetrics verifies that a reader who asks for OpenMetrics gets it whole.
func TestOpenMetrics(t *testing.T) {
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	New("1").Handler().ServeHTTP(w, r)
	if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/openmetrics-text") || !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		t.Errorf("the answer is %s: %s", kind, w.Body)
	}
}
