package train

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// historyOf returns the kinds of the events of the history of a folder, but those that are added up, and how many
// steps they report.
func historyOf(t *testing.T, dir string) (kinds []string, last int64) {
	t.Helper()
	run, err := history.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range run.Events {
		switch e := s.Event.(type) {
		case report.Step:
			last = e.Step
			continue
		case report.Ranks:
			continue
		}
		kinds = append(kinds, s.Kind())
	}
	return kinds, last
}

// kindsBesideSteps returns the kinds of the events of members but steps, in order.
func kindsBesideSteps(members ...*member) []string {
	var all []string
	for _, m := range members {
		all = append(all, kinds(m)...)
	}
	return slices.DeleteFunc(all, func(kind string) bool { return kind == "step" })
}

// TestHistory verifies that a stopped and a resumed run leave one history: all events but the steps that
// are added up, and the last step. Rank 0 of the resumed run hands on what was before.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	job := loadText(t, digitsText, "checkpoint.dir="+dir)
	stopped := mustTrain(t, 2, job, digitsData(), func(m *member) {
		if m.rank == 0 {
			m.stopAfter(5, exitcode.Terminated)
		}
	})[0]
	var past []string
	resumed := mustTrain(t, 2, job, digitsData(), func(m *member) {
		m.opts.Past = func(s report.Stamped) {
			if s.Kind() != "step" && s.Kind() != "ranks" {
				past = append(past, s.Kind())
			}
		}
	})[0]
	if want := kindsBesideSteps(stopped); !slices.Equal(past, want) {
		t.Errorf("a resumed run hands on %v, want %v", past, want)
	}
	got, last := historyOf(t, dir)
	if want := kindsBesideSteps(stopped, resumed); !slices.Equal(got, want) || last != resumed.result.Step {
		t.Errorf("the history has %v and step %d last, want %v and step %d", got, last, want, resumed.result.Step)
	}
}

// TestRecord verifies that the end of a job is the last event of the history, and that without
// log.history there is none.
func TestRecord(t *testing.T) {
	for _, kept := range []string{"true", "false"} {
		dir := t.TempDir()
		m := mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+dir, "log.history="+kept), digitsData(), func(m *member) {
			m.opts.Trace = func(e report.Event) {
				if e.Kind() == "done" {
					m.trainer.Record(report.Failure{Cause: "the ranks differ"})
				}
			}
		})[0]
		if kept == "false" {
			if _, err := os.Stat(filepath.Join(dir, history.File)); !os.IsNotExist(err) {
				t.Errorf("there is a history without log.history: %v", err)
			}
			continue
		}
		if got, _ := historyOf(t, dir); !slices.Contains(got, "error") {
			t.Errorf("the history of %+v has %v, want the error", m.result, got)
		}
	}
}

// TestHistoryOnFullDisk verifies that a full disk gives one warning, and training the same result as
// without a history.
func TestHistoryOnFullDisk(t *testing.T) {
	whole := mustTrain(t, 2, loadText(t, digitsText), digitsData(), nil)[0]
	job := loadText(t, digitsText, "checkpoint.dir="+t.TempDir(), "eval.every=1")
	m := mustTrain(t, 2, job, digitsData(), func(m *member) {
		inPhase(m, 3, "train", func() { fillDisk(t, job.Checkpoint.Dir) })
	})[0]
	warnings := eventsOf[report.Warning](m)
	if len(warnings) != 1 || warnings[0].Operation != "history" || warnings[0].ExitCode != exitcode.IO || !strings.Contains(warnings[0].Cause, "no space left on device") {
		t.Errorf("warnings %+v, want one of the history", warnings)
	}
	if m.result.Digest != whole.result.Digest {
		t.Errorf("digest %s, want %s as without a history", m.result.Digest, whole.result.Digest)
	}
}

// TestHistoryThatIsNone verifies that a run whose history cannot be opened warns and trains.
func TestHistoryThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, history.File), 0o777); err != nil {
		t.Fatal(err)
	}
	m := mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+dir), digitsData(), nil)[0]
	if w := eventsOf[report.Warning](m); len(w) != 1 || !strings.Contains(w[0].Cause, "no history is kept") {
		t.Errorf("warnings %+v, want one that no history is kept", w)
	}
}
