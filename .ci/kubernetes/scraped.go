package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// scraped has Prometheus find the job by the annotations of its Service, as deploy/prometheus/scrape.yaml says. Debian's
// Prometheus is built without discovery in Kubernetes: it gets the labels that the discovery would make, and relabels them.
func scraped(t *trial) (r result, err error) {
	if err := t.train(endless()); err != nil {
		return r, err
	}
	if _, err := t.steps(1); err != nil {
		return r, err
	}
	var targets []map[string]any
	err = t.await(patience, "endpoint of the metrics", func() bool {
		targets, err = t.discover()
		return err == nil && len(targets) > 0
	})
	if err != nil {
		return r, err
	}
	server, err := t.prometheus(targets)
	if err != nil {
		return r, err
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	expression := fmt.Sprintf(`increase(ringtrain_steps_total{instance="%s/mnist"}[10s]) > 0`, t.space)
	if err := t.await(patience, "series of the job in Prometheus", func() bool { return series(expression) == 1 }); err != nil {
		return r, err
	}
	return result{shows: fmt.Sprintf("Running; %d target of %d endpoints, %s/mnist", series("up"), len(targets), t.space)}, nil
}

// other matches what a label's name cannot have.
var other = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// discover returns the targets of the namespace as Prometheus' role endpointslice makes them: one for each address and port.
func (t *trial) discover() (targets []map[string]any, err error) {
	services, err := t.api.CoreV1().Services(t.space).List(t.ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, service := range services.Items {
		of := meta.ListOptions{LabelSelector: discovery.LabelServiceName + "=" + service.Name}
		slices, err := t.api.DiscoveryV1().EndpointSlices(t.space).List(t.ctx, of)
		if err != nil {
			return nil, err
		}
		for _, slice := range slices.Items {
			for _, end := range slice.Endpoints {
				labels, err := t.labels(service, end)
				if err != nil {
					return nil, err
				}
				for _, port := range slice.Ports {
					targets = append(targets, map[string]any{"targets": []string{fmt.Sprintf("%s:%d", end.Addresses[0], *port.Port)}, "labels": labels})
				}
			}
		}
	}
	return targets, nil
}

// labels returns the labels of an endpoint that scrape.yaml may ask for.
func (t *trial) labels(service core.Service, end discovery.Endpoint) (map[string]string, error) {
	pod, err := t.api.CoreV1().Pods(t.space).Get(t.ctx, end.TargetRef.Name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"__meta_kubernetes_namespace": t.space, "__meta_kubernetes_pod_ip": pod.Status.PodIP}
	for name, value := range service.Annotations {
		labels["__meta_kubernetes_service_annotation_"+other.ReplaceAllString(name, "_")] = value
	}
	for name, value := range pod.Labels {
		labels["__meta_kubernetes_pod_label_"+other.ReplaceAllString(name, "_")] = value
	}
	return labels, nil
}

// prometheus starts a server that scrapes the targets by the part of scrape.yaml that is for Kubernetes.
func (t *trial) prometheus(targets []map[string]any) (*exec.Cmd, error) {
	text, err := os.ReadFile("../../deploy/prometheus/scrape.yaml")
	if err != nil {
		return nil, err
	}
	var config map[string][]map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	scrapes := config["scrape_configs"]
	job := scrapes[len(scrapes)-1]
	if job["kubernetes_sd_configs"] == nil {
		return nil, errors.New("the last job of scrape.yaml has no kubernetes_sd_configs")
	}
	delete(job, "kubernetes_sd_configs")
	job["static_configs"], job["scrape_interval"] = targets, "1s"
	text, err = yaml.Marshal(map[string]any{"scrape_configs": []any{job}})
	if err != nil {
		return nil, err
	}
	folder := filepath.Join("/run/prometheus", t.space)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(t.logs, "prometheus.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	server := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+folder, "--web.listen-address=127.0.0.1:9090")
	server.Stdout, server.Stderr = log, log
	return server, server.Start()
}

// series returns how many series an expression has.
func series(expression string) int {
	answer, err := http.Get("http://127.0.0.1:9090/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var data struct{ Data struct{ Result []any } }
	if json.NewDecoder(answer.Body).Decode(&data) != nil {
		return 0
	}
	return len(data.Data.Result)
}
