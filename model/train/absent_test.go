package train

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// absentJob returns a job on 60 training and 60 validation records, whose lines have the forms train and
// eval below the header head. In a form Y, X and C stand for a label, a number and a text.
func absentJob(t *testing.T, format, columns, head, train, eval string, sets ...string) *job.Config {
	t.Helper()
	dir := t.TempDir()
	for name, form := range map[string]string{"train": train, "eval": eval} {
		text := head
		for i := range 60 {
			text += strings.NewReplacer("Y", fmt.Sprint(i%2), "X", fmt.Sprint(i), "C", []string{"Bern", "Zug"}[i%2]).Replace(form) + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		format, _, _ := strings.Cut(format, " ")
		sets = append(sets, "input."+name+".format="+format, "input."+name+".files="+filepath.Join(dir, name))
	}
	model := "{kind: sparse-linear, features: 9}"
	if head != "" {
		model = "{kind: wide-deep, embedding: 2, hidden: [2]}"
		sets = append(sets, "input.train.header=true", "input.eval.header=true")
	}
	if strings.HasSuffix(format, "tabs") {
		sets = append(sets, "input.train.separator=tab", "input.eval.separator=tab")
	}
	for i, set := range sets {
		sets[i] = strings.Replace(set, "DIR", dir, 1)
	}
	return loadText(t, "name: absent\nmodel: "+model+"\ninput: {batch: 8, max_bad_records: 1, columns: ["+columns+"]}\n"+
		"train: {epochs: 1}\neval: {every: 3}\noptimizer: {name: sgd, learning_rate: 0.01}\n", sets...)
}

// TestAbsent verifies what is told of sets that lack something in each record: a column, the texts of a
// vocabulary, two labels, a weight above 0. Rank 0 tells it once, with counts over all ranks and without bad records, from
// text and from a cache, at the end of an epoch or of a run within one.
func TestAbsent(t *testing.T) {
	const columns = "{label: {names: [y]}}, {weight: {names: [w]}}, {numeric: {names: [x], standardize: true}}, {categorical: {names: [c], vocabulary: auto}}"
	const head = "y,w,x,c\n"
	for _, tt := range []struct {
		name, format, columns, head, train, eval string
		want                                     []string
	}{
		{"good", "csv", columns, head, "Y,1,X,C", "Y,2,X,C", nil},
		{"empty", "csv", columns, head, "Y,1,X,C", "Y,,,", []string{"input.eval: w is missing", "input.eval: x is missing", "input.eval: c is missing"}},
		{"empty in both", "csv", columns, head, "Y,,X,C", "Y,,X,C", []string{"input.eval: w is missing", "input.train: w is missing"}},
		{"unknown", "csv", columns, head, "Y,1,X,C", "Y,1,X,'C'", []string{"input.eval: c is unknown to its vocabulary"}},
		{"labels", "csv", columns, head, "1,1,X,C", "0,1,X,C", []string{"input.eval: y is 0", "input.train: y is 1"}},
		{"tabs", "csv tabs", columns, strings.ReplaceAll(head, ",", "\t"), "Y\t1\tX\tC", "Y\t1\tX\t", []string{"input.eval: c is missing"}},
		{"pairs", "libsvm", "", "", "1 1:1", "Y 1:1", []string{"input.train: label is 1"}},
		{"words", "vw", "", "", "Y |n a", "1 |n a", []string{"input.eval: label is 1"}},
		{"no weight", "csv", columns, head, "Y,0,X,C", "Y,1,X,C", []string{"input.train: w is 0"}},
		{"no weight of words", "vw", "", "", "Y 0 |n a", "Y 2 |n a", []string{"input.train: weight is 0"}},
		{"no pairs", "libsvm", "", "", "Y 1:1", "Y", []string{"input.eval: ids is missing"}},
		{"no words", "vw", "", "", "Y |n", "Y |n a", []string{"input.train: ids is missing"}},
	} {
		for _, p := range []int{1, 2, 3} {
			for _, set := range []string{"input.cache=off", "input.cache=DIR/parsed", "train.epochs=3", "train.steps=7"} {
				cfg := absentJob(t, tt.format, tt.columns, tt.head, tt.train, tt.eval, set)
				data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, w := range tt.want {
					n := 60
					if set == "train.steps=7" && strings.HasPrefix(w, "input.train") {
						n = 56
					}
					want = append(want, fmt.Sprintf("%s in %d of %d records", w, n, n))
				}
				if got := toldOf(t, mustTrain(t, p, cfg, data, nil)); !slices.Equal(got, want) {
					t.Errorf("%s, %d ranks, %s: told %q, want %q", tt.name, p, set, got, want)
				}
				data.Close()
			}
		}
	}
}

// toldOf returns the warnings of input in the order of events.
func toldOf(t *testing.T, members []*member) (all []string) {
	t.Helper()
	for _, m := range members {
		for _, w := range eventsOf[report.Warning](m) {
			if w.Operation == "evaluate" { // nothing can be learnt from such records
				continue
			}
			all = append(all, w.Cause)
			if m.rank != 0 || w.Operation != "input" || w.ExitCode != exitcode.OK || w.Records != w.Of || !strings.HasPrefix(w.Cause, w.Set+": "+w.Column+" is ") {
				t.Errorf("rank %d: event %+v", m.rank, w)
			}
		}
	}
	return all
}

// TestAbsentWithoutBadRecords verifies that a bad record has no part in what is told, and that a run which
// resumes within an epoch does not tell of a part of it.
func TestAbsentWithoutBadRecords(t *testing.T) {
	const columns = "{label: {names: [y]}}, {numeric: {names: [x, z]}}, {categorical: {names: [c], hash: 9}}"
	for _, cache := range []string{"off", "DIR/parsed"} {
		cfg := absentJob(t, "csv", columns, "y,x,z,c\noops,1,1,1\n", "Y,,X,C", "Y,X,X,C", "input.cache="+cache, "checkpoint.dir=DIR/ckpt", "train.epochs=2")
		cfg.Input.Eval.Format, cfg.Eval.Every = "", job.Every{} // the training records are evaluated at the end
		data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stopped := mustTrain(t, 2, cfg, data, func(m *member) { m.stopAfter(3, exitcode.Terminated) })
		if got := toldOf(t, stopped); len(got) > 0 {
			t.Errorf("told %q of a part of an epoch", got)
		}
		got := toldOf(t, mustTrain(t, 2, cfg, data, func(m *member) { m.opts.Resume = "must" }))
		if want := []string{"input.train: x is missing in 60 of 60 records"}; !slices.Equal(got, want) {
			t.Errorf("cache %s: told %q, want %q", cache, got, want)
		}
		data.Close()
	}
}
