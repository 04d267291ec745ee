package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestBadTrainingRecordsAreNotEvaluated verifies for each format of text that a job without validation
// records evaluates, scores and exports its training records without the bad ones, of which one is the
// first, and says how many there are: the metrics are those of a file of the good records.
func TestBadTrainingRecordsAreNotEvaluated(t *testing.T) {
	const columns = "  columns: [label: {names: [y]}, categorical: {names: [c], hash: 10}]\n"
	for _, tt := range []struct{ format, model, header, good, bad, rest string }{
		{"csv", "fm", "y,c\n", "%d,a%d\n", "maybe,a%d\n", columns},
		{"criteo", "fm", "", "%d\ta%d\n", "?\ta%d\n", columns},
		{"libsvm", "fm", "", "%d %d:1\n", "7 %d:1\n", ""},
		{"libffm", "fm, fields: 2, features: 40", "", "%d 0:%d:1\n", "0 0:%d:x\n", ""},
		{"vw", "fm", "", "%d |n a%d\n", "NA |n a%d\n", ""},
	} {
		t.Run("format="+tt.format, func(t *testing.T) {
			dir := t.TempDir()
			good, all := tt.header, tt.header
			for i := range 700 {
				line := fmt.Sprintf(tt.good, i%2, 1+i%7)
				good += line
				if i == 0 || i == 300 {
					all += fmt.Sprintf(tt.bad, 1+i%7)
				}
				all += line
			}
			for name, text := range map[string]string{"good": good, "all": all} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			text := fmt.Sprintf("model: {kind: %s}\ninput:\n  train: {format: %s, files: [%s], header: %t}\n  batch: 50\n%soptimizer: {learning_rate: 0.1}\nallreduce: {codec: none}\n",
				tt.model, tt.format, filepath.Join(dir, "all"), tt.header != "", tt.rest)
			sets := []string{"eval.training=true", "input.max_bad_records=2", "checkpoint.dir=" + filepath.Join(dir, "ckpt"), "export.savedmodel=" + filepath.Join(dir, "export")}
			cfg := loadText(t, text, sets...)
			data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			m := mustTrain(t, 2, cfg, data, nil)[0].trainer.eval.last
			if m.Examples != 700 || m.Bad != 2 || m.Split != "train" {
				t.Errorf("%d examples and %d bad records of %q, want 700 and 2", m.Examples, m.Bad, m.Split)
			}
			evaluated := func(sets ...string) (report.Metrics, int, int64) {
				s, err := trained.Open(t.Context(), loadText(t, text, sets...), nil, "", records.Evaluated{Labelled: true})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				rows, last := 0, -1
				if err := s.Predict(t.Context(), func(some []trained.Prediction) error {
					rows, last = rows+len(some), some[len(some)-1].Record
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				m, err := s.Evaluate(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				told := int64(0)
				for _, w := range s.Warnings() {
					if strings.Contains(w.Cause, "ignored 2 bad records; the first: ") {
						told += 2
					}
				}
				return m, last + 1 - rows, told
			}
			again, left, n := evaluated(sets...)
			want, _, _ := evaluated(append(sets, "input.max_bad_records=0", "input.train.files="+filepath.Join(dir, "good"))...)
			if again.Loss != m.Loss || again.Bad != 2 || left != 2 || n != 2 {
				t.Errorf("loss %v, and in training %v; %d bad records, %d and %d without a score; want 2", again.Loss, m.Loss, again.Bad, left, n)
			}
			if d := float64(want.Loss - m.Loss); d > 1e-6 || d < -1e-6 || want.Examples != m.Examples {
				t.Errorf("loss %v of %d examples, of the good records alone %v of %d", m.Loss, m.Examples, want.Loss, want.Examples)
			}
			s, err := trained.Open(t.Context(), loadText(t, text, append(sets, "input.max_bad_records=1")...), nil, "", records.Evaluated{Labelled: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Evaluate(t.Context()); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "2 bad records of the train records, want at most 1") {
				t.Errorf("one more than the job allows: error %v", err)
			}
		})
	}
}
