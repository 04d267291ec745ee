package train

import (
	"fmt"
	"testing"
	"testing/synctest"

	"ringtrain/model/train/report"
)

// TestBehindByAStep drops the frames of one rank of three from each frame on, while all processes
// live. It verifies that a rank that is a step behind receives the rows of that step instead of a
// table, that replicas agree, and that the job ends with the bits of a run without loss. A table
// has at least 4 bytes a feature.
func TestBehindByAStep(t *testing.T) {
	behind := 0
	for _, tt := range []struct {
		name     string
		features int
		sets     []string
	}{
		{"ftrl", 200000, []string{"optimizer.name=ftrl"}},
		{"adam", 200000, []string{"optimizer.name=adam", "optimizer.learning_rate=0.01", "train.average.decay=0.8", "train.clip_norm=0.05", "model.l2=0.1"}},
		{"fm", 40000, []string{"model.kind=fm", "model.embedding=4", "optimizer.name=lazy-adam", "optimizer.learning_rate=0.01", "train.clip_value=0.01", "train.average.decay=0.5"}},
	} {
		t.Run("job="+tt.name, func(t *testing.T) {
			sets := append([]string{fmt.Sprint("model.features=", tt.features), "input.batch=500", "train.steps=5", "train.check_every=1", "eval.every=0"}, tt.sets...)
			job := loadText(t, clicksText, sets...)
			whole := newProcesses(t, 3, job, clicksData(), nil)
			frames := map[int]*killedLink{1: {frames: -1}}
			if !whole.runInMemory(frames) {
				t.Fatal(whole.members[0].err)
			}
			for at := 0; at < frames[1].sent && !t.Failed(); at++ {
				synctest.Test(t, func(t *testing.T) { // the other ranks notice the loss by the clock alone
					c := newProcesses(t, 3, job, clicksData(), nil)
					c.runInMemory(map[int]*killedLink{1: {frames: at, vanishes: true}})
					donors := 0
					for _, m := range c.members {
						for _, other := range c.members {
							if m.trainer.hasState && other.trainer.hasState && m.trainer.progress.step > other.trainer.progress.step {
								donors++
							}
						}
					}
					m := c.mustEnd()[0]
					if m.result != whole.members[0].result {
						t.Errorf("frame %d: ended with %+v, want %+v", at, m.result, whole.members[0].result)
					}
					if sent := eventsOf[report.Done](m)[0].SentBytes; sent > int64(4*tt.features) {
						t.Errorf("frame %d: %d bytes are sent, want fewer than a table has", at, sent)
					}
					behind += donors
				})
			}
		})
	}
	if behind < 5 {
		t.Errorf("%d times a rank was behind: nothing is shown", behind)
	}
}
