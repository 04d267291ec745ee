package report

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEventJSON verifies the names, values and units of the JSON fields of each event: programs of
// users read these lines.
func TestEventJSON(t *testing.T) {
	number := func(f float64) *Number { n := Number(f); return &n }
	right := int64(9241)
	metrics := Metrics{Step: 3000, Epoch: 5, Split: "eval", Examples: 10000, Loss: 0.27, Correct: &right, Accuracy: number(0.9241)}
	tests := []struct {
		event Event
		kind  string
		want  string
	}{
		{
			Start{"mnist", "j-1", "1.0", 4, 2, 1, "a:29400", "int8", "tcp", "flat", "ring", 7, 100, 2, 7850, 600, 3, "portable-amd64", "softmax", 60000, 10000, 5, 3000, "ckpt", map[string]string{"train.seed": "7"}}, "start",
			`{"job":"mnist","job_id":"j-1","version":"1.0","world_size":4,"hosts":2,"generation":1,"rendezvous":"a:29400",` +
				`"codec":"int8","link":"tcp","levels":"flat","algorithm":"ring","seed":7,"global_batch":100,"variables":2,` +
				`"parameters":7850,"restored_step":600,"cores":3,"kernels":"portable-amd64",` +
				`"model":"softmax","records":60000,"eval_records":10000,"epochs":5,"steps":3000,"checkpoint_dir":"ckpt","options":{"train.seed":"7"}}`,
		},
		{
			Step{
				Step: 100, Steps: 3000, Epoch: 1, Examples: 200, Loss: 0.5, LearningRate: 0.01, ExamplesPerS: 2500, Interval: Seconds(2 * time.Second),
				Compute: Seconds(1500 * time.Millisecond), Update: Seconds(500 * time.Millisecond), Reduce: Seconds(3 * time.Millisecond), Exposed: Seconds(time.Millisecond),
				Left: Seconds(time.Minute), Straggler: &Straggler{3, "b", 0.5},
			}, "step",
			`{"step":100,"steps":3000,"epoch":1,"examples":200,"loss":0.5,"learning_rate":0.01,"examples_per_s":2500,"interval_s":2,"compute_s":1.5,"update_s":0.5,` +
				`"reduce_s":0.003,"input_s":0,"exposed_s":0.001,"left_s":60,"straggler":{"rank":3,"host":"b","share":0.5}}`,
		},
		{
			Ranks{Step: 5, Interval: Seconds(time.Second), Ranks: []RankLoad{{1, "b", Load{Seconds(time.Second), 0, 10, 20}, nil}}}, "ranks",
			`{"step":5,"interval_s":1,"ranks":[{"rank":1,"host":"b","busy_s":1,"waited_s":0,"sent_bytes":10,"rss_bytes":20}]}`,
		},
		{Failure{1, "b", 5, "reduce", "rank 2", "lost", 138, "docs/a#b"}, "error", `{"rank":1,"host":"b","step":5,"operation":"reduce","peer":"rank 2","cause":"lost","exit_code":138,"doc":"docs/a#b"}`},
		{
			Waiting{1, 2, []Missing{{1, "b:1", "not reached", Seconds(time.Second)}}, Seconds(time.Minute)}, "waiting",
			`{"present":1,"world_size":2,"missing":[{"rank":1,"address":"b:1","reason":"not reached","missing_s":1}],"remaining_s":60}`,
		},
		{
			Decision{"codec", "int8", "because", Seconds(time.Second), Seconds(2 * time.Second)}, "decision",
			`{"what":"codec","choice":"int8","why":"because","predicted_s":1,"achieved_s":2}`,
		},
		{metrics, "eval", `{"step":3000,"epoch":5,"split":"eval","examples":10000,"loss":0.27,"correct":9241,"accuracy":0.9241}`},
		{
			Metrics{Step: 1, Epoch: 1, Split: "train", Examples: 2, Loss: Number(math.NaN()), Correct: new(int64), Accuracy: number(0), AUC: number(math.NaN())}, "eval",
			`{"step":1,"epoch":1,"split":"train","examples":2,"loss":"NaN","correct":0,"accuracy":0,"auc":"NaN"}`,
		},
		{
			Metrics{Step: 1, Epoch: 1, Split: "train", Examples: 2, Loss: Number(math.Inf(1)), RMSE: number(math.Inf(-1))}, "eval",
			`{"step":1,"epoch":1,"split":"train","examples":2,"loss":"+Inf","rmse":"-Inf"}`,
		},
		{
			Checkpointed{5, "ckpt/step-000005", 4096, Seconds(time.Second), Seconds(time.Second / 2)}, "checkpoint",
			`{"step":5,"path":"ckpt/step-000005","bytes":4096,"took_s":1,"stalled_s":0.5}`,
		},
		{
			Exported{5, "export/1", "savedmodel", 1000, 1200, false, 1e-7, "graph run", &Compared{"auc", 0.75, 0.75}}, "export",
			`{"step":5,"path":"export/1","format":"savedmodel","verified":1000,"of":1200,"max_difference":1e-7,"how":"graph run","metric":{"name":"auc","model":0.75,"graph":0.75}}`,
		},
		{
			Done{3000, 5, 300000, Seconds(2 * time.Second), 150000, 0.25, &metrics, 10, 9, 8, "ab", 0.75, nil, 0}, "done",
			`{"steps":3000,"epochs":5,"examples":300000,"took_s":2,"examples_per_s":150000,"loss":0.25,` +
				`"eval":{"step":3000,"epoch":5,"split":"eval","examples":10000,"loss":0.27,"correct":9241,"accuracy":0.9241},` +
				`"sent_bytes":10,"sent_between_hosts_bytes":9,"max_rss_bytes":8,"digest":"ab","hidden_share":0.75}`,
		},
	}
	for _, tt := range tests {
		if got := asJSON(t, tt.event); got != tt.want || tt.event.Kind() != tt.kind {
			t.Errorf("%s:\n%s\nwant %s:\n%s", tt.event.Kind(), got, tt.kind, tt.want)
		}
		at := time.Date(2026, 11, 26, 17, 0, 0, 5, time.UTC)
		line, err := Line(tt.event, at)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(line)
		if err != nil || !read.Time.Equal(at) || asJSON(t, read.Event) != tt.want || read.Kind() != tt.kind {
			t.Errorf("%s is read back as %s at %v, %v", line, asJSON(t, read.Event), read.Time, err)
		}
	}
}

// TestParseForeign verifies that an unknown event keeps its name, that unknown fields are passed over, and
// that other lines are errors.
func TestParseForeign(t *testing.T) {
	if e, err := Parse([]byte(`{"event":"thaw","time":"2026-11-26T17:00:00Z","x":[1]}`)); err != nil || e.Event != (Unknown{"thaw"}) {
		t.Errorf("an unknown event is %v, %v", e.Event, err)
	}
	if e, err := Parse([]byte(`{"event":"checkpoint","time":"2026-11-26T17:00:00Z","step":5,"colour":"red"}`)); err != nil || e.Event != (Checkpointed{Step: 5}) {
		t.Errorf("an event with an unknown field is %v, %v", e.Event, err)
	}
	for _, line := range []string{"", "step 5", `{"step":5}`, `[]`, `{"event":"step","time":"2026-11-26T17:00:00Z","loss":"much"}`, `{"event":"step","time":"noon"}`} {
		if e, err := Parse([]byte(line)); err == nil {
			t.Errorf("%q is read as %v", line, e)
		}
	}
}

// TestStepSum verifies that steps add up to the one of their whole interval, and that a sum ends with a
// step that is due, with the loss and the straggler that this step tells.
func TestStepSum(t *testing.T) {
	second := Seconds(time.Second)
	a := Step{Step: 1, Steps: 9, Examples: 10, Loss: 1, Interval: second, Compute: second, Input: 1, Straggler: &Straggler{1, "b", 0.2}}
	b := Step{Step: 3, Steps: 9, Examples: 30, Loss: 2, Interval: 3 * second, Compute: second, Exposed: second, LearningRate: 0.5}
	ab := a.Add(b)
	want := Step{Step: 3, Steps: 9, Examples: 40, Loss: 1.75, Interval: 4 * second, Compute: 2 * second, Input: 1, Exposed: second, LearningRate: 0.5, ExamplesPerS: 10, Straggler: a.Straggler}
	if asJSON(t, ab) != asJSON(t, want) {
		t.Errorf("sum is\n%s\nwant\n%s", asJSON(t, ab), asJSON(t, want))
	}
	if c := a.Add(Step{Step: 2, Loss: 7}); c.Loss != 1 || c.Step != 2 {
		t.Errorf("a step without examples changes the loss to %v", c.Loss)
	}
	var s Sum
	if e, due := s.Add(a); due {
		t.Errorf("%v is due", e)
	}
	b.Due = NewNumber(1.76)
	want.Loss, want.Straggler = 1.76, nil // b speaks of the whole line
	for range 2 {
		if e, due := s.Add(b); !due || asJSON(t, e) != asJSON(t, want) {
			t.Errorf("sum is\n%s\nwant\n%s", asJSON(t, e), asJSON(t, want))
		}
		s.Add(a)
	}
}
