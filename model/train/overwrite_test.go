package train

import (
	"math"
	"testing"

	"ringtrain/model/train/records"
)

// TestBackwardOverwrites verifies that no gradient of a step remains in the next one, although no
// step clears gradients. It sets every dense gradient to NaN between two steps, for each kind of
// model, also on a rank with an empty share.
func TestBackwardOverwrites(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		data       records.Set
		sets       []string
	}{
		{"linear", linearText, linearData(), []string{"input.batch=1"}}, // one rank has no example
		{"softmax", digitsText, digitsData(), nil},
		{"mlp", digitsText, digitsData(), []string{"model.kind=mlp", "model.hidden=[16, 16]"}},
		{"cnn-small", digitsText, digitsData(), []string{"model.kind=cnn-small", "input.shape=[28, 28, 1]", "input.batch=4", "train.steps=4"}},
		{"sparse", clicksText, clicksData(), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := mustTrain(t, 2, loadText(t, tt.text, tt.sets...), tt.data, nil)[0].result.Digest
			spoilt := 0
			got := mustTrain(t, 2, loadText(t, tt.text, tt.sets...), tt.data, func(m *member) {
				m.end = func(int64) error {
					for _, v := range m.trainer.model.Variables() {
						if v.ByRows {
							continue
						}
						for i := range v.Grad {
							v.Grad[i] = float32(math.NaN())
						}
						if m.rank == 0 {
							spoilt++
						}
					}
					return nil
				}
			})[0].result.Digest
			if spoilt < 4 {
				t.Fatalf("%d gradients were spoilt, want one a step", spoilt)
			}
			if got != want {
				t.Errorf("digest is %s, want %s", got, want)
			}
		})
	}
}
