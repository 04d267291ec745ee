package train

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// TestGolden verifies training against ten losses of stochastic gradient descent, each of a batch
// before its update. A program in another language computed them in float64 from the records of
// "data make linear --seed 1" and "data make digits --seed 1" in their order. The difference is the
// rounding of float32.
func TestGolden(t *testing.T) {
	tests := []struct {
		name, text string
		data       records.Set
		want       []float64
	}{
		{"linear", linearText, linearData(), []float64{66.463996, 33.196104, 25.916865, 23.618617, 23.255918,
			22.190283, 22.747898, 23.255279, 22.344077, 15.549543}},
		{"digits", digitsText, digitsData(), []float64{2.3025851, 2.2552529, 2.2567866, 2.1954586, 2.2271408,
			2.104255, 2.0860824, 2.1696099, 2.0063129, 1.9386895}},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name, func(t *testing.T) {
			job := loadText(t, tt.text, "input.shuffle=false")
			got := mustTrain(t, 1, job, tt.data, nil)[0].losses()
			if len(got) != len(tt.want) {
				t.Fatalf("%d losses, want %d", len(got), len(tt.want))
			}
			for i := range got {
				if traintest.Far(got[i], tt.want[i], 1e-6) {
					t.Errorf("loss %d is %.8g, want %.8g", i, got[i], tt.want[i])
				}
			}
		})
	}
}

// TestWorldSizes verifies that training on several ranks equals training on one rank: no share is
// lost or weighted wrongly, and replicas agree. The ranks add in another order, so after ten steps
// losses may differ by up to 1e-5 of their value.
func TestWorldSizes(t *testing.T) {
	tests := []struct {
		name, text string
		data       records.Set
		sets       []string
	}{
		{"linear", linearText, linearData(), nil},
		{"linear, more ranks than examples", linearText, linearData(), []string{"input.batch=1", "optimizer.learning_rate=0.01"}},
		{"digits", digitsText, digitsData(), nil},
		{"digits, sum", digitsText, digitsData(), []string{"loss.reduction=sum", "optimizer.learning_rate=0.002"}},
		{"digits, uneven last batch", digitsText, digitsData(), []string{"input.batch=170", "schedule.kind=cosine"}},
		{"mlp", digitsText, digitsData(), []string{"model.kind=mlp", "model.hidden=[16]", "optimizer.name=momentum"}},
		{"clicks", clicksText, clicksData(), nil},
		{"clicks, ftrl", clicksText, clicksData(), []string{"optimizer.name=ftrl", "input.batch=3"}},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name, func(t *testing.T) {
			job := loadText(t, tt.text, tt.sets...)
			one := mustTrain(t, 1, job, tt.data, nil)[0]
			for _, p := range []int{2, 4} {
				many := mustTrain(t, p, job, tt.data, nil)[0]
				want, got := one.losses(), many.losses()
				if len(got) != 10 {
					t.Fatalf("world=%d: %d losses, want 10", p, len(got))
				}
				for i := range got {
					if traintest.Far(got[i], want[i], 1e-5) {
						t.Errorf("world=%d: loss %d is %.8g, want %.8g", p, i, got[i], want[i])
					}
				}
				if a, b := eventsOf[report.Done](one)[0].Examples, eventsOf[report.Done](many)[0].Examples; a != b {
					t.Errorf("world=%d: %d examples, want %d", p, b, a)
				}
			}
		})
	}
}

// TestRepeats verifies that a run repeats bit for bit and uses the codec of the job.
func TestRepeats(t *testing.T) {
	digests := map[string]string{}
	for _, codec := range []string{"none", "bf16", "fp16", "int8"} {
		job := loadText(t, digitsText, "allreduce.codec="+codec)
		first := mustTrain(t, 3, job, digitsData(), nil)[0].result.Digest
		if again := mustTrain(t, 3, job, digitsData(), nil)[0].result.Digest; again != first {
			t.Errorf("codec=%s: digest is %s, then %s", codec, first, again)
		}
		if other, ok := digests[first]; ok {
			t.Errorf("codecs %s and %s give the same bits", codec, other)
		}
		digests[first] = codec
	}
}

// TestStepAllocatesNothing verifies that a step that emits no event allocates nothing. It counts the allocations of all
// goroutines of all ranks over many steps, with reading ahead and comparing replicas.
func TestStepAllocatesNothing(t *testing.T) {
	const warm, counted = 1500, 200 // buffers grow while larger batches arrive
	tests := []struct {
		name, text string
		data       records.Set
		sets       []string
	}{
		{"softmax", digitsText, digitsData(), nil},
		{"sparse-linear", clicksText, clicksData(), nil},
		{"deepfm", clicksText, clicksData(), []string{"model.kind=deepfm", "model.hidden=[8]"}},
		{"tables", clicksText, clicksData(), []string{"model.kind=fm", "optimizer.name=adam", "optimizer.learning_rate=0.01", "train.accumulate=3",
			"train.clip_norm=0.1", "train.clip_value=0.1", "train.average.decay=0.9", "model.l2=0.01", "model.l1=0.01"}},
		{"features", digitsText, digitsData(), []string{"train.accumulate=3", "train.clip_norm=0.1", "train.clip_value=0.1", "train.average.decay=0.9",
			"train.class_weights=1,2,1,1,1,1,1,1,1,1", "model.l2=0.01", "model.l1=0.01", "loss.label_smoothing=0.1"}},
	}
	for _, tt := range tests {
		for _, p := range []int{1, 2} {
			t.Run(fmt.Sprintf("model=%s/world=%d", tt.name, p), func(t *testing.T) {
				sets := append([]string{"log.every=0", "input.prefetch=2", "train.check_every=10", fmt.Sprintf("train.steps=%d", warm+counted+1)}, tt.sets...)
				job := loadText(t, tt.text, sets...)
				var before, after runtime.MemStats
				mustTrain(t, p, job, tt.data, func(m *member) {
					m.team.Progress = func(step int64, phase string) {
						m.trainer.memory.asked = time.Now() // it is not read
						if m.rank != 0 || phase != "train" {
							return
						}
						k := &m.trainer.reporter.tracker
						k.point.at, k.ranksAt = time.Now(), time.Now() // no event is due
						switch step {
						case warm:
							runtime.ReadMemStats(&before)
						case warm + counted:
							runtime.ReadMemStats(&after)
						}
					}
				})
				if before.Mallocs == 0 || after.Mallocs == 0 {
					t.Fatal("the steps were not counted")
				}
				// Fewer than one in ten steps: occasional allocations of the runtime.
				if n := after.Mallocs - before.Mallocs; n >= counted/10 {
					t.Errorf("%d allocations in %d steps, want none", n, counted)
				}
			})
		}
	}
}

// TestContextEnds verifies that a run ends when its context ends, as the rendezvous ends a
// generation.
func TestContextEnds(t *testing.T) {
	for _, p := range []int{1, 3} {
		why := errors.New("generation is over")
		members := trainOn(t, p, loadText(t, linearText, "train.steps=1000000", "log.every=0"), linearData(), func(m *member) {
			m.end = func(step int64) error {
				if m.rank == p-1 && step == 7 {
					return why
				}
				return nil
			}
		})
		for _, m := range members {
			if !errors.Is(m.err, why) {
				t.Errorf("world=%d: rank %d ended with %v, want %v", p, m.rank, m.err, why)
			}
		}
	}
}
