package look

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/parquet"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A Finding is something in the records of a job that ends the job, or is likely wrong.
type Finding struct {
	Column   string `json:"column"` // "": of the record
	What     string `json:"what"`
	Records  int64  `json:"records"`
	Examples []Odd  `json:"examples,omitempty"`
	Fix      string `json:"fix"`
	Ends     bool   `json:"ends"` // the job ends with 65
}

// A Report is what a check has found.
type Report struct {
	Records  int64
	Columns  []Column // without columns the label alone
	Classes  []Value  // of records without columns: the most frequent first; nil: the label is a number
	Findings []Finding
}

// mostExamples bounds the examples of a finding.
const mostExamples = 3

// leastOfTexts is of how many validation records one at least has a text that no training record has.
const leastOfTexts = 100

// leastOfClass is how many validation records of a class say something of it.
const leastOfClass = 10

// Check reads the training records of a job once, and its validation records, of files of their own (eval is nil
// otherwise) or of a split. The specifications have found files, and the plan of input.columns of records with columns.
func Check(ctx context.Context, train, eval *convert.Spec) (*Report, error) {
	if train.Columns == nil {
		return checkPlain(ctx, train, eval)
	}
	held, key := heldOut{}, "input.eval"
	if train.Split.Validates() {
		eval, key = train, "input.split"
	}
	parts, err := partsOf(ctx, train)
	if err != nil {
		return nil, err
	}
	held.parts = parts
	t, err := checkPass(ctx, train, held, eval != nil)
	if err != nil {
		return nil, err
	}
	r := &Report{Records: t.records}
	for i, name := range t.names {
		c := describe(name, &t.total[i], &t.values[i], t.records, t.check.reads(i))
		c.addMissing(t.check.words[i])
		r.Columns = append(r.Columns, c)
	}
	t.faults(r, "input.train", train.Tolerate)
	t.settle(r)
	t.likely(r)
	if n := parts.Without(); n > 0 {
		r.Findings = append(r.Findings, Finding{Column: train.Split.By, What: "input.split.by: missing, so that the records train", Records: n, Fix: "fill the cells, or take another column"})
	}
	if eval == nil {
		return r, nil
	}
	held.part = input.Validation
	e, err := checkPass(ctx, eval, held, true)
	if err != nil {
		return nil, err
	}
	e.faults(r, key, parts != nil && train.Tolerate)
	t.compare(r, e, key)
	column.SetWritten(train.Columns, Written(ctx, train, column.Hashes(train.Columns)))
	column.Strange(train.Columns, Written(ctx, eval, column.Hashes(train.Columns)), func(name, what, fix string) {
		r.Findings = append(r.Findings, Finding{Column: name, What: key + " " + what, Records: e.records, Fix: fix})
	})
	return r, nil
}

// A checker is what a part has of the faults of records; in a pass, what all parts have.
type checker struct {
	plan   *column.Plan
	check  *column.Checker
	labels input.Labels
	at     []int // of each of the plan's Inputs: its field
	cells  []column.Cell
	plain  []bool             // of each input: its cell is a plain number
	bad    []Finding          // of each input
	words  []map[string]int64 // of each field: words by which it is missing, with the records
	same   []int64            // of each field: records whose cell is that of the label
	lines  []uint64           // hashes of the records of a part
	known  distinct           // of the records of a pass
	sample sample

	compared   bool // with the records of another set
	passesOver bool // a record with a bad cell is not there, as in training
}

// mostRecords bounds the records that are told apart.
const mostRecords = 1 << 20

func newChecker(s *convert.Spec, names []string) (*checker, error) {
	c := &checker{plan: s.Columns, labels: s.LabelRule, passesOver: s.Tolerate}
	c.begin(s, len(names))
	c.known.limit = mostRecords
	for _, name := range s.Columns.Inputs {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: no column %s, which input.columns names%s; there are %s", s.Files[0], name, phrase.DidYouMean(name, names), namesShown(names)))
		}
		c.at = append(c.at, at)
	}
	return c, nil
}

// begin gives c memory of its own.
func (c *checker) begin(s *convert.Spec, fields int) {
	n := len(s.Columns.Inputs)
	f, _ := convert.FormatOf(s.Format)
	c.check, c.cells, c.plain = column.NewChecker(s.Columns, s.LabelRule, f.IsText()), make([]column.Cell, n), make([]bool, n)
	c.bad, c.same, c.words = make([]Finding, n), make([]int64, fields), make([]map[string]int64, fields)
}

// labelField is the field of the label.
func (c *checker) labelField() int { return c.at[c.plan.Label] }

// fill makes the cells of a record of its fields.
func (c *checker) fill(fields []reading) {
	for i, at := range c.at {
		c.cells[i].Text, c.plain[i] = fields[at].cell, fields[at].kind == plainNumber
	}
}

// record looks at the cells and fields of record k of a part. It returns false if the record counts nowhere else.
func (c *checker) record(fields []reading, line []byte, t places, k int) bool {
	sound := true
	c.check.Faults(c.cells, c.plain, func(i int, err error) {
		sound = false
		c.bad[i].Records++
		if f := &c.bad[i]; len(f.Examples) < mostExamples {
			file, line := t.Place(k)
			if f.Records == 1 {
				f.What = err.Error()
			}
			f.Examples = append(f.Examples, Odd{Text: phrase.Clip(string(fields[c.at[i]].cell), mostValue), File: file, Line: line, Records: 1})
		}
	})
	if c.passesOver && !sound {
		return false
	}
	c.check.EachMissing(func(i int, word string) {
		at := c.at[i]
		fields[at] = reading{cell: fields[at].cell}
		if c.words[at] == nil {
			c.words[at] = map[string]int64{}
		}
		c.words[at][word]++
	})
	label := fields[c.labelField()].cell
	for i := range fields {
		if string(fields[i].cell) == string(label) {
			c.same[i]++
		}
	}
	if c.compared {
		c.lines = append(c.lines, hash(line))
	}
	c.sample.add(fields)
	return true
}

// reset has c begin a part.
func (c *checker) reset() {
	clear(c.same)
	for i := range c.words {
		clear(c.words[i])
	}
	for i := range c.bad {
		c.bad[i] = Finding{Examples: c.bad[i].Examples[:0]}
	}
	c.lines, c.sample.rows, c.sample.next = c.lines[:0], c.sample.rows[:0], 0
}

// merge adds a part behind those of c.
func (c *checker) merge(part *checker) {
	for i, f := range part.bad {
		to := &c.bad[i]
		if to.Records == 0 {
			to.What = f.What
		}
		to.Records += f.Records
		to.Examples = append(to.Examples, f.Examples[:min(len(f.Examples), mostExamples-len(to.Examples))]...)
	}
	for i, n := range part.same {
		c.same[i] += n
	}
	for i, words := range part.words {
		if c.words[i] == nil && len(words) > 0 {
			c.words[i] = map[string]int64{}
		}
		for word, n := range words {
			c.words[i][word] += n
		}
	}
	for _, h := range part.lines {
		c.known.add(h)
	}
	c.sample.merge(&part.sample)
}

// checkDialect returns how the records of a set are written, and the names of their columns.
func checkDialect(ctx context.Context, s *convert.Spec, f convert.Format, folders input.Folders) (dialect, error) {
	inFiles := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(folders.Names, name) })
	}
	d := dialect{separator: ',', header: s.Header, noQuotes: f.Default != nil, trim: s.Trim, names: inFiles(s.Columns.Order)}
	switch {
	case s.Separator == "tab", f.Default != nil:
		d.separator = '\t'
	case s.Separator != "":
		d.separator = s.Separator[0]
	}
	if !d.header && f.Columns == convert.WantColumns {
		return d, nil
	}
	b, err := head(ctx, s.Files, s.Limits)
	if err != nil {
		return d, err
	}
	if f.Columns == convert.MayColumns {
		features, err := tfrecord.Describe(b.name, b.content)
		d.names = inFiles(s.Columns.Inputs)
		for _, feature := range features {
			if !slices.Contains(d.names, feature.Name) {
				d.names = append(d.names, feature.Name)
			}
		}
		return d, err
	}
	if err := notText(b.name, b.content); err != nil {
		return d, err
	}
	rows := cut(b.content, b.whole, d.separator, d.trim)
	if len(rows) == 0 {
		return d, exitcode.With(exitcode.BadData, fmt.Errorf("%s has no header and no record", b.name))
	}
	d.names = rows[0]
	for i, name := range d.names {
		if d.trim {
			d.names[i] = strings.TrimSpace(name)
		}
	}
	return d, nil
}

// checkPass reads the records of a set with columns, those of held. compared says that those of another set are looked
// for among them.
func checkPass(ctx context.Context, s *convert.Spec, held heldOut, compared bool) (*pass, error) {
	f, _ := convert.FormatOf(s.Format)
	switch {
	case f.Columns == convert.NoColumns || s.Columns == nil:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("format is %s, want one with columns", s.Format))
	case s.Compression == "zlib":
		return nil, exitcode.With(exitcode.Usage, errors.New("compression is zlib, want gzip or none: data check reads files once, from first to last"))
	}
	wanted := s.Columns.Inputs
	if !s.Header && f.Columns == convert.WantColumns && !f.IsTable() {
		wanted = s.Columns.Order
	}
	folders, err := input.FoldersOf(s.Files, wanted)
	if err != nil {
		return nil, err
	}
	var rows *parquet.Rows
	var d dialect
	if f.IsTable() {
		if rows, err = checkTable(ctx, s, folders); err != nil {
			return nil, err
		}
		defer rows.Close()
		d.names = rows.Names[:len(rows.Names)-len(folders.Names)]
	} else if d, err = checkDialect(ctx, s, f, folders); err != nil {
		return nil, err
	}
	p, err := newPass(string(s.Format), d, folders)
	if err != nil {
		return nil, inFile(s.Files[0], err)
	}
	p.held = held
	if err := p.checkAs(s, compared); err != nil {
		return nil, err
	}
	switch {
	case f.IsTable():
		err = p.readTable(ctx, s.Files, rows)
	case f.Columns == convert.MayColumns:
		err = p.readExamples(ctx, s.Files, s.Limits)
	default:
		err = p.run(ctx, s.Files, s.Limits)
	}
	if err != nil {
		return nil, err
	}
	p.finish()
	faulty := slices.ContainsFunc(p.check.bad, func(f Finding) bool { return f.Records > 0 })
	switch {
	case p.records+p.badAll > 0 || faulty:
		return p, nil
	case held.parts != nil:
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("input.split: no %s records: %s", held.part.Records(), s.Split))
	}
	return nil, exitcode.With(exitcode.BadData, fmt.Errorf("no records in %s", s.Files[0]))
}

// checkAs has a pass look for the faults of records.
func (p *pass) checkAs(s *convert.Spec, compared bool) (err error) {
	if p.check, err = newChecker(s, p.names); err != nil {
		return err
	}
	p.check.compared, p.check.sample.every = compared, sampleEvery(s.Files)
	for i := range p.workers {
		c := *p.check
		c.begin(s, len(p.names))
		p.workers[i].check = &c
		for field := range p.names {
			p.workers[i].columns[field].reads = c.reads(field)
		}
	}
	return nil
}

// sampleEvery returns of how many records of files one is in the sample: cells have a byte or more, and a
// separator.
func sampleEvery(files []string) int {
	size := int64(0)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return int(1 + size/2/mostSample)
}

// faults adds what ends the job.
func (p *pass) faults(r *Report, set string, tolerates bool) {
	fix := "mend the lines, or input.max_bad_records: N"
	if p.badAll > 0 {
		f := Finding{What: fmt.Sprintf("%s: lines that are no record: %s", set, p.bad[0].Text), Records: p.badAll, Examples: p.bad, Fix: fix, Ends: !tolerates}
		r.Findings = append(r.Findings, f)
	}
	for i, f := range p.check.bad {
		if f.Records > 0 {
			f.Column, f.What, f.Ends = p.check.plan.Inputs[i], set+": "+f.What, !tolerates
			f.Fix = fix
			if i == p.check.plan.Label {
				f.Fix = labelFix(f.What, fix)
			}
			r.Findings = append(r.Findings, f)
		}
	}
}

// labelFix returns the line to write where labels are texts, or no class of the job; else mend.
func labelFix(fault, mend string) string {
	const auto = "model.classes: auto"
	switch {
	case strings.Contains(fault, auto):
		return auto
	case strings.Contains(fault, "want one of"):
		return "the class into model.classes, or " + mend
	}
	return mend
}

// likely adds what is likely wrong.
func (p *pass) likely(r *Report) {
	if p.records == 0 {
		return
	}
	label := p.check.labelField()
	for _, v := range r.Columns[label].classesOfMissing() {
		if !p.check.check.IsMissing(v.Text) {
			r.Findings = append(r.Findings, Finding{Column: p.names[label], What: fmt.Sprintf("the class %s is a word for missing", v.Text), Records: v.Records, Fix: missingKey(r.Columns, v.Text) + ", which leaves the records out"})
		}
	}
	for _, at := range p.check.features() {
		c := &r.Columns[at]
		add := func(what string, records int64, fix string) {
			r.Findings = append(r.Findings, Finding{Column: c.Name, What: what, Records: records, Fix: fix})
		}
		ignored := fmt.Sprintf("- ignore: {names: [%s]}", c.Name)
		auc := p.check.sample.tells(at, label)
		switch why := constant(c); {
		case p.found != nil && !p.found[at]:
			r.Findings = append(r.Findings, Finding{Column: c.Name, What: "no record has the feature", Records: c.Records, Fix: "one of " + namesShown(p.foundNames()), Ends: true})
		case why != "":
			add(why, c.Records, ignored)
		case p.check.same[at] == p.records:
			add("is the label "+p.names[label]+" in each record", p.records, ignored)
		case auc >= leastTelling:
			add(fmt.Sprintf("alone tells the label %s: AUC %.4f", p.names[label], auc), c.filled(), ignored+", unless it is known before the label")
		case c.content == texts && c.unique && c.Distinct > fewTexts && !p.check.divides(at):
			add("no text comes twice", c.filled(), fmt.Sprintf("- key: {names: [%s]}, or %s", c.Name, ignored))
		}
	}
}

// features returns the fields that are features.
func (c *checker) features() (all []int) {
	for i, at := range c.at {
		if c.plan.Predicts(i) && !slices.Contains(c.plan.Keys, i) && at != c.labelField() {
			all = append(all, at)
		}
	}
	return all
}

// reads returns how the job reads a field, empty where it does not say.
func (c *checker) reads(field int) content {
	switch i := slices.Index(c.at, field); {
	case i < 0:
		return empty
	case c.check.Reads(i):
		return numbers
	case c.check.IsDate(i):
		return dates
	case field != c.labelField():
		return texts
	}
	return empty
}

// divides reports whether the plan makes several texts of the cells of a field.
func (c *checker) divides(field int) bool { return c.plan.Divides(slices.Index(c.at, field)) }

// Err returns the error of a report that has a finding that ends the job.
func (r *Report) Err() error {
	n := 0
	for _, f := range r.Findings {
		if f.Ends {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return exitcode.With(exitcode.BadData, errors.New(phrase.Count(n, "finding")+" will end the job with 65"))
}
