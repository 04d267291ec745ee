package trained

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

const (
	mostNames   = 3     // texts that name an id
	mostCounted = 1_000 // texts of an id that are counted side by side
	maxName     = 200   // bytes of a text
)

// Names is the job whose training records name hashed ids.
type Names struct {
	Job   *job.Config // nil: ids have no names
	Roots []string    // folders of its files
}

// name sets the texts of the weights whose ids a hash makes, for a model whose records have columns. It reads the training
// records once.
func (n Names) name(ctx context.Context, path string, columns *graph.Columns, all []WeightInfo) error {
	opener := records.NewOpener(n.Job, records.Options{Roots: n.Roots})
	if err := opener.Adopt(ctx, path, columns); err != nil {
		return err
	}
	plan := opener.Plan()
	if plan == nil || columns == nil {
		return exitcode.With(exitcode.Usage, errors.New("--names is of columns, want a job with input.columns"))
	}
	texts := map[uint32]frequent{}
	for _, w := range all {
		if b := bagOfRow(columns, w); b != nil && b.Hashes() {
			texts[uint32(w.Row)] = frequent{}
		}
	}
	d, _, err := opener.OpenEvaluated(ctx, records.Evaluated{Split: input.Training.String(), Cells: true})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := countTexts(ctx, d, plan, texts, records.MaxBad(n.Job, input.Training.String()) > 0); err != nil {
		return err
	}
	for i, w := range all {
		if bagOfRow(columns, w) != nil { // the row of a number is no id
			all[i].Texts = texts[uint32(w.Row)].first(mostNames)
		}
	}
	return nil
}

// countTexts counts the texts of the records of d that make the ids in texts. With tolerate it leaves out bad records.
func countTexts(ctx context.Context, d input.Dataset, plan *column.Plan, texts map[uint32]frequent, tolerate bool) error {
	type made struct {
		of   frequent
		text string
	}
	var b input.Batch
	var record []made
	r := column.NewRunner(plan, input.Labels{Absent: true})
	plan.Watch(func(cells []column.Cell) []column.Cell {
		record = record[:0]
		r.Hashed(cells, func(id uint32, text []byte) {
			if of := texts[id]; of != nil {
				record = append(record, made{of, phrase.Clip(string(text), maxName)})
			}
		})
		return cells
	})
	defer plan.Watch(nil)
	for i := range d.Facts().Records {
		if i%input.EvalBlock == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.Reset()
		err := d.Append(&b, i)
		if tolerate && err != nil && input.BadRecord(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, m := range record {
			m.of.add(m.text)
		}
	}
	return nil
}

// frequent counts texts. Beyond mostCounted the counts are too small by the same number at most, and rare texts are lost
// (Misra and Gries, 1982).
type frequent map[string]int64

func (f frequent) add(text string) {
	if _, known := f[text]; known || len(f) < mostCounted {
		f[text]++
		return
	}
	for t := range f {
		f[t]--
		if f[t] == 0 {
			delete(f, t)
		}
	}
}

// first returns the n most frequent texts. The parts of a cross have × between.
func (f frequent) first(n int) []string {
	all := slices.SortedFunc(maps.Keys(f), func(a, b string) int { return cmp.Or(cmp.Compare(f[b], f[a]), strings.Compare(a, b)) })
	for i, t := range all {
		all[i] = strings.ReplaceAll(t, graph.CrossSeparator, " × ")
	}
	return all[:min(n, len(all))]
}
