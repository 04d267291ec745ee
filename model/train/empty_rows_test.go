package train

import (
	"fmt"
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// stepRows are records with ids of their own step: record i has the ids of step i/batch, a few of a
// wide table. The first empty steps have no ids.
type stepRows struct{ steps, batch, empty int }

const stepFeatures = 20_000 // a table of 80 kB, which codecs touch

func (s stepRows) Facts() input.Facts {
	return input.Facts{Records: s.steps * s.batch, Features: stepFeatures, Manifest: []string{"rows"}}
}

func (s stepRows) Close() error { return nil }

func (s stepRows) ids(step int) []int64 {
	return []int64{int64(10 * step), int64(10*step + 3), int64(5000 + 7*step)}
}

func (s stepRows) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, s.append)
}

func (s stepRows) append(b *input.Batch, i int) error {
	x := b.Bags(1)
	if step := i / s.batch; step >= s.empty {
		for k, id := range s.ids(step) {
			x.Add(uint32(id), 1/float32(3+i+k)) // no codec is exact for this value
		}
	}
	b.Y = append(b.Y, float32(i%2))
	x.End()
	return nil
}

func stepRowsJob(t *testing.T, d stepRows, sets ...string) (*job.Config, records.Set) {
	cfg := loadText(t, clicksText, append([]string{
		fmt.Sprintf("input.batch=%d", d.batch), "input.shuffle=false", fmt.Sprintf("train.steps=%d", d.steps),
		"allreduce.levels=flat", "allreduce.algorithm=ring",
	}, sets...)...)
	return cfg, records.Set{Train: d, Eval: d, Split: "train"}
}

// TestRowsWithoutCodec verifies that no lossy codec encodes rows, over links and on two levels. The
// residual of a row could be sent only in a later step, which may not include that row.
func TestRowsWithoutCodec(t *testing.T) {
	d := stepRows{steps: 6, batch: 8}
	for _, levels := range []string{"flat", "auto"} {
		want := ""
		for _, c := range codec.All() { // none comes first
			t.Run("codec="+c.String()+"/levels="+levels, func(t *testing.T) {
				cfg, data := stepRowsJob(t, d, "allreduce.codec="+c.String(), "allreduce.levels="+levels)
				run := func(rank func(g *ring.Group) error) { ringtest.Run(t, 3, ring.DefaultConfig(), rank) }
				if levels == "auto" {
					run = func(rank func(g *ring.Group) error) {
						ringtest.RunOnHosts(t, []int{0, 0, 1}, ring.DefaultConfig(), rank)
					}
				}
				got := mustEnd(t, trainBy(t, 3, run, cfg, data, nil))[0].result.Digest
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("digest is %s, want %s as with codec none", got, want)
				}
			})
		}
	}
}

// TestEmptyUnion verifies that a first step without any id changes no accumulator of the
// table. The accumulators of momentum and rmsprop decay only in updated rows.
func TestEmptyUnion(t *testing.T) {
	d := stepRows{steps: 3, batch: 6, empty: 1}
	cfg, data := stepRowsJob(t, d, "optimizer.name=rmsprop")
	var after [][]float32
	mustTrain(t, 2, cfg, data, func(m *member) {
		m.end = func(step int64) error {
			if m.rank == 0 && m.trainer != nil && step > 0 && int(step) > len(after) {
				after = append(after, slices.Clone(m.trainer.optimizer.Slots()[0].Value))
			}
			return nil
		}
	})
	if len(after) != d.steps {
		t.Fatalf("%d steps, want %d", len(after), d.steps)
	}
	for row, r := range after[0] {
		if r != 1 {
			t.Fatalf("after the empty step the accumulator of row %d is %g, want 1", row, r)
		}
	}
	if last := after[d.steps-1]; last[d.ids(1)[0]] == 1 || last[1] != 1 {
		t.Errorf("in the end a touched row has %g, want another than 1, and an untouched one %g, want 1", last[d.ids(1)[0]], last[1])
	}
}
