package train

import (
	"math"
	"testing"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// TestProgressive trains with one and three ranks, whole and in parts. It verifies that reports
// come after 1, 2, 4, … batches and at the end of the first epoch, and that they cover every record
// once. Loss and AUC are those of scores before the update, so the first report is that of an
// untrained model.
func TestProgressive(t *testing.T) {
	var want []report.Progressive
	for _, p := range []int{1, 3} {
		for _, parts := range []string{"1", "2"} {
			job := loadText(t, clicksText, "train.steps=0", "train.epochs=2", "eval.progressive=true", "train.accumulate="+parts)
			data := clicksData()
			members := mustTrain(t, p, job, data, nil)
			got := eventsOf[report.Progressive](members[0])
			records, batch := int64(data.Train.Facts().Records), int64(job.Input.Batch)
			sum, before, next := 0.0, int64(0), batch
			for i, e := range got {
				if e.Examples != min(next, records) || e.Last != e.Examples-before || e.Epoch != 1 {
					t.Fatalf("world=%d: report %d is %s, want one of %d records", p, i, traintest.JSON(t, e), min(next, records))
				}
				sum += float64(e.LastLoss) * float64(e.Last)
				before, next = e.Examples, 2*next
				if traintest.Far(float64(e.Loss), sum/float64(e.Examples), 1e-9) {
					t.Errorf("world=%d: report %d is %s, want the mean %g", p, i, traintest.JSON(t, e), sum/float64(e.Examples))
				}
			}
			if before != records {
				t.Fatalf("world=%d: reports up to %d records, want %d", p, before, records)
			}
			if first := got[0]; traintest.Far(float64(first.LastLoss), math.Ln2, 1e-6) || *first.LastAUC != 0.5 {
				t.Errorf("world=%d: the first report is %s, want ln 2 and 0.5: nothing is learned", p, traintest.JSON(t, first))
			}
			if last := got[len(got)-1]; *last.LastAUC < 0.6 {
				t.Errorf("world=%d: the last report is %s, want more than chance", p, traintest.JSON(t, last))
			}
			if want == nil {
				want = got
			}
			for i := range got {
				if traintest.Far(float64(got[i].LastLoss), float64(want[i].LastLoss), 1e-5) || traintest.Far(float64(*got[i].LastAUC), float64(*want[i].LastAUC), 1e-3) {
					t.Errorf("world=%d parts=%s: report %d is %s, one rank has %s", p, parts, i, traintest.JSON(t, got[i]), traintest.JSON(t, want[i]))
				}
			}
		}
	}
}

// TestProgressiveResumes verifies that a run that resumes in the first epoch continues its mean,
// and that a run after its first epoch reports nothing.
func TestProgressiveResumes(t *testing.T) {
	dir := t.TempDir()
	sets := []string{"train.steps=0", "train.epochs=1", "eval.progressive=true"}
	whole := eventsOf[report.Progressive](mustTrain(t, 2, loadText(t, clicksText, sets...), clicksData(), nil)[0])
	mustTrain(t, 2, loadText(t, clicksText, "train.steps=3", "schedule.steps=100", "eval.progressive=true", "checkpoint.dir="+dir), clicksData(), nil)
	rest := eventsOf[report.Progressive](mustTrain(t, 2, loadText(t, clicksText, append(sets, "schedule.steps=100", "checkpoint.dir="+dir)...), clicksData(), nil)[0])
	if len(rest) == 0 || rest[len(rest)-1].Examples != whole[len(whole)-1].Examples || traintest.Far(float64(rest[len(rest)-1].Loss), float64(whole[len(whole)-1].Loss), 1e-6) {
		t.Errorf("after a resume %s, without one %s", traintest.JSON(t, rest), traintest.JSON(t, whole))
	}
	if again := eventsOf[report.Progressive](mustTrain(t, 2, loadText(t, clicksText, "train.steps=0", "train.epochs=2", "eval.progressive=true", "schedule.steps=100", "checkpoint.dir="+dir), clicksData(), nil)[0]); len(again) != 0 {
		t.Errorf("reports %s of a second epoch", traintest.JSON(t, again))
	}
}

// TestProgressiveAlone verifies that a pass without validation records is not evaluated at its end, also with an
// export.
func TestProgressiveAlone(t *testing.T) {
	data := clicksData()
	data.Eval, data.Split = nil, ""
	for _, set := range []string{"log.every=0", "export.savedmodel=" + t.TempDir()} {
		m := mustTrain(t, 2, loadText(t, clicksText, "train.steps=0", "train.epochs=1", "eval.progressive=true", set), data, nil)[0]
		if n, done := len(eventsOf[report.Metrics](m)), eventsOf[report.Done](m)[0]; n != 0 || done.Eval != nil || len(eventsOf[report.Progressive](m)) == 0 {
			t.Errorf("%s: %d evaluations; the end tells %s", set, n, traintest.JSON(t, done.Eval))
		}
	}
}

// TestProgressiveLeavesOut verifies that records of weight 0 have no part in the AUC, and that
// models with other heads keep no scores.
func TestProgressiveLeavesOut(t *testing.T) {
	b := input.Batch{Y: []float32{1, 0, 1, 0}, Importance: []float32{1, 0}}
	scores := tensor.Matrix{Rows: 3, Cols: 1, Data: []float32{0.9, 0.8, 0.1}}
	p := progressive{binary: true}
	p.addScores(scores, &b, 1)
	if ties := p.ranking.AppendTies(nil, 9); len(ties) != 2 {
		t.Errorf("%d scores, want 2", len(ties))
	}
	p = progressive{binary: graph.HeadClasses == graph.HeadBinary}
	p.addScores(scores, &b, 1)
	if ties := p.ranking.AppendTies(nil, 9); len(ties) != 0 {
		t.Errorf("%d scores, want none", len(ties))
	}
}
