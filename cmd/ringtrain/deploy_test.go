package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"ringtrain/export/metrics"
	"ringtrain/model/train/report"
	"ringtrain/ring/launch/place"
)

// A manifest has the fields of a Kubernetes object that these tests read.
type manifest struct {
	Kind     string
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		ClusterIP                string `yaml:"clusterIP"`
		PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
		Selector                 map[string]any
		Ports                    []struct{ Port int }
		Ingress                  []struct{ Ports []struct{ Port int } }

		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		PodReplacementPolicy     string                        `yaml:"podReplacementPolicy"`
		PodFailurePolicy         struct{ Rules []failureRule } `yaml:"podFailurePolicy"`
		Template                 podTemplate

		TFReplicaSpecs map[string]struct {
			Replicas      int
			RestartPolicy string `yaml:"restartPolicy"`
			Template      podTemplate
		} `yaml:"tfReplicaSpecs"`

		Trainer struct {
			Command, Args  []string
			NumNodes       int `yaml:"numNodes"`
			NumProcPerNode int `yaml:"numProcPerNode"`
		}
	}
}

type failureRule struct {
	Action          string
	OnPodConditions []struct{ Type string } `yaml:"onPodConditions"`
	OnExitCodes     struct {
		ContainerName string `yaml:"containerName"`
		Operator      string
		Values        []int
	} `yaml:"onExitCodes"`
}

type podTemplate struct{ Spec podSpec }

type podSpec struct {
	Subdomain     string
	RestartPolicy string `yaml:"restartPolicy"`
	Containers    []container
	Volumes       []struct {
		Name   string
		Secret struct {
			DefaultMode int `yaml:"defaultMode"`
		}
	}
}

// secretMode returns the mode of the token's file, 0 if there is none.
func (p podSpec) secretMode() int {
	for _, v := range p.Volumes {
		if v.Name == "token" {
			return v.Secret.DefaultMode
		}
	}
	return 0
}

type container struct {
	Name          string
	Command, Args []string
	Env           []struct{ Name, Value string }
	Ports         []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
}

// ofKind returns the single object of a kind.
func ofKind(t *testing.T, all []manifest, kind string) manifest {
	t.Helper()
	of := slices.DeleteFunc(slices.Clone(all), func(m manifest) bool { return m.Kind != kind })
	if len(of) != 1 {
		t.Fatalf("%d objects are a %s, want 1 of %d", len(of), kind, len(all))
	}
	return of[0]
}

// manifests reads a file of the folder deploy.
func manifests(t *testing.T, name string) []manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

// exitCodes returns all exit codes of ringtrain, from the package that lists them.
func exitCodes(t *testing.T) (permanent, again []int) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "ring", "exitcode", "exitcode.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		switch code, err := strconv.Atoi(lit.Value); {
		case err != nil || code == 0:
		case code < 128:
			permanent = append(permanent, code)
		default:
			again = append(again, code)
		}
		return true
	})
	slices.Sort(permanent)
	slices.Sort(again)
	return permanent, again
}

// acceptsArgs verifies that ringtrain accepts a container's command line.
func acceptsArgs(t *testing.T, command, args []string) {
	t.Helper()
	if len(command) < 2 || command[0] != "ringtrain" {
		t.Fatalf("command %q, want ringtrain", command)
	}
	newBox(t).must(0, slices.Concat(command[1:], args, []string{"--print-options"})...)
}

// TestDeployServe verifies that ringtrain has the options of the server in the manifest.
func TestDeployServe(t *testing.T) {
	server := ofKind(t, manifests(t, "kubernetes/serve.yaml"), "Deployment")
	c := server.Spec.Template.Spec.Containers[0]
	if len(c.Command) != 3 || c.Command[0] != "ringtrain" || c.Command[1] != "serve" {
		t.Fatalf("command %q, want ringtrain serve and a folder", c.Command)
	}
	if err := parseWords(slices.Concat(c.Command[1:], c.Args)); err != nil {
		t.Error(err)
	}
}

// TestDeployKubernetes verifies that the pods of the manifest are the ranks of one job,
// and that only failures that may be retried are retried.
func TestDeployKubernetes(t *testing.T) {
	all := manifests(t, "kubernetes/job.yaml")
	job, numbers := ofKind(t, all, "Job"), all[1]
	service := ofKind(t, slices.Delete(slices.Clone(all), 1, 2), "Service")
	wantMetrics(t, numbers, ofKind(t, all, "NetworkPolicy"), job)
	if s := service.Spec; s.ClusterIP != "None" || !s.PublishNotReadyAddresses || s.Selector["batch.kubernetes.io/job-name"] != job.Metadata.Name {
		t.Errorf("the Service is %+v, want a headless one of the Job's pods, ready or not", s)
	}
	spec, pod := job.Spec, job.Spec.Template.Spec
	if spec.CompletionMode != "Indexed" || spec.Completions != spec.Parallelism || spec.PodReplacementPolicy != "Failed" || pod.RestartPolicy != "Never" ||
		pod.Subdomain != service.Metadata.Name || pod.secretMode() != 0o400 {
		t.Errorf("the Job is %+v", spec)
	}
	c := pod.Containers[0]
	acceptsArgs(t, c.Command, c.Args)
	for rank := range spec.Completions {
		env := map[string]string{"JOB_COMPLETION_INDEX": strconv.Itoa(rank), "HOSTNAME": fmt.Sprintf("%s-%d", job.Metadata.Name, rank)}
		for _, e := range c.Env {
			env[e.Name] = e.Value
		}
		wantPlace(t, env, rank, spec.Completions, job.Metadata.Name+"-0."+service.Metadata.Name+":29400")
	}
	rules := spec.PodFailurePolicy.Rules
	if len(rules) != 3 || rules[0].Action != "Ignore" || rules[0].OnPodConditions[0].Type != "DisruptionTarget" {
		t.Fatalf("rules %+v, want first that a drained node does not count", rules)
	}
	permanent, again := exitCodes(t)
	again = slices.Insert(again, 1, 128+int(syscall.SIGKILL)) // from the kernel if memory runs out
	for i, want := range []failureRule{{Action: "FailJob"}, {Action: "Count"}} {
		got := rules[i+1]
		codes := [][]int{permanent, again}[i]
		if got.Action != want.Action || got.OnExitCodes.Operator != "In" || got.OnExitCodes.ContainerName != c.Name || !slices.Equal(got.OnExitCodes.Values, codes) {
			t.Errorf("rule %d is %+v, want %s on %v", i+1, got, want.Action, codes)
		}
	}
}

// wantMetrics verifies that a Service leads Prometheus to the metrics of the job's rank 0.
func wantMetrics(t *testing.T, service, policy, job manifest) {
	t.Helper()
	c := job.Spec.Template.Spec.Containers[0]
	port := strconv.Itoa(c.Ports[0].ContainerPort)
	if service.Kind != "Service" || service.Spec.Selector["batch.kubernetes.io/job-name"] != job.Metadata.Name ||
		service.Spec.Selector["batch.kubernetes.io/job-completion-index"] != "0" || strconv.Itoa(service.Spec.Ports[0].Port) != port {
		t.Errorf("the Service of the metrics is %+v, want pod 0 of the job at port %s", service.Spec, port)
	}
	want := map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": port, "prometheus.io/path": "/metrics"}
	if !maps.Equal(service.Metadata.Annotations, want) {
		t.Errorf("the annotations are %v, want %v", service.Metadata.Annotations, want)
	}
	if !slices.Contains(c.Args, "--metrics=:"+port) {
		t.Errorf("the arguments are %q, want the metrics at port %s", c.Args, port)
	}
	if in := policy.Spec.Ingress; len(in) != 2 || len(in[0].Ports) != 0 || strconv.Itoa(in[1].Ports[0].Port) != port {
		t.Errorf("the policy is %+v, want all ports for the job and port %s for all", in, port)
	}
}

// knownMetric matches the names of metrics in expressions.
var knownMetric = regexp.MustCompile(`ringtrain_\w+`)

// TestDeployPrometheus verifies that alerts and dashboard ask for metrics that a job has, and that each metric is in
// one of them.
func TestDeployPrometheus(t *testing.T) {
	asked := map[string]bool{}
	for _, expression := range slices.Concat(alertExpressions(t), dashboardExpressions(t)) {
		for _, name := range knownMetric.FindAllString(expression, -1) {
			asked[name] = true
		}
	}
	asked["ringtrain_build_info"] = true // of the dashboard's list of jobs
	m := metrics.New("1")
	for _, e := range []report.Event{report.Start{}, report.Step{}, report.Metrics{}, report.Ranks{Ranks: []report.RankLoad{{}}}} {
		m.Event(report.Stamped{Event: e})
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	names := knownMetric.FindAllString(w.Body.String(), -1)
	slices.Sort(names)
	names = slices.Compact(names)
	if missing := slices.DeleteFunc(slices.Sorted(maps.Keys(asked)), func(n string) bool { return slices.Contains(names, n) }); len(missing) != 0 {
		t.Errorf("a job has no %v", missing)
	}
	if unused := slices.DeleteFunc(names, func(n string) bool { return asked[n] }); len(unused) != 0 {
		t.Errorf("neither alerts nor dashboard have %v", unused)
	}
}

// alertExpressions returns the expressions of the alerts, of which each has a summary.
func alertExpressions(t *testing.T) []string {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations struct{ Summary, Description string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "../../deploy/prometheus/alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range file.Groups[0].Rules {
		if r.Alert == "" || r.Annotations.Summary == "" || r.Annotations.Description == "" {
			t.Errorf("alert %q has no summary or description", r.Alert)
		}
		all = append(all, r.Expr)
	}
	return all
}

// dashboardExpressions returns the expressions of the panels of Grafana's dashboard, for all jobs and a minute.
func dashboardExpressions(t *testing.T) []string {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, "../../deploy/prometheus/dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			all = append(all, strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m").Replace(target.Expr))
		}
	}
	return all
}

// wantPlace verifies the place of a process with env.
func wantPlace(t *testing.T, env map[string]string, rank, size int, rendezvous string) {
	t.Helper()
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	p, err := place.Find(func(name string) string { return env[name] }, environ, place.Flags{Rank: -1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Rank != rank || p.WorldSize != size || p.Rendezvous != rendezvous || p.Serve != (rank == 0) {
		t.Errorf("%v: place %+v, want rank %d of %d at %s, served by rank 0", env, p, rank, size, rendezvous)
	}
}

// TestDeployTFJob verifies that the operator accepts the manifest's containers and
// interprets their exit codes.
func TestDeployTFJob(t *testing.T) {
	job := ofKind(t, manifests(t, "kubeflow/tfjob.yaml"), "TFJob")
	if len(job.Spec.TFReplicaSpecs) != 2 || job.Spec.TFReplicaSpecs["Chief"].Replicas != 1 {
		t.Fatalf("%+v, want one chief and workers", job.Spec.TFReplicaSpecs)
	}
	for typ, r := range job.Spec.TFReplicaSpecs {
		c := r.Template.Spec.Containers[0]
		acceptsArgs(t, c.Command, c.Args)
		if r.RestartPolicy != "ExitCode" || c.Name != "tensorflow" || c.Ports[0].Name != "tfjob-port" || r.Template.Spec.secretMode() != 0o400 {
			t.Errorf("%s is %+v", typ, r)
		}
	}
}

// TestDeployTrainJob verifies that each container of the manifest is one rank.
func TestDeployTrainJob(t *testing.T) {
	job := ofKind(t, manifests(t, "kubeflow/trainjob.yaml"), "TrainJob")
	trainer := job.Spec.Trainer
	if trainer.NumNodes < 2 || trainer.NumProcPerNode != 1 {
		t.Errorf("%+v, want several nodes with a process each", trainer)
	}
	acceptsArgs(t, trainer.Command, trainer.Args)
	for rank := range trainer.NumNodes {
		master := job.Metadata.Name + "-node-0-0." + job.Metadata.Name
		wantPlace(t, map[string]string{ // variables of the trainer's plugin for torch
			"PET_NNODES": strconv.Itoa(trainer.NumNodes), "PET_NPROC_PER_NODE": strconv.Itoa(trainer.NumProcPerNode),
			"PET_NODE_RANK": strconv.Itoa(rank), "PET_MASTER_ADDR": master, "PET_MASTER_PORT": "29400", "JOB_COMPLETION_INDEX": strconv.Itoa(rank),
		}, rank, trainer.NumNodes, master+":29400")
	}
}

// TestDeploySlurm verifies that the script requeues only failures that may be retried, a
// limited number of times, and ends with the job's code. srun and scontrol are
// stand-ins.
func TestDeploySlurm(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "deploy", "slurm", "job.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		code    int
		restart string
		again   bool
	}{
		{0, "", false}, {64, "", false}, {81, "", false}, {137, "", false}, {138, "", true}, {143, "9", true}, {138, "10", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("code=%d/restart=%s", tt.code, tt.restart), func(t *testing.T) {
			b := newBox(t)
			b.write("bin/srun", fmt.Sprintf("#!/bin/sh\necho \"$@\"\nexit %d\n", tt.code))
			b.write("bin/scontrol", "#!/bin/sh\necho \"$@\" >requeued\n")
			for _, name := range []string{"srun", "scontrol"} {
				if err := os.Chmod(b.path("bin", name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b = b.with("PATH="+b.path("bin")+":"+os.Getenv("PATH"), "SLURM_JOB_ID=7", "SLURM_RESTART_COUNT="+tt.restart)
			e := b.startProgram("sh", script, "mnist", "--data", "/my data").wait()
			if e.code != tt.code || !strings.HasSuffix(e.stdout, "ringtrain train mnist --data /my data\n") {
				t.Errorf("the script ended with %d after srun %s", e.code, e.stdout)
			}
			_, err := os.Stat(b.path("requeued"))
			if again := err == nil; again != tt.again || again && b.read("requeued") != "requeue 7\n" {
				t.Errorf("run again: %v, want %v", again, tt.again)
			}
		})
	}
}
