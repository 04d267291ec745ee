package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/input/synth"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// badRecord is a data set with one record that cannot be read while broken is true.
type badRecord struct {
	input.Dataset
	broken func() bool
}

func (r badRecord) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, r.append)
}

func (r badRecord) append(b *input.Batch, i int) error {
	if i == 7 && r.broken() {
		return exitcode.With(exitcode.BadData, errors.New("file eval, record 7: length is 99, want 8"))
	}
	return r.Dataset.Append(b, i)
}

// TestSavedBeforeBadValidation puts a bad record into the validation records for the end of a run. It
// verifies that the trained state is saved first, and that the exit code is 65.
func TestSavedBeforeBadValidation(t *testing.T) {
	dir := t.TempDir()
	job := loadText(t, clicksText, "checkpoint.dir="+dir+"/ckpt", "export.savedmodel="+dir+"/export")
	members := trainOn(t, 3, job, clicksData(), func(m *member) {
		m.data.Eval = badRecord{m.data.Eval, func() bool { return true }}
	})
	wantCause(t, members, exitcode.BadData, 0, "record 7: length is 99")
	if s, err := checkpoint.Load(dir + "/ckpt"); err != nil || s.Step != 10 || !s.Run.Finished {
		t.Errorf("the checkpoint is of step %d, finished %t, error %v; want 10, true", s.Step, s.Run.Finished, err)
	}
	if left := glob(t, dir+"/export/*"); len(left) > 0 {
		t.Errorf("%q are exported, want nothing that was not evaluated", left)
	}
	// The file is repaired: only evaluation and export are left.
	m := mustTrain(t, 3, job, clicksData(), nil)[0]
	if got, want := fmt.Sprint(kinds(m)), "[start eval export done]"; got != want {
		t.Errorf("after the file is mended the events are %s, want %s", got, want)
	}
}

// TestBadValidationContinues has one rank read a bad validation record during training, but not at the end.
// It verifies that training continues, that no rank waits for another, and that the failure is
// reported.
func TestBadValidationContinues(t *testing.T) {
	for failing := range 2 {
		t.Run(fmt.Sprintf("rank=%d", failing), func(t *testing.T) {
			data := digitsData()
			members := mustTrain(t, 2, loadText(t, digitsText, "eval.every=4"), data, func(m *member) {
				evaluations := 0
				if m.rank == failing {
					m.data.Eval = failsTwice{m.data.Eval, &evaluations}
				}
			})
			if got, want := strings.Join(kindsBut(members[0], "step"), " "), "start warning warning eval done"; got != want {
				t.Errorf("the events are %s, want %s", got, want)
			}
		})
	}
}

// failsTwice is a data set. Its first two evaluations fail in this rank's first record.
type failsTwice struct {
	input.Dataset
	failures *int
}

func (f failsTwice) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, f.append)
}

func (f failsTwice) append(b *input.Batch, i int) error {
	if *f.failures < 2 {
		*f.failures++
		return exitcode.With(exitcode.BadData, errors.New("the record is bad"))
	}
	return f.Dataset.Append(b, i)
}

func kindsBut(m *member, kind string) []string {
	return slices.DeleteFunc(kinds(m), func(k string) bool { return k == kind })
}

// TestOtherValidationRecords resumes with other validation records. It verifies that the job
// continues, because training does not depend on them, and that it gives notice.
func TestOtherValidationRecords(t *testing.T) {
	dir := t.TempDir()
	mustTrain(t, 2, loadText(t, digitsText, "checkpoint.dir="+dir, "train.steps=4"), digitsData(), nil)
	mended := digitsData()
	mended.Eval = synth.Digits(1, 299, synth.Eval)
	m := mustTrain(t, 2, loadText(t, digitsText, "checkpoint.dir="+dir), mended, nil)[0]
	if e := eventsOf[report.Metrics](m); len(e) != 1 || e[0].Examples != 299 || e[0].Step != 10 {
		t.Errorf("evaluations are %+v, want one of 299 records after step 10", e)
	}
	if got := strings.Join(m.notices, "\n"); !strings.Contains(got, "the validation files differ: input.eval is") {
		t.Errorf("notices are %q, want one of input.eval.manifest", got)
	}
}
