package column

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// maxTexts bounds the texts of a vocabulary that is learnt.
const maxTexts = 1 << 24

// Learner collects the statistics of a plan from training records: means and deviations of
// standardized columns, means that replace missing numbers, and vocabularies. The records come in
// parts. Goroutines may learn parts side by side: the result depends neither on the parts nor on the order in which
// they end.
type Learner struct {
	plan *Plan

	mu      sync.Mutex
	moments []moments     // of each dense column, after its transform
	texts   []textCounts  // of each bag whose vocabulary is learnt; nil for others
	parts   map[int]*Part // that are being learnt
	counts  input.Counts
	words   wordCounts
	numeric []bool  // inputs that are numbers
	runner  *Runner // that knows no vocabulary that is learnt
}

// Part learns from some of the records. One goroutine at a time may use it.
type Part struct {
	plan     *Plan
	learning []*denseRule
	moments  []moments
	texts    []textCounts
	counts   input.Counts
	words    wordCounts
	numeric  []bool
	runner   *Runner
	values   []float64 // of the record, by input
}

// Learns reports whether the plan has anything to learn.
func (p *Plan) Learns() bool {
	return slices.ContainsFunc(p.learning(), (*denseRule).learns) ||
		slices.ContainsFunc(p.bags, func(b bagRule) bool { return b.minCount > 0 }) || p.Classes.Learns()
}

// NewLearner returns a learner. labels says which labels are right.
func NewLearner(p *Plan, labels input.Labels) *Learner {
	l := &Learner{
		plan: p, moments: make([]moments, len(p.learning())), texts: p.vocabularies(), parts: map[int]*Part{},
		words: make(wordCounts, len(p.Inputs)), numeric: p.numericInputs(), runner: NewRunner(p, labels),
	}
	l.counts.Missing, l.counts.Unknown = make([]int64, len(p.Inputs)), make([]int64, len(p.bags))
	for i, texts := range l.texts {
		if texts != nil {
			l.runner.known[i] = nil
		}
	}
	return l
}

// vocabularies returns empty texts for each bag with an automatic vocabulary, nil for the others.
func (p *Plan) vocabularies() []textCounts {
	all := make([]textCounts, len(p.bags))
	for i, b := range p.bags {
		if b.minCount > 0 {
			all[i] = textCounts{}
		}
	}
	return all
}

// Part begins a part.
func (l *Learner) Part(number int) *Part {
	part := &Part{
		plan: l.plan, learning: l.plan.learning(), moments: make([]moments, len(l.plan.learning())), texts: l.plan.vocabularies(),
		words: make(wordCounts, len(l.plan.Inputs)), numeric: l.numeric, runner: l.runner.Another(), values: make([]float64, len(l.plan.Inputs)),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts[number] = part
	return part
}

// End ends a part. A vocabulary that is too large does not grow further: [Learner.Finish] refuses it.
func (l *Learner) End(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	part := l.parts[number]
	delete(l.parts, number)
	for i, texts := range part.texts {
		if len(l.texts[i]) <= maxTexts {
			l.texts[i].merge(texts)
		}
	}
	part.texts = nil
	l.counts.Merge(&part.counts)
	l.words.merge(part.words)
	for i := range l.moments {
		l.moments[i].merge(&part.moments[i])
	}
}

// Learn takes a record: the cells of the plan's Inputs. An error names the column and has the
// code exitcode.BadData; nothing is then learnt of the record.
func (pa *Part) Learn(cells []Cell) error {
	if err := pa.runner.check(cells, pa.numeric, pa.values); err != nil {
		return err
	}
	p := pa.plan
	for i, d := range pa.learning {
		if !d.learns() {
			continue
		}
		x := pa.values[d.input]
		if d.Part != "" {
			x = pa.runner.dates[d.date].number(d.Part)
		}
		if math.IsNaN(x) {
			x = d.Default
			if d.meanDefault {
				continue
			}
		}
		pa.moments[i].add(d.transform(x), x)
	}
	for i, texts := range pa.texts {
		if texts != nil {
			b := &p.bags[i]
			all, _ := pa.runner.texts(b, cells) // check has seen them
			for _, text := range all {
				texts.add(text)
			}
		}
	}
	pa.runner.count(&pa.counts, cells)
	for _, a := range pa.runner.absent {
		pa.words.add(a.input, a.word, 1)
	}
	return nil
}

// textCounts has how often each text occurs. Assigning to a key that is there would keep the bytes of a
// record.
type textCounts map[string]*int64

// add counts a text, and keeps a copy.
func (t textCounts) add(text []byte) {
	if n := t[view(text)]; n != nil {
		*n++
	} else {
		n = new(int64)
		*n, t[string(text)] = 1, n
	}
}

// merge adds the texts of o, which t then shares.
func (t textCounts) merge(o textCounts) {
	for text, n := range o {
		if sum := t[text]; sum != nil {
			*sum += *n
		} else {
			t[text] = n
		}
	}
}

// Finish stores the statistics in the plan, unless no record is good, which is an error of its own. The
// error has the code exitcode.BadData if the training records have none.
func (l *Learner) Finish() error {
	p := l.plan
	if len(l.parts) > 0 {
		panic("column: Learner.Finish before the end of a part")
	}
	if l.counts.Records == 0 {
		return nil
	}
	for i, d := range p.learning() {
		if d.learns() {
			if err := d.learn(&l.moments[i], l.counts.Missing[d.input]); err != nil {
				return err
			}
		}
	}
	for i, texts := range l.texts {
		if b := &p.bags[i]; b.minCount > 0 {
			if len(texts) > maxTexts {
				return exitcode.With(exitcode.BadData, fmt.Errorf("column %s has more than %d texts, want fewer for a vocabulary, or hash", b.Name, maxTexts))
			}
			for _, n := range texts {
				if *n < b.minCount && !b.List {
					l.counts.Unknown[i] += *n
				}
			}
			b.Vocabulary = texts.frequent(b.minCount)
			if b.List && len(b.Vocabulary) == 0 { // of lists no more is counted
				l.counts.Unknown[i] = l.counts.Records - l.counts.Missing[b.inputs[0]]
			}
			if b.Size = vocabularySize(&b.BagColumn); b.Size == 0 {
				return exitcode.With(exitcode.BadData, fmt.Errorf("column %s has no text that occurs %s or more", b.Name, phrase.Count(int(b.minCount), "time")))
			}
		}
	}
	if p.Classes.Learns() {
		if err := p.Classes.Settle(nil); err != nil {
			return fmt.Errorf("column %s: %w", p.Inputs[p.Label], err)
		}
	}
	p.missed = l.missed()
	return p.layOut()
}

// numericInputs reports of each input whether it is read as a number.
func (p *Plan) numericInputs() []bool {
	numeric := make([]bool, len(p.Inputs))
	for at := range numeric {
		numeric[at] = p.is(at, asNumber) || p.scale != nil && at == p.Label
	}
	return numeric
}

// frequent are the texts that occur so often, the most frequent first, equally frequent ones in
// bytewise order.
func (t textCounts) frequent(least int64) []string {
	type counted struct {
		text string
		n    int64
	}
	var all []counted
	for text, n := range t {
		if *n >= least {
			all = append(all, counted{text, *n})
		}
	}
	slices.SortFunc(all, func(a, b counted) int {
		if a.n != b.n {
			return cmp.Compare(b.n, a.n)
		}
		return cmp.Compare(a.text, b.text)
	})
	var texts []string
	for _, c := range all {
		texts = append(texts, c.text)
	}
	return texts
}

// layOut gives the fields their ids, one field behind the other.
func (p *Plan) layOut() error {
	p.size = 0
	for i := range p.bags {
		b := &p.bags[i]
		if b.Size > maxIDs-p.size {
			return exitcode.With(exitcode.Usage, fmt.Errorf("column %s needs %d ids behind %d others, want at most %d in all", b.Name, b.Size, p.size, maxIDs))
		}
		b.First = p.size
		p.size += b.Size
	}
	return nil
}

// Adopt stores earlier statistics, such as those of a checkpoint's model, in the plan. It is an
// error with exitcode.Usage if the columns are others.
func (p *Plan) Adopt(learnt graph.Columns) error {
	now := p.Columns()
	other := func(name, what string) error {
		return exitcode.With(exitcode.Usage, fmt.Errorf("input.columns: %s: %s in the model that goes on", name, what))
	}
	if len(now.Dense) != len(learnt.Dense) || len(now.Bags) != len(learnt.Bags) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("input.columns makes %s and %s of ids, but the model that goes on has %d and %d",
			phrase.Count(len(now.Dense), "number"), phrase.Count(len(now.Bags), "field"), len(learnt.Dense), len(learnt.Bags)))
	}
	words := func(list []string) string { return fmt.Sprintf("%q", list) }
	for _, f := range [][3]string{
		{"missing", words(now.NumberWords), words(learnt.NumberWords)}, {"missing", words(now.TextWords), words(learnt.TextWords)},
		{"train.trim", fmt.Sprint(now.Trim), fmt.Sprint(learnt.Trim)},
		{"columns: decimal and strip", fmt.Sprint(now.Forms), fmt.Sprint(learnt.Forms)}, {"columns: layout", fmt.Sprint(now.Dates), fmt.Sprint(learnt.Dates)},
	} {
		if learnt.NumberWords != nil && f[1] != f[2] { // older models have none of these
			return exitcode.With(exitcode.Usage, fmt.Errorf("input.%s is %s, but the model that goes on has %s", f[0], f[1], f[2]))
		}
	}
	for i, d := range learnt.Dense {
		p.dense[i].adopt(d)
		if what := p.dense[i].Difference(&d); what != "" {
			return other(now.Dense[i].Name, what)
		}
	}
	for i, b := range learnt.Bags {
		p.bags[i].Written = b.Written
		if p.bags[i].minCount > 0 {
			p.bags[i].Vocabulary, p.bags[i].Size = b.Vocabulary, b.Size
		}
	}
	if p.Classes.Learns() && learnt.Label != nil {
		if err := p.Classes.Settle(learnt.Label.Classes); err != nil {
			return err
		}
	}
	if p.scale != nil && learnt.Label != nil && learnt.Label.Scale != nil {
		p.scale.adopt(*learnt.Label.Scale)
	}
	if now := p.Columns(); now.Label != nil && learnt.Label != nil {
		if what := now.Label.Difference(learnt.Label); what != "" {
			return other(now.Label.Name, what)
		}
	}
	if err := p.layOut(); err != nil {
		return err
	}
	for i, b := range learnt.Bags {
		if what := p.bags[i].Difference(&b); what != "" {
			return other(now.Bags[i].Name, what)
		}
	}
	return nil
}
