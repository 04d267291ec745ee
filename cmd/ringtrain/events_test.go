package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is one line of --json.
type event map[string]any

func (e event) name() string           { return e.text("event") }
func (e event) text(key string) string { s, _ := e[key].(string); return s }
func (e event) num(key string) float64 { f, _ := e[key].(float64); return f }
func (e event) sub(key string) event   { m, _ := e[key].(map[string]any); return m }
func (e event) list(key string) []any  { l, _ := e[key].([]any); return l }
func (e event) keys() []string         { return slices.Sorted(maps.Keys(e)) }

// events parses standard output as --json specifies it: one object per line, each with
// event and time, in UTC.
func (e ended) events(t testing.TB) []event {
	t.Helper()
	var list []event
	for line := range strings.Lines(e.stdout) {
		var v event
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("standard output has a line that is no JSON object: %v\n%s", err, line)
		}
		at, err := time.Parse(time.RFC3339Nano, v.text("time"))
		if v.name() == "" || err != nil || at.Location() != time.UTC {
			t.Fatalf("want event and a time in UTC in each line: %s", line)
		}
		list = append(list, v)
	}
	return list
}

// only returns the single event with a name.
func (e ended) only(t testing.TB, name string) event {
	t.Helper()
	list := slices.DeleteFunc(e.events(t), func(v event) bool { return v.name() != name })
	if len(list) != 1 {
		t.Fatalf("%d events %s, want 1\n%s%s", len(list), name, e.stdout, e.stderr)
	}
	return list[0]
}

// digest returns the digest of the event done.
func (e ended) digest(t testing.TB) string {
	t.Helper()
	return e.only(t, "done").text("digest")
}

// The fields of the events, besides event and time. Programs depend on these names.
var fields = map[string]string{
	"start": "job job_id version world_size hosts generation rendezvous codec link levels algorithm seed global_batch " +
		"variables parameters restored_step cores kernels model records eval_records epochs steps checkpoint_dir",
	"decision":    "what choice why predicted_s achieved_s",
	"generation":  "generation world_size lost cause restored_step steps_repeated",
	"step":        "step steps epoch examples loss learning_rate examples_per_s interval_s compute_s update_s reduce_s input_s exposed_s left_s",
	"ranks":       "step interval_s ranks",
	"eval":        "step epoch split examples loss correct accuracy top_k log_loss precision recall f1 confusion baseline",
	"progressive": "step epoch examples loss last_examples last_loss last_auc",
	"checkpoint":  "step path bytes took_s stalled_s",
	"warning":     "rank host step operation cause exit_code",
	"export":      "step path format verified of max_difference how metric",
	"done":        "steps epochs examples took_s examples_per_s loss eval sent_bytes sent_between_hosts_bytes max_rss_bytes digest hidden_share",
	"error":       "rank host step operation peer cause exit_code doc",
	"waiting":     "present world_size missing remaining_s",
}

// sometimes are the fields that only some runs have.
var sometimes = []string{"straggler", "options"}

// checkFields verifies that an event has its fields and no others.
func checkFields(t *testing.T, e event) {
	t.Helper()
	want := append(strings.Fields(fields[e.name()]), "event", "time")
	slices.Sort(want)
	got := slices.DeleteFunc(e.keys(), func(key string) bool { return slices.Contains(sometimes, key) && !slices.Contains(want, key) })
	if !slices.Equal(got, want) {
		t.Errorf("%s has the fields\n%v, want\n%v", e.name(), got, want)
	}
}

// TestEvents verifies the events of a run, their order and their fields.
func TestEvents(t *testing.T) {
	b := newBox(t)
	e := b.must(0, "run", "-np", "4", "--json", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=20")
	var order []string
	events := e.events(t)
	for _, v := range events {
		order = append(order, v.name())
		checkFields(t, v)
	}
	if want := []string{"start", "decision", "step", "checkpoint", "eval", "export", "done"}; !slices.Equal(order, want) {
		t.Fatalf("events %v, want %v", order, want)
	}
	start, step, eval, done := events[0], events[2], events[4], events[6]
	checkStart(t, start)
	if step.num("step") != 20 || step.num("epoch") != 1 || eval.num("step") != 20 || eval.text("split") != "eval" {
		t.Errorf("want step 20 of epoch 1, evaluated on the validation records: %v %v", step, eval)
	}
	if got := eval.num("correct") / eval.num("examples"); got != eval.num("accuracy") {
		t.Errorf("accuracy is %v, want correct/examples, %v", eval.num("accuracy"), got)
	}
	if path := events[3].text("path"); path != "ckpt/mnist/step-000020" {
		t.Errorf("checkpoint at %s, want the step folder", path)
	}
	x := events[5]
	if x.text("path") != "export/mnist/1" || x.text("format") != "savedmodel" || x.num("verified") != 1000 || x.num("max_difference") > 1e-5 ||
		x.text("how") != "graph run" {
		t.Errorf("want export/mnist/1, graph run, 1000 records and no difference beyond the bound: %v", x)
	}
	checkDone(t, e, eval, done)
}

func checkStart(t *testing.T, start event) {
	t.Helper()
	for key, want := range map[string]any{
		"job": "mnist", "world_size": 4.0, "hosts": 1.0, "generation": 1.0, "codec": "none", "link": "shm", "levels": "host",
		"algorithm": "none", "seed": 1.0, "global_batch": 100.0, "variables": 2.0, "parameters": 7850.0, "restored_step": 0.0,
	} {
		if start[key] != want {
			t.Errorf("start: %s is %v, want %v", key, start[key], want)
		}
	}
	if start.text("job_id") == "" || start.text("version") == "" || !strings.Contains(start.text("rendezvous"), ":") {
		t.Errorf("start without job id, version or address of the rendezvous: %v", start)
	}
}

// checkDone compares the event done with the events before it and with the last lines of
// all ranks.
func checkDone(t *testing.T, e ended, eval, done event) {
	t.Helper()
	if done.num("steps") != 20 || done.num("examples") != 2000 || done.num("sent_bytes") != 0 || done.num("max_rss_bytes") <= 0 {
		t.Errorf("done: %v", done)
	}
	if between := done.num("sent_between_hosts_bytes"); between != 0 {
		t.Errorf("%v bytes sent between hosts, want 0 on one host", between)
	}
	last := done.sub("eval")
	for key, value := range last {
		if !reflect.DeepEqual(eval[key], value) {
			t.Errorf("done.eval.%s is %v, want %v of the last eval", key, value, eval[key])
		}
	}
	if want := strings.Fields(fields["eval"]); len(last) != len(want) {
		t.Errorf("done.eval has the fields %v, want %v", last.keys(), want)
	}
	for rank := range 4 {
		if got, want := e.lastLine(rank), "digest="+done.text("digest"); got != want {
			t.Errorf("rank %d: last line %q, want %q", rank, got, want)
		}
	}
	if len(done.text("digest")) != 64 {
		t.Errorf("digest is %q, want SHA-256 in hex", done.text("digest"))
	}
}

// TestEventsPlace verifies that --json works in any position, and that world size 1 has
// the same events.
func TestEventsPlace(t *testing.T) {
	job := []string{"mnist", "--set", "input.synthetic=true", "--set", "train.steps=3"}
	tests := []struct {
		name string
		env  []string
		args []string
	}{
		{"where=before the job", nil, append([]string{"train", "--json"}, job...)},
		{"where=after the job", nil, append([]string{"train"}, append(job, "--json")...)},
		{"where=environment", []string{"RINGTRAIN_JSON=1"}, append([]string{"train"}, job...)},
		{"where=after the job of run", nil, append([]string{"run", "-np", "2"}, append(job, "-json")...)},
		{"where=environment of run", []string{"RINGTRAIN_JSON=1"}, append([]string{"run", "-np", "2"}, job...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newBox(t).with(tt.env...).must(0, tt.args...)
			for _, v := range e.events(t) {
				checkFields(t, v)
			}
			start := e.only(t, "start")
			if tt.args[0] == "train" && (start.text("link") != "none" || start.text("codec") != "none" || start.num("world_size") != 1) {
				t.Errorf("world size 1: %v", start)
			}
			if d := e.digest(t); !strings.Contains(e.stderr, "digest="+d) {
				t.Errorf("standard error lacks digest=%s:\n%s", d, e.stderr)
			}
		})
	}
}

// TestEventsOfModels verifies the figures of an evaluation for each kind of model.
func TestEventsOfModels(t *testing.T) {
	for job, want := range map[string]string{
		"linear": "step epoch split examples loss rmse mae r2 baseline",
		"ctr":    "step epoch split examples loss correct accuracy auc log_loss normalized_entropy calibration calibration_buckets threshold thresholds best_f1 precision recall f1 confusion baseline",
	} {
		t.Run("job="+job, func(t *testing.T) {
			e := newBox(t).must(0, "train", job, "--json", "--set", "input.synthetic=true", "--set", "train.steps=5", "--set", "export.if=always")
			got := e.only(t, "done").sub("eval").keys()
			if fields := slices.Sorted(slices.Values(strings.Fields(want))); !slices.Equal(got, fields) {
				t.Errorf("eval has the fields %v, want %v", got, fields)
			}
		})
	}
}

// TestPeopleLines verifies the lines about progress without --json, the prefix of the rank, and the commands that take
// the model of a job that --set has changed.
func TestPeopleLines(t *testing.T) {
	e := newBox(t).must(0, "run", "-np", "2", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=20", "--set", "log.every=10")
	for _, want := range []string{"[0] step 10 ", "[0] step 20 ", "[0] eval ", "[0] checkpoint ", "[0] export ", "[0] mnist · softmax", "[0] 2 ranks · "} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("standard output lacks %q:\n%s", want, e.stdout)
		}
	}
	if want := "[0] next     ringtrain predict export/mnist FILE\n[0]          ringtrain report ckpt/mnist\n"; !strings.HasSuffix(e.stdout, want) {
		t.Errorf("the last lines are not %q:\n%s", want, e.stdout)
	}
	for line := range strings.Lines(e.stdout + e.stderr) {
		if !strings.HasPrefix(line, "[0] ") && !strings.HasPrefix(line, "[1] ") {
			t.Errorf("a line without its rank: %q", line)
		}
	}
}
