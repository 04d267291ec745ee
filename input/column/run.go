package column

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/internal/farmhash"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Runner turns records into inputs of a model. One goroutine at a time may use it.
type Runner struct {
	plan   *Plan
	labels input.Labels
	known  []map[string]uint32 // of each bag that is a vocabulary: the places of its texts
	asIs   bool                // no text is trimmed or a word for missing
	joined []byte              // of a cross, or words
	digits []byte              // of a number as a text
	pieces [][]byte            // texts of a bag
	spans  []span              // words of a text

	pairs   tensor.Bags // of check
	unknown []int       // bags of the record whose texts are not in their vocabularies
	absent  []absence   // of the record
	dates   []date      // of the record
}

// NewRunner returns a runner of a plan. labels says which labels are right.
func NewRunner(p *Plan, labels input.Labels) *Runner {
	r := &Runner{plan: p, labels: labels, known: make([]map[string]uint32, len(p.bags)), asIs: !p.Trim && len(p.textWords.list) == 0}
	for i, b := range p.bags {
		if b.Kind == graph.Vocabulary {
			r.known[i] = make(map[string]uint32, len(b.Vocabulary))
			for place, text := range b.Vocabulary {
				r.known[i][text] = uint32(place)
			}
		}
	}
	return r
}

// Another returns a runner of the same plan for another goroutine. Both share the vocabularies.
func (r *Runner) Another() *Runner {
	return &Runner{plan: r.plan, labels: r.labels, known: r.known, asIs: r.asIs}
}

// Append adds a record to b: the cells of the plan's Inputs. An error names the column and has
// the code exitcode.BadData; b is then to be thrown away.
func (r *Runner) Append(b *input.Batch, cells []Cell) (err error) {
	p := r.plan
	if p.watch != nil {
		cells = p.watch(cells)
	}
	r.unknown, r.absent = r.unknown[:0], r.absent[:0]
	if at, err := r.readDates(cells); err != nil {
		return p.fault(at, err)
	}
	if len(p.dense) > 0 {
		row := b.DenseRow(len(p.dense))
		for i := range p.dense {
			if row[i], err = r.value(&p.dense[i], cells); err != nil {
				return p.fault(p.dense[i].input, err)
			}
		}
	}
	for i := range p.bags {
		if at, err := r.bag(b, i, cells); err != nil {
			return p.fault(at, err)
		}
	}
	y, weight, err := r.target(cells)
	if err != nil {
		return err
	}
	b.Y = append(b.Y, y)
	b.SetImportance(weight)
	if b.WantKeys && len(p.Keys) > 0 {
		keys := b.AddKeys(len(p.Keys))
		for i, at := range p.Keys {
			key, err := cells[at].text(&r.digits)
			if err != nil {
				return p.fault(at, err)
			}
			keys[i] = string(r.trimmed(key))
		}
	}
	r.count(&b.Columns, cells)
	return nil
}

// count counts a record, of which check or Append has found nothing bad.
func (r *Runner) count(c *input.Counts, cells []Cell) {
	c.Records++
	if len(c.Missing) != len(cells) {
		c.Missing, c.Unknown = make([]int64, len(cells)), make([]int64, len(r.plan.bags))
	}
	for i := range cells {
		if cells[i].missing() {
			c.Missing[i]++
		}
	}
	for _, a := range r.absent {
		c.Missing[a.input]++
	}
	for _, i := range r.unknown {
		c.Unknown[i]++
	}
}

// check returns the error that Append would return for a record, and sets numbers to those of the
// inputs that are numeric, NaN where one is missing. Vocabularies that are to be learnt know all texts.
func (r *Runner) check(cells []Cell, numeric []bool, numbers []float64) (err error) {
	p := r.plan
	r.unknown, r.absent = r.unknown[:0], r.absent[:0]
	if at, err := r.readDates(cells); err != nil {
		return p.fault(at, err)
	}
	for i := range cells {
		numbers[i] = math.NaN()
		if numeric[i] {
			if numbers[i], err = r.double(cells, i, math.NaN()); err != nil {
				return p.fault(i, err)
			}
		}
	}
	for i := range p.bags {
		rule, at := &p.bags[i], p.bags[i].inputs[0]
		switch rule.Kind {
		case graph.Hash, graph.Words:
			if rule.List {
				_, err = r.texts(rule, cells)
			} else {
				_, err = r.text(&cells[at], at)
			}
		case graph.Vocabulary:
			r.pairs.Reset(1)
			err = r.vocabulary(&r.pairs, i, cells)
		case graph.IDs:
			r.pairs.Reset(1)
			at, err = rule.ids(&r.pairs, cells)
		}
		if err != nil {
			return p.fault(at, err)
		}
	}
	_, _, err = r.target(cells)
	return err
}

// target returns the label and the weight of a record. The label is looked at last: of a bad record no class is learnt.
func (r *Runner) target(cells []Cell) (y, weight float32, err error) {
	p := r.plan
	weight = 1
	if p.Weight >= 0 && !r.labels.Absent {
		if weight, err = r.number(cells, p.Weight, 1); err == nil && weight < 0 {
			err = fmt.Errorf("is %g, want a weight of 0 or more", weight)
		}
		if err != nil {
			return 0, 0, p.fault(p.Weight, err)
		}
	}
	if y, err = r.label(cells); err != nil {
		return 0, 0, p.fault(p.Label, err)
	}
	return y, weight, nil
}

// fault is err as one of a column.
func (p *Plan) fault(at int, err error) error {
	return exitcode.With(exitcode.BadData, &InputError{at, p.Inputs[at], err})
}

func (r *Runner) label(cells []Cell) (float32, error) {
	if r.plan.Label < 0 || r.labels.Absent {
		return 0, nil
	}
	if r.labels.Names != nil {
		return r.class(cells, r.plan.Label)
	}
	if s := r.plan.scale; s != nil {
		v, err := r.double(cells, r.plan.Label, math.NaN())
		if err != nil {
			return 0, err
		}
		if v != v {
			return 0, errNoLabel
		}
		return r.labels.Value((s.transform(v) - s.Mean) * s.Scale)
	}
	v, err := r.number(cells, r.plan.Label, float32(math.NaN()))
	if err != nil && len(cells[r.plan.Label].Text) > 0 {
		err = fmt.Errorf("%w, or model.classes: auto", err)
	}
	if err != nil {
		return 0, err
	}
	if v != v {
		return 0, errNoLabel
	}
	return r.labels.Value(float64(v))
}

var errNoLabel = errors.New("is missing, want a label")

// class is the class of a label.
func (r *Runner) class(cells []Cell, at int) (float32, error) {
	c, of := &cells[at], r.labels.Names
	switch {
	case c.listed() > 1:
		return 0, c.list()
	case len(c.Values) == 1:
		return of.Number(float64(c.Values[0]))
	case len(c.IDs) == 1:
		return of.Number(float64(c.IDs[0]))
	}
	text, err := r.text(&cells[at], at)
	if err == nil && len(text) == 0 {
		err = errNoLabel
	}
	if err != nil {
		return 0, err
	}
	return of.Text(text)
}

// value is the number of a dense column.
func (r *Runner) value(d *denseRule, cells []Cell) (float32, error) {
	if d.Part != "" {
		x := r.dates[d.date].number(d.Part)
		if x != x {
			x = d.Default
		}
		return float32((x - d.Mean) * d.Scale), nil
	}
	if v, ok := r.typed(&cells[d.input], d.input); ok && !d.Log1p {
		if d.standardize {
			v = (v - d.Mean) * d.Scale
		}
		return float32(v), nil
	}
	if d.standardize {
		x, err := r.double(cells, d.input, d.Default)
		return float32((d.transform(x) - d.Mean) * d.Scale), err
	}
	x, err := r.number(cells, d.input, float32(d.Default))
	return float32(d.transform(float64(x))), err
}

func (d *denseRule) transform(x float64) float64 {
	if !d.Log1p {
		return x
	}
	return math.Copysign(math.Log1p(math.Abs(x)), x)
}

// bag adds bag i of a record. at is the input that an error is of.
func (r *Runner) bag(b *input.Batch, i int, cells []Cell) (at int, err error) {
	rule := &r.plan.bags[i]
	bags := b.Bags(len(r.plan.bags))
	at = rule.inputs[0]
	switch rule.Kind {
	case graph.Buckets:
		x, err := r.double(cells, at, math.NaN())
		if err != nil {
			return at, err
		}
		if x != x {
			if !rule.HasDefault {
				break
			}
			x = rule.Default
		}
		boundaries := rule.Boundaries
		if len(cells[at].Values) > 0 {
			boundaries = rule.narrow
		}
		bags.Add(rule.First+bucketOf(boundaries, x), 1)
	case graph.Hash, graph.Words, graph.Cross:
		if prints := cells[at].Prints; len(prints) > 0 {
			for _, print := range prints {
				if print != 0 {
					bags.Add(rule.First+uint32(print%uint64(rule.Size)), 1)
				}
			}
			break
		}
		if rule.Kind == graph.Hash && !rule.List && len(rule.separator) == 0 { // most columns: the cell is the one text
			text, err := r.text(&cells[at], at)
			if err != nil {
				return at, err
			}
			if len(text) > 0 {
				bags.Add(rule.First+bucket(text, rule.Size), 1)
			}
			break
		}
		var texts [][]byte
		if texts, at, err = r.hashed(rule, cells); err != nil {
			return at, err
		}
		for _, text := range texts {
			bags.Add(rule.First+bucket(text, rule.Size), 1)
		}
	case graph.Vocabulary:
		if err := r.vocabulary(bags, i, cells); err != nil {
			return at, err
		}
	case graph.Month, graph.Weekday, graph.Day, graph.Hour:
		if m := &r.dates[rule.date]; !m.missing {
			bags.Add(rule.First+m.id(rule.Kind), 1)
		}
	case graph.IDs:
		if at, err = rule.ids(bags, cells); err != nil {
			return at, err
		}
	}
	bags.End()
	return at, nil
}

// place returns the place of a text in the vocabulary of bag i, that behind the last one if it is unknown.
func (r *Runner) place(i int, text []byte) (uint32, error) {
	rule := &r.plan.bags[i]
	switch {
	case r.known[i] == nil && !utf8.Valid(text): // to be learnt
		return 0, fmt.Errorf("is %s, want UTF-8 for a vocabulary", phrase.Quote(string(text)))
	case r.known[i] == nil:
		return 0, nil
	}
	place, known := r.known[i][string(text)]
	if !known && rule.Strict {
		return 0, fmt.Errorf("is %s, which is not in its vocabulary of %d", phrase.Quote(string(text)), len(rule.Vocabulary))
	}
	if !known {
		place = uint32(len(rule.Vocabulary))
	}
	return place, nil
}

// bucket is the id of a text, as TensorFlow's StringToHashBucketFast gives it.
func bucket(text []byte, size uint32) uint32 {
	return uint32(farmhash.Fingerprint64(text) % uint64(size))
}

// bucketOf is the number of boundaries that are not above x, as TensorFlow's Bucketize counts.
func bucketOf(boundaries []float64, x float64) uint32 {
	n, _ := slices.BinarySearch(boundaries, math.Nextafter(x, math.Inf(1)))
	return uint32(n)
}

// join puts the texts of a cross into r.joined, nothing where one is missing.
func (r *Runner) join(rule *bagRule, cells []Cell) (at int, err error) {
	r.joined = r.joined[:0]
	for k, at := range rule.inputs {
		if k > 0 {
			r.joined = append(r.joined, graph.CrossSeparator...)
		}
		text, err := r.text(&cells[at], at)
		if err != nil {
			return at, err
		}
		if len(text) == 0 {
			r.joined = r.joined[:0]
			return at, nil
		}
		r.joined = append(r.joined, text...)
	}
	return rule.inputs[0], nil
}

// ids adds the pairs of ids and values, lists of a tf.Example or texts with spaces between.
func (rule *bagRule) ids(bags *tensor.Bags, cells []Cell) (at int, err error) {
	at = rule.inputs[0]
	ids := &cells[at]
	var values *Cell
	if rule.values >= 0 {
		values = &cells[rule.values]
	}
	switch { // lists of a tf.Example
	case len(ids.Values) > 0:
		return at, errors.New("is a list of floats, want a list of int64")
	case len(ids.Texts) > 0:
		return at, errors.New("is a list of texts, want a list of int64")
	case values != nil && len(values.IDs) > 0:
		return rule.values, errors.New("is a list of int64, want a list of floats")
	case values != nil && len(values.Texts) > 0:
		return rule.values, errors.New("is a list of texts, want a list of floats")
	case len(ids.IDs) > 0 || values != nil && len(values.Values) > 0:
		if values != nil && len(values.Values) != len(ids.IDs) {
			return rule.values, fmt.Errorf("has %s for %s, want as many", phrase.Count(len(values.Values), "value"), phrase.Count(len(ids.IDs), "id"))
		}
		for k, id := range ids.IDs {
			if id < 0 || id >= int64(rule.Size) {
				return at, rule.outside(id)
			}
			v := float32(1)
			if values != nil {
				v = values.Values[k]
			}
			if !input.Finite(v) {
				return rule.values, fmt.Errorf("is %g, want finite numbers", v)
			}
			bags.Add(rule.First+uint32(id), v)
		}
		return at, nil
	}
	rest, texts := ids.Text, []byte(nil)
	if values != nil {
		texts = values.Text
	}
	for {
		var word []byte
		if word, rest = nextWord(rest); word == nil {
			break
		}
		id, err := strconv.ParseInt(view(word), 10, 64)
		if err != nil {
			return at, fmt.Errorf("has the id %s, want an integer", phrase.Quote(string(word)))
		}
		if id < 0 || id >= int64(rule.Size) {
			return at, rule.outside(id)
		}
		v := float32(1)
		if values != nil {
			if word, texts = nextWord(texts); word == nil {
				return rule.values, fmt.Errorf("has fewer values than ids, want as many")
			}
			x, err := (&Cell{Text: word}).number(word, 32)
			if err != nil {
				return rule.values, err
			}
			v = float32(x)
		}
		bags.Add(rule.First+uint32(id), v)
	}
	if word, _ := nextWord(texts); word != nil {
		return rule.values, fmt.Errorf("has more values than ids, want as many")
	}
	return at, nil
}

func (rule *bagRule) outside(id int64) error {
	return fmt.Errorf("has the id %d, want one in [0, %d), as size says; raise it before training if the id is right", id, rule.Size)
}

// nextWord cuts the first word off, nil if there is none.
func nextWord(text []byte) (word, rest []byte) {
	text = bytes.TrimLeft(text, " ")
	if len(text) == 0 {
		return nil, nil
	}
	if i := bytes.IndexByte(text, ' '); i >= 0 {
		return text[:i], text[i:]
	}
	return text, nil
}
