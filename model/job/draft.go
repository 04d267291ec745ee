package job

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/look"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A Draft is a job for files that were looked at.
type Draft struct {
	Table *look.Table
	Name  string // of the job
	Kind  string // of the model; "" chooses
}

const (
	fewRecords  = 10_000 // below, a linear model
	leastEpochs = 10     // of a run, and
	leastSteps  = 1000   // so that the model of a small table is trained to its end
	imageEpochs = 40     // of few images
	evaluations = 10     // of a run, each a line and a checkpoint; early stopping looks at them
	mostItems   = 100    // columns that have a line each; more are put together by what becomes of them
	commentFrom = 72     // place of the comments in a line
)

// DraftName returns the name of a job for files: that of the first without its endings. Folders of the job
// are called by it.
func DraftName(files []string) string {
	base, _, _ := strings.Cut(filepath.Base(files[0]), "*") // of a glob what is before
	for _, end := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, end)
	}
	if ext := filepath.Ext(base); ext != base {
		base = strings.TrimSuffix(base, ext)
	}
	if strings.Trim(base, ".") == "" { // as of "...csv": a name out of data that is a folder above
		return "job"
	}
	return base
}

// File returns the job file, with a comment on each choice, and the job. Equal drafts give equal bytes.
func (d *Draft) File() ([]byte, *Config, error) {
	w := &draftWriter{Draft: d}
	w.write()
	text := []byte(w.String())
	if endOfSigns(text) < len(text) {
		return nil, nil, exitcode.With(exitcode.BadData, fmt.Errorf("%d columns make a job file of %d bytes, want at most %d: give columns names with a number at their end, such as x1 and x2", len(d.Table.Columns), len(text), maxJobFile))
	}
	cfg, err := loadText(newLoader(d.Name+".yaml"), text, nil, nil)
	if err != nil && d.Kind == "" {
		err = exitcode.With(exitcode.Internal, fmt.Errorf("the job file that was made is not one: %w", err))
	}
	if err == nil {
		kind, _ := w.kind()
		err = exitcode.With(exitcode.Usage, model.Kind(kind).Fits(len(d.Table.Shape) == 3, d.hasIDs()))
	}
	if err != nil {
		return text, nil, err
	}
	return text, cfg, nil
}

// draftWriter writes the lines of a job file.
type draftWriter struct {
	*Draft
	strings.Builder
}

// line writes a line and, behind it, a comment.
func (w *draftWriter) line(text, comment string, args ...any) {
	if comment != "" {
		text += strings.Repeat(" ", max(1, commentFrom-utf8.RuneCountInString(text))) + "# " + phrase.Foreign(fmt.Sprintf(comment, args...), phrase.MaxText)
	}
	w.WriteString(text + "\n")
}

func (w *draftWriter) write() {
	t := w.Table
	files := t.Origin.Named()
	of := phrase.Count(int(t.Records), "record")
	if len(t.Columns) > 0 {
		of += " of " + phrase.Count(len(t.Columns), "column")
	}
	w.line("# A job for "+phrase.Foreign(strings.Join(files[:min(3, len(files))], ", "), phrase.MaxText)+": "+of+".", "")
	w.line("# Change what you like: ringtrain jobs explain KEY says what a key is for.", "")
	w.line("name: "+yamlText(w.Name), "")
	w.model()
	w.input()
	w.training()
	w.line("checkpoint: {dir: "+yamlText("ckpt/"+w.Name)+"}", "eval, predict and a run that goes on read it")
	w.line("export: {savedmodel: "+yamlText("export/"+w.Name)+"}", "for TensorFlow Serving")
}

// hasIDs reports whether the model reads ids.
func (d *Draft) hasIDs() bool {
	if len(d.Table.Columns) == 0 {
		return !d.Table.Dense
	}
	return slices.ContainsFunc(d.Table.Columns, func(c look.Column) bool {
		return c.Becomes == "categorical" || c.Becomes == "text" || c.Becomes == "time" || c.Becomes == "ids"
	})
}

// kind returns the kind of the model, and why it is this one.
func (d *Draft) kind() (kind, why string) {
	few := d.Table.Records < fewRecords
	size := fmt.Sprintf("%d records or more", fewRecords)
	if few {
		size = fmt.Sprintf("below %d records", fewRecords)
	}
	switch {
	case d.Kind != "":
		return d.Kind, "as asked for"
	case len(d.Table.Shape) == 3:
		return "cnn-small", "images"
	case !few && d.hasIDs():
		return "wide-deep", size
	case !few:
		return "mlp", size + ", all of numbers"
	}
	return "linear", size
}

func (w *draftWriter) model() {
	kind, why := w.kind()
	w.line("model:", "")
	w.line("  kind: "+yamlText(kind), "%s", why)
	if model.Kind(kind).Has("hidden") {
		w.line("  hidden: [64, 32]", "units of the hidden layers")
	}
	label := w.Table.Label
	if len(label.Classes) == 0 {
		w.line("loss: {kind: squared}", "%s", label.Column)
		return
	}
	w.line("  classes: "+yamlValue(reflect.ValueOf(model.Classes(label.Classes))), "of %s", label.Column)
}

func (w *draftWriter) input() {
	t := w.Table
	w.line("input:", "")
	w.line("  train: "+yamlOptions(reflect.ValueOf(t.Origin)), "")
	if f, _ := convert.FormatOf(t.Origin.Format); f.Resized {
		w.line("  shape: "+yamlValue(reflect.ValueOf(t.Shape)), "height, width and channels that images are brought to")
	}
	w.line(fmt.Sprintf("  batch: %d", w.batch()), "records of a step")
	w.line("  split: {share: 0.1}", "a tenth of the records validates")
	if n := t.BadRecords(); n > 0 {
		w.line(fmt.Sprintf("  max_bad_records: %d", n), "left out; %s", t.Notices()[0])
	}
	if len(t.Columns) > 0 {
		w.line("  columns:", "")
	}
	for _, group := range w.groups() {
		c, names := group[0], make([]string, len(group))
		for i, of := range group {
			names[i] = of.Name
		}
		comment := c.Why
		if len(group) > 1 {
			comment = fmt.Sprintf("%d columns; the first: %s", len(group), c.Why)
		}
		if c.Unusable() {
			w.line("    # "+phrase.Name(fmt.Sprintf("%q", c.Name)), "%s", comment)
			continue
		}
		text := yamlItem(reflect.ValueOf(c.Item(column.Ranges(names))))
		w.line("    - "+text[1:len(text)-1], "%s", comment+missingText(c.Missing)) // one key: no braces
	}
}

// missingText says how many cells are missing, as which words.
func missingText(missing []look.Value) string {
	text := ""
	for i, v := range missing {
		word := v.Text
		if word == "" {
			word = "empty"
		}
		text += fmt.Sprintf("%s %d %s", []string{";", ","}[min(i, 1)], v.Records, word)
	}
	return text
}

// groups returns the columns that have a line each; or, of a table with too many for that, those together of
// which the same becomes. Without names in the file the order of the columns stays.
func (w *draftWriter) groups() (all [][]*look.Column) {
	t := w.Table
	f, _ := convert.FormatOf(t.Origin.Format)
	named := t.Origin.Header || f.Columns == convert.MayColumns
	place := map[string]int{}
	for i := range t.Columns {
		c := &t.Columns[i]
		key := fmt.Sprint(c.Unusable(), yamlItem(reflect.ValueOf(c.Item(nil))))
		at, known := place[key]
		if len(t.Columns) <= mostItems || !known || !named && at < len(all)-1 {
			at = len(all)
			place[key], all = at, append(all, nil)
		}
		all[at] = append(all[at], c)
	}
	return all
}

// training writes how the model is trained, in the measure of the records.
func (w *draftWriter) training() {
	few := w.Table.Records < fewRecords
	epochs, rate := leastEpochs, 0.002
	if few {
		rate = 0.01
	}
	if few && len(w.Table.Shape) == 3 {
		epochs = imageEpochs
	}
	steps := roundUp(int(w.Table.Records-w.Table.Records/10), w.batch()) // of an epoch
	epochs = max(epochs, roundUp(leastSteps, steps))
	if w.hasIDs() {
		w.line(fmt.Sprintf("optimizer: {name: lazy-adam, learning_rate: %v}", rate), "adam that moves only the rows that a step reads")
	} else {
		w.line(fmt.Sprintf("optimizer: {name: adam, learning_rate: %v}", rate), "")
	}
	w.line("schedule: {kind: cosine}", "the rate falls to 0 at the end")
	w.line(fmt.Sprintf("train: {epochs: %d, early_stopping: {patience: 3}}", epochs), "at most; no better loss in 3 evaluations ends it")
	w.line(fmt.Sprintf("eval: {every: %d}", roundUp(epochs*steps, evaluations)), "steps: %d evaluations at most", evaluations)
}

// roundUp returns n / by, rounded up, and at least 1.
func roundUp(n, by int) int { return max(1, (n+by-1)/max(1, by)) }

// batch returns the records of a step: at least 50 steps an epoch of a small table, 1,024 of a large one.
func (w *draftWriter) batch() int {
	return max(16, min(1024, 1<<bits.Len(uint(w.Table.Records/100))))
}
