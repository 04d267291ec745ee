package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A promServer is a server of Prometheus.
type promServer struct{ address string }

// ask asks the server's API and returns the data of the answer.
func (s promServer) ask(t *testing.T, path string, data any) error {
	t.Helper()
	answer, err := http.Get("http://" + s.address + "/api/v1/" + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	whole := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.Unmarshal(text, &whole); err != nil || whole.Status != "success" {
		return fmt.Errorf("%s: %s %s, %w", path, whole.Status, whole.Error, err)
	}
	return nil
}

// series returns how many series an expression has.
func (s promServer) series(t *testing.T, expression string) int {
	t.Helper()
	var data struct{ Result []any }
	if err := s.ask(t, "query?query="+url.QueryEscape(expression), &data); err != nil {
		t.Errorf("%s: %v", expression, err)
	}
	return len(data.Result)
}

// firing returns whether an alert fires.
func (s promServer) firing(t *testing.T, name string) bool {
	t.Helper()
	var data struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	if err := s.ask(t, "alerts", &data); err != nil {
		return false // the server is starting
	}
	for _, a := range data.Alerts {
		if a.Labels["alertname"] == name && a.State == "firing" {
			return true
		}
	}
	return false
}

// startPrometheus starts a server that scrapes target each second as the example in deploy does, with the alerts
// that are there.
func (b *box) startPrometheus(program, promtool, target string) promServer {
	b.Helper()
	example, _, _ := strings.Cut(readFile(b.T, "../../deploy/prometheus/scrape.yaml"), "\n  # Jobs of ../kubernetes")
	example = strings.NewReplacer("host-a:9400", target, "scrape_interval: 15s", "scrape_interval: 1s").Replace(example)
	b.write("alerts.yaml", readFile(b.T, "../../deploy/prometheus/alerts.yaml"))
	b.write("prometheus.yml", "global: {evaluation_interval: 1s}\nrule_files: [alerts.yaml]\n"+example)
	if e := b.startProgram(promtool, "check", "config", "prometheus.yml").wait(); e.code != 0 {
		b.Fatalf("promtool refuses the files\n%s%s", e.stdout, e.stderr)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePorts(b.T, 1)[0])
	server := b.startProgram(program, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--web.listen-address="+address)
	b.Cleanup(func() {
		server.signal(syscall.SIGTERM)
		server.wait()
	})
	return promServer{address}
}

// TestInteropPrometheus has a server of Prometheus scrape a job for a minute, in which a rank is killed and replaced. It
// verifies that the alert for a lost rank fires and none for a job that runs well, that each expression of the alerts
// and of Grafana's dashboard is answered, and that promtool and prometheus-client read what the job writes.
func TestInteropPrometheus(t *testing.T) {
	program, promtool := program(t, "prometheus", "prometheus"), program(t, "promtool", "prometheus")
	python := os.Getenv("METRICS_PYTHON")
	if python == "" {
		t.Skip("set METRICS_PYTHON to a Python with prometheus-client")
	}
	t.Parallel()
	b := newBox(t).lasting(5 * time.Minute)
	target := fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)[0])
	p := b.start(append([]string{"run", "-np", "2", "--restarts", "3", "--metrics=" + target}, endless("--set", "checkpoint.every=1s", "--set", "eval.every=2s", "--set", "optimizer.learning_rate=0.0001")...)...)
	p.await("checkpoint")
	server := b.startPrometheus(program, promtool, target)
	const lost = "RingtrainRankMissing"
	eventually(t, patience, "series of the job", func() bool {
		return server.ask(t, "labels", new([]string)) == nil && server.series(t, "changes(ringtrain_steps_total[1m]) > 2") > 0
	})
	if server.firing(t, lost) {
		t.Errorf("%s fires before a rank is lost", lost)
	}
	kill(t, b.rankPID(1), syscall.SIGKILL)
	eventually(t, patience, "the alert for a lost rank", func() bool { return server.firing(t, lost) })
	eventually(t, 2*patience, "a minute of samples", func() bool { return server.series(t, "count_over_time(ringtrain_steps_total[1m]) >= 50") > 0 })
	for _, expression := range dashboardExpressions(t) {
		if server.series(t, expression) == 0 {
			t.Errorf("nothing answers %s", expression)
		}
	}
	for _, expression := range alertExpressions(t) {
		server.series(t, expression)
	}
	for _, name := range []string{"RingtrainNoStep", "RingtrainCheckpointOld", "RingtrainLossNotFinite"} {
		if server.firing(t, name) {
			t.Errorf("%s fires for a job that runs", name)
		}
	}
	for _, kind := range []string{"text/plain", "application/openmetrics-text; version=1.0.0"} {
		b.parseMetrics(promtool, python, target, kind)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// parseMetrics verifies that prometheus-client, and promtool where it knows the format, read the metrics of a job.
func (b *box) parseMetrics(promtool, python, target, kind string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+target+"/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", kind)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.write("metrics.txt", string(text))
	parser := "prometheus_client.parser"
	if kind != "text/plain" {
		parser = "prometheus_client.openmetrics.parser"
	} else if e := b.startProgram("sh", "-c", promtool+" check metrics <metrics.txt").wait(); e.code != 0 {
		b.Errorf("promtool ends with %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	e := b.startProgram(python, "-c", "import sys\nfrom "+parser+" import text_string_to_metric_families as read\n"+
		"for f in read(open('metrics.txt').read()):\n    print(f.name, f.type, len(f.samples), bool(f.documentation))").wait()
	for _, want := range []string{"ringtrain_steps counter 1 True\n", "ringtrain_rank_busy_seconds counter 2 True\n", "ringtrain_ranks gauge 1 True\n"} {
		if !strings.Contains(e.stdout, want) {
			b.Errorf("%s reads %s, want %q\n%s", parser, e.stdout, want, e.stderr)
		}
	}
}
