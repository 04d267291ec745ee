package column

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// maxIDs is the exclusive bound on the ids of a model.
const maxIDs = math.MaxInt32

// Plan describes the use of each column of a record.
type Plan struct {
	// Inputs are the columns that are read, each once. A [Runner] takes their cells in this
	// order.
	Inputs []string

	// Order are all columns that the items name, each once, in the order of the items: the
	// columns of a file without a header.
	Order []string

	Label, Weight int   // places in Inputs; −1: none
	Keys          []int // places in Inputs

	// Classes are those of the label, of which the plan may learn the names; nil: it is a number.
	Classes *input.Classes

	Trim bool // blanks around texts are no part of them

	numberWords, textWords wordSet // that are missing

	missed []Missed

	dates []dateRule
	forms []*graph.NumberForm // of Inputs: how numbers are written; nil of those that no item reads as one
	slow  []bool              // of Inputs: a number cannot be read at first sight

	dense []denseRule
	bags  []bagRule
	scale *denseRule // of the label of a regression; nil: the label is learnt as it is
	size  uint32     // ids of all bags so far

	names  map[string]int     // place in Inputs of each name of Order; −1: not read
	made   map[[2]string]bool // names and kinds of bags
	number int                // of the item that is compiled
	items  [][]int            // of each of Inputs: the items that read it
	used   []use              // of each of Inputs

	watch func([]Cell) []Cell // see Watch
}

// denseRule is a DenseColumn and where its number comes from.
type denseRule struct {
	graph.DenseColumn
	input       int
	standardize bool
	meanDefault bool // Default is learnt
	assumed     bool // Default is 0 because the item has none
	date        int  // of a part of a date: place in the plan's dates

	missing, records int64 // of the training records, once they are counted
}

// bagRule is a BagColumn and where its texts and numbers come from.
type bagRule struct {
	graph.BagColumn
	inputs   []int     // one, or those of a cross
	values   int       // of IDs: place of the values, −1: none
	minCount int64     // > 0: the vocabulary is to be learnt
	narrow   []float64 // Boundaries of float32

	separator []byte // that of a list
	date      int    // of a part of a date: place in the plan's dates
}

// Compile makes a plan of input.columns. vocabulary returns the texts of a vocabulary's file;
// an error of vocabulary keeps its exit code. A fault of the items is a usage error that names
// each item, all at once.
func Compile(columns []Column, vocabulary func(file string) ([]string, error)) (*Plan, error) {
	p := &Plan{Label: -1, Weight: -1, names: map[string]int{}, made: map[[2]string]bool{}}
	var errs []error
	for i := range columns {
		p.number = i
		if err := p.item(&columns[i], vocabulary); err != nil {
			errs = append(errs, itemError(i, columns[i].kind(), err))
		}
	}
	texts := categoricalNames(columns)
	for i := range columns {
		if c := columns[i].Cross; c != nil {
			p.number = i
			if err := p.cross(texts, columns[i].Name, c); err != nil {
				errs = append(errs, itemError(i, "cross", err))
			}
		}
	}
	errs = append(errs, p.checkLabel(columns)...)
	if len(errs) == 0 && len(p.dense)+len(p.bags) == 0 {
		errs = append(errs, errors.New("input.columns has no numeric, categorical, text, ids or cross, want one or more"))
	}
	if err := errors.Join(errs...); err != nil {
		if code := exitcode.Of(err); code != exitcode.Failed {
			return nil, exitcode.With(code, err)
		}
		return nil, exitcode.With(exitcode.Usage, err)
	}
	p.used = usesOf(p)
	p.SetMissing(nil)
	return p, nil
}

// MakesIDs reports whether some of the columns become ids.
func MakesIDs(columns []Column) bool {
	p, err := Compile(columns, func(string) ([]string, error) { return nil, nil })
	return err == nil && len(p.bags) > 0
}

func itemError(i int, kind string, err error) error {
	if kind == "" {
		return fmt.Errorf("input.columns.%d %w", i, err)
	}
	if fault, ok := errors.AsType[keys.Fault](err); ok {
		return fmt.Errorf("input.columns.%d.%s.%w", i, kind, fault)
	}
	return fmt.Errorf("input.columns.%d.%s %w", i, kind, err)
}

// kind is the name of the item's kind, "" if it has not exactly one.
func (c *Column) kind() string {
	if has := keys.KindsOf(reflect.ValueOf(c).Elem()); len(has) == 1 {
		return has[0].Name
	}
	return ""
}

// item adds an item; a cross comes after all others.
func (p *Plan) item(c *Column, vocabulary func(string) ([]string, error)) error {
	if f, ok := keys.Find(c, c.kind()); ok {
		if errs := keys.Check("", f.Value.Interface()); errs != nil {
			return errs[0]
		}
	}
	switch c.kind() {
	case "label":
		return p.label(c.Label)
	case "weight":
		return p.single(&p.Weight, c.Weight.Names, c.Weight.Decimal, c.Weight.Strip)
	case "key":
		return p.keys(c.Key.Names)
	case "numeric":
		return p.numeric(c.Numeric)
	case "categorical":
		return p.categorical(c.Categorical, vocabulary)
	case "text":
		return p.text(c.Text)
	case "time":
		return p.time(c.Time)
	case "ids":
		return p.ids(c.IDs)
	case "ignore":
		names, err := listed(c.Ignore.Names)
		for _, name := range names {
			p.place(name)
		}
		return err
	case "cross":
		return nil
	}
	return errors.New("has no kind or several, want one of " + strings.Join(keys.Kinds(reflect.TypeFor[Column]()), ", "))
}

// listed expands names, of which there must be one.
func listed(names []string) ([]string, error) {
	all, err := Expand(names)
	if err == nil && len(all) == 0 {
		err = errors.New("has no names, want one or more")
	}
	return all, err
}

// place notes that an item names a column.
func (p *Plan) place(name string) {
	if _, ok := p.names[name]; !ok {
		p.names[name] = -1
		p.Order = append(p.Order, name)
	}
}

// input returns the place of a column among those that are read.
func (p *Plan) input(name string) int {
	p.place(name)
	if p.names[name] < 0 {
		p.names[name] = len(p.Inputs)
		p.Inputs, p.items, p.forms = append(p.Inputs, name), append(p.items, nil), append(p.forms, nil)
	}
	at := p.names[name]
	p.items[at] = append(p.items[at], p.number)
	return at
}

// checkLabel returns an error for each item that reads the label and is no key: a model that is given
// the label learns nothing else.
func (p *Plan) checkLabel(columns []Column) (errs []error) {
	if p.Label < 0 {
		return nil
	}
	for _, i := range p.items[p.Label] {
		if kind := columns[i].kind(); kind != "label" && kind != "key" {
			errs = append(errs, itemError(i, kind, fmt.Errorf("reads %s, which is the label, want a column that is one or the other", p.Inputs[p.Label])))
		}
	}
	return errs
}

// single takes the one column of a label or weight. A weight that does not say how it is written is so as another item
// says.
func (p *Plan) single(at *int, names []string, decimal, strip string) error {
	names, err := Expand(names)
	var form *graph.NumberForm
	if err == nil {
		form, err = formOf(decimal, strip)
	}
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return fmt.Errorf("names %d columns, want one", len(names))
	case *at >= 0:
		return fmt.Errorf("is %s, but %s is it already", names[0], p.Inputs[*at])
	case form == nil:
		*at = p.input(names[0])
	default:
		*at, err = p.reads(names[0], form)
	}
	return err
}

// keys adds keys, each of which is one once.
func (p *Plan) keys(names []string) error {
	names, err := listed(names)
	for _, name := range names {
		at := p.input(name)
		if slices.Contains(p.Keys, at) {
			return fmt.Errorf("names %s, which is a key already", name)
		}
		p.Keys = append(p.Keys, at)
	}
	return err
}

// label takes the column of the label, and how its number is scaled.
func (p *Plan) label(o *LabelOptions) error {
	err := p.single(&p.Label, o.Names, o.Decimal, o.Strip)
	if err == nil && (o.Standardize || o.Transform != "") {
		p.scale = &denseRule{
			DenseColumn: graph.DenseColumn{Name: p.Inputs[p.Label], Log1p: o.Transform == "log1p", Scale: 1},
			input:       p.Label, standardize: o.Standardize,
		}
	}
	return err
}

// learning returns the columns of numbers that may have anything to learn: the dense ones, and the label.
func (p *Plan) learning() []*denseRule {
	all := make([]*denseRule, 0, len(p.dense)+1)
	for i := range p.dense {
		all = append(all, &p.dense[i])
	}
	if p.scale != nil {
		all = append(all, p.scale)
	}
	return all
}

func (p *Plan) numeric(o *NumericOptions) error {
	names, err := listed(o.Names)
	switch {
	case err != nil:
		return err
	case o.Default != nil && !isFloat32(o.Default.Number):
		return fmt.Errorf("has default %g, want a finite number", o.Default.Number)
	case len(o.Buckets) > 0 && o.Default != nil && o.Default.Mean:
		return errors.New("has buckets with default mean, want a number, or none for no id")
	case len(o.Buckets) > 0 && (o.Standardize || o.Transform != ""):
		return errors.New("has buckets with transform or standardize, want one of them: buckets are of the number as it is")
	}
	form, err := formOf(o.Decimal, o.Strip)
	if err != nil {
		return err
	}
	var missing Missing
	if o.Default != nil {
		missing = *o.Default
	}
	for i, b := range o.Buckets {
		if !isFloat32(b) || i > 0 && b <= o.Buckets[i-1] {
			return fmt.Errorf("has buckets %v, want ascending numbers", o.Buckets)
		}
	}
	for _, name := range names {
		input, err := p.reads(name, form)
		if err != nil {
			return err
		}
		if len(o.Buckets) == 0 {
			p.dense = append(p.dense, denseRule{
				DenseColumn: graph.DenseColumn{Name: name, Default: missing.Number, Log1p: o.Transform == "log1p", Scale: 1},
				input:       input, standardize: o.Standardize, meanDefault: missing.Mean, assumed: o.Default == nil,
			})
			continue
		}
		err = p.bag(bagRule{BagColumn: graph.BagColumn{
			Name: name, Kind: graph.Buckets, Size: uint32(len(o.Buckets)) + 1, Boundaries: o.Buckets,
			Default: missing.Number, HasDefault: o.Default != nil,
		}, inputs: []int{input}, narrow: graph.Narrow(o.Buckets)})
		if err != nil {
			return err
		}
	}
	return nil
}

func isFloat32(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }

func (p *Plan) categorical(o *CategoricalOptions, vocabulary func(string) ([]string, error)) error {
	names, err := listed(o.Names)
	switch {
	case err != nil:
		return err
	case (o.Hash != 0) == (o.Vocabulary != ""):
		return errors.New("wants either hash or vocabulary")
	case o.MinCount != 0 && o.Vocabulary != "auto":
		return fmt.Errorf("has min_count %d, want none without vocabulary: auto", o.MinCount)
	case o.Unknown != "" && o.Vocabulary == "":
		return fmt.Errorf("has unknown %s, want none without a vocabulary", o.Unknown)
	}
	rule := bagRule{
		BagColumn: graph.BagColumn{Kind: graph.Hash, Size: uint32(o.Hash), List: o.Separator != "", Separator: o.Separator},
		separator: []byte(o.Separator),
	}
	if o.Vocabulary != "" {
		rule.Kind, rule.Strict = graph.Vocabulary, o.Unknown == "error"
		if o.Vocabulary == "auto" {
			rule.minCount = max(int64(o.MinCount), 1)
		} else if rule.BagColumn.Vocabulary, err = vocabulary(o.Vocabulary); err != nil {
			return fmt.Errorf("vocabulary: %w", err)
		}
		rule.Size = vocabularySize(&rule.BagColumn)
	}
	return bagOfEach(p, names, rule)
}

// bagOfEach adds a field for each of some columns to a plan.
func bagOfEach(p *Plan, names []string, rule bagRule) error {
	for _, name := range names {
		rule.Name, rule.inputs = name, []int{p.input(name)}
		if err := p.bag(rule); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) text(o *TextOptions) error {
	names, err := listed(o.Names)
	if err != nil {
		return err
	}
	return bagOfEach(p, names, bagRule{BagColumn: graph.BagColumn{Kind: graph.Words, Size: uint32(o.Hash), Lower: o.Lower, NGrams: max(1, o.NGrams)}})
}

// vocabularySize is the number of ids of a vocabulary: its texts, and the one of the unknown.
func vocabularySize(b *graph.BagColumn) uint32 {
	if b.Strict {
		return uint32(len(b.Vocabulary))
	}
	return uint32(len(b.Vocabulary)) + 1
}

func (p *Plan) ids(o *IDsOptions) error {
	names, err := Expand(o.Names)
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return fmt.Errorf("names %d columns, want one", len(names))
	}
	rule := bagRule{BagColumn: graph.BagColumn{Name: names[0], Kind: graph.IDs, Size: uint32(o.Size), Values: o.Values}, inputs: []int{p.input(names[0])}, values: -1}
	if o.Values != "" {
		rule.values = p.input(o.Values)
	}
	return p.bag(rule)
}

// cross adds a cross of categorical columns, whose names are texts.
func (p *Plan) cross(texts map[string]bool, name string, o *CrossOptions) error {
	if len(o.Of) < 2 {
		return fmt.Errorf("is of %s, want two or more", phrase.Count(len(o.Of), "column"))
	}
	rule := bagRule{BagColumn: graph.BagColumn{Name: name, Kind: graph.Cross, Size: uint32(o.Hash), Of: o.Of}}
	if name == "" {
		rule.Name = strings.Join(o.Of, "x")
	}
	for _, of := range o.Of {
		rule.inputs = append(rule.inputs, p.input(of))
		if !texts[of] {
			return fmt.Errorf("is of %s%s, want columns that are categorical, without separator", of, phrase.DidYouMean(of, slices.Sorted(maps.Keys(texts))))
		}
	}
	return p.bag(rule)
}

// categoricalNames are the columns of all categorical items that have one text a record.
func categoricalNames(columns []Column) map[string]bool {
	all := map[string]bool{}
	for _, c := range columns {
		if c.Categorical != nil && c.Categorical.Separator == "" {
			names, _ := Expand(c.Categorical.Names)
			for _, name := range names {
				all[name] = true
			}
		}
	}
	return all
}

// bag adds a field. Its ids follow those of the fields before.
func (p *Plan) bag(rule bagRule) error {
	is := [2]string{rule.Name, string(rule.Kind)}
	if p.made[is] {
		return fmt.Errorf("makes %s of %s, which another item does", rule.Kind, rule.Name)
	}
	p.made[is] = true
	if rule.Size > maxIDs-p.size {
		return fmt.Errorf("needs %d ids behind %d others, want at most %d in all", rule.Size, p.size, maxIDs)
	}
	rule.First = p.size
	p.size += rule.Size
	p.bags = append(p.bags, rule)
	return nil
}

// Columns describes the inputs that the plan makes of a record, with the statistics learnt so far.
func (p *Plan) Columns() graph.Columns {
	c := graph.Columns{NumberWords: p.numberWords.list, TextWords: p.textWords.list, Trim: p.Trim}
	for at := range p.Inputs {
		if !isPlain(p.forms[at]) {
			c.Forms = append(c.Forms, *p.forms[at])
		}
	}
	for _, d := range p.dates {
		c.Dates = append(c.Dates, graph.DateColumn{Name: p.Inputs[d.input], Layout: d.layout})
	}
	for _, d := range p.dense {
		c.Dense = append(c.Dense, d.DenseColumn)
	}
	for _, b := range p.bags {
		c.Bags = append(c.Bags, b.BagColumn)
	}
	for _, at := range p.Keys {
		c.Keys = append(c.Keys, p.Inputs[at])
	}
	switch {
	case p.Label < 0:
	case p.Classes != nil && !p.Classes.Learns():
		c.Label = &graph.LabelColumn{Name: p.Inputs[p.Label], Classes: p.Classes.Names()}
	case p.scale != nil:
		scale := p.scale.DenseColumn
		c.Label = &graph.LabelColumn{Name: p.Inputs[p.Label], Scale: &scale}
	}
	return c
}
