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
			Start{"mnist", "j-1", "1.0", 4, 2, 1, "a:29400", "int8", "tcp", "flat", "ring", 7, 100, 2, 7850, 600, 3, "portable-amd64"}, "start",
			`{"job":"mnist","job_id":"j-1","version":"1.0","world_size":4,"hosts":2,"generation":1,"rendezvous":"a:29400",` +
				`"codec":"int8","link":"tcp","levels":"flat","algorithm":"ring","seed":7,"global_batch":100,"variables":2,` +
				`"parameters":7850,"restored_step":600,"cores":3,"kernels":"portable-amd64"}`,
		},
		{
			Step{100, 1, 0.5, 2500, Seconds(1500 * time.Millisecond), Seconds(500 * time.Millisecond), Seconds(3 * time.Millisecond), 0, Seconds(time.Millisecond), 3000, 0, 0, nil, nil}, "step",
			`{"step":100,"epoch":1,"loss":0.5,"examples_per_s":2500,"compute_s":1.5,"update_s":0.5,"reduce_s":0.003,"input_s":0,"exposed_s":0.001}`,
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
			`{"step":5,"path":"export/1","format":"savedmodel","verified":1000,"max_difference":1e-7,"how":"graph run","metric":{"name":"auc","model":0.75,"graph":0.75}}`,
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
	}
}
