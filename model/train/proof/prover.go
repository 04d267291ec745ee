package proof

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/bundle"
	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// Subject is a model whose exported graph is compared with it.
type Subject struct {
	Model *model.Model
	Plan  *column.Plan     // of records with columns; nil: they have none. Nobody else may read records by it
	Names savedmodel.Names // of the features of records without columns
}

// A Prover compares the graph of a version folder with its model. One goroutine at a time may use it.
type Prover struct {
	Largest float64 // difference so far
	Record  int     // its number in the files; -1: one that is in no file

	of       Subject
	graph    *interpreter.Model
	programs []program
	examples examples
	expected expected

	answered int       // records that Answers has compared
	scoring  []program // the one of the signatures that has the scores

	raw   []column.Cell   // of the record that was read last: views
	first []column.Cell   // of the first record that was compared: copies
	read  []record        // those of the batch that is being read
	cells [][]column.Cell // of read; nil without columns
}

// Open opens the graph in a version folder. An error has [exitcode.BadData] if the files cannot be read or are not those of the
// model's variables. A graph that does not run, or is not the model's, has [exitcode.Internal].
func Open(dir string, of Subject) (*Prover, error) {
	g, err := interpreter.Open(dir)
	if err != nil {
		return nil, refused(dir, of, err)
	}
	p := &Prover{Record: -1, of: of, graph: g, expected: expected{head: of.Model.Graph().Head, class: map[string]int{}}}
	for class, name := range p.expected.head.Names() {
		p.expected.class[name] = class
	}
	if err := p.compile(); err != nil {
		return nil, errors.Join(exitcode.With(exitcode.Internal, fmt.Errorf("%s: %w", dir, err)), g.Close())
	}
	return p, nil
}

// refused returns the error of a graph that cannot be opened, with the code of Open.
func refused(dir string, of Subject, err error) error {
	b, fault := savedmodel.Read(dir)
	if fault != nil {
		return err
	}
	for _, v := range of.Model.Variables() {
		if !slices.ContainsFunc(b.Variables, func(t bundle.Tensor) bool {
			return t.Name == v.Name && slices.EqualFunc(t.Shape, v.Shape, func(a int64, b int) bool { return a == int64(b) })
		}) {
			return err
		}
	}
	return exitcode.With(exitcode.Internal, errors.New(err.Error())) // without the code that it has
}

// compile prepares the signatures and the examples that they take.
func (p *Prover) compile() error {
	programs, features, err := compile(p.graph)
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return errors.New("the graph has no signature")
	}
	p.programs = programs
	plan := p.of.Plan
	var runner *column.Runner
	if plan != nil {
		runner = column.NewRunner(plan, input.Labels{Absent: true})
		p.expected.keys = savedmodel.KeyOutputs(p.of.Model.Graph().Columns.Keys)
	}
	if p.examples, err = newExamples(plan, runner, p.of.Names, features); err == nil && plan != nil {
		plan.Watch(p.take)
	}
	return err
}

// Close releases the graph.
func (p *Prover) Close() error {
	if p.of.Plan != nil {
		p.of.Plan.Watch(nil)
	}
	return p.graph.Close()
}

// Signatures returns the names of the signatures that are compared.
func (p *Prover) Signatures() (names []string) {
	for i := range p.programs {
		names = append(names, p.programs[i].signature)
	}
	return names
}

// take is for column.Plan.Watch.
func (p *Prover) take(cells []column.Cell) []column.Cell {
	p.raw = cells
	return cells
}

// fault returns the error of a difference beyond the bound.
func (p *program) fault(record string, d *difference) error {
	what := fmt.Sprintf("differs from the model by %.3g at %s, bound %.3g", d.size, record, d.bound)
	if d.what != "" {
		what = fmt.Sprintf("differs from the model at %s: %s", record, d.what)
	}
	return exitcode.With(exitcode.Internal, fmt.Errorf("%s %s", p.signature, what))
}

// compare compares the answers of signatures to the records of a batch, whose bags are indexed, with the model's.
// It returns the scores of the graph, one row a record as the model has them. cells are those of the records, nil without
// columns.
func (p *Prover) compare(b *input.Batch, cells [][]column.Cell, signatures []program, of named) (scores tensor.Matrix, err error) {
	n := len(b.Y)
	whole, sent := p.blockOf(b, cells)
	p.expected.texts = b.Keys
	p.expect(&b.X)
	narrow := false // the model was given what a tf.Example has of the records
	for k := range signatures {
		at := &signatures[k]
		answers, err := at.answer(&whole)
		if err != nil {
			return scores, p.failing(at, &whole, err, of.name)
		}
		for i := range n {
			var d difference
			p.expected.check(&d, answers, i, n)
			if d.beyond() && cells != nil && !narrow && d.what == "" {
				if whole.rows.batch, err = p.narrow(sent); err != nil {
					return scores, err
				}
				narrow, d = true, difference{}
				p.expected.check(&d, answers, i, n)
			}
			if d.beyond() {
				return scores, at.fault(of.name(i), &d)
			}
			if d.size > p.Largest {
				p.Largest, p.Record = d.size, of.number(i)
			}
		}
		if scores.Data == nil {
			scores = p.scores(answers, n)
			p.scoring = signatures[k : k+1]
		}
	}
	if scores.Data == nil {
		return scores, exitcode.With(exitcode.Internal, fmt.Errorf("none of the signatures %s answers the scores of the model", p.Signatures()))
	}
	return scores, nil
}

// blockOf returns the records of a batch as signatures take them, and the cells that their examples stand for.
func (p *Prover) blockOf(b *input.Batch, cells [][]column.Cell) (whole block, sent [][]column.Cell) {
	whole = block{rows: rows{b, 0, len(b.Y)}, keys: p.expected.keys}
	for i := range b.Y {
		if cells == nil {
			whole.examples = append(whole.examples, p.examples.ofRow(&rows{b, i, i + 1}))
			continue
		}
		example, as := p.examples.ofCells(cells[i])
		whole.examples, sent = append(whole.examples, example), append(sent, as)
	}
	return whole, sent
}

// named tells which the records of a batch are: for people, and by their numbers in the files, -1 of those that are in none.
type named struct {
	name   func(i int) string
	number func(i int) int
}

// unread are records that are in no file.
func unread(name func(i int) string) named { return named{name, func(int) int { return -1 }} }

// expect has the model predict.
func (p *Prover) expect(x *tensor.Features) {
	made := p.of.Model.Predict(x)
	p.expected.scores = tensor.Matrix{Rows: made.Rows, Cols: made.Cols, Data: append([]float32(nil), made.Data...)}
}

// narrow has the model predict the records as a tf.Example has them: numbers are float32 before anything is computed of them.
func (p *Prover) narrow(sent [][]column.Cell) (*input.Batch, error) {
	b := &input.Batch{WantKeys: true}
	for _, cells := range sent {
		if err := p.examples.runner.Append(b, cells); err != nil {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("a record that becomes a tf.Example: %w", err))
		}
	}
	b.X.Bags.Index()
	p.expect(&b.X)
	return b, nil
}

// failing returns the fault of a signature that fails: of the first record with which it does.
func (p *Prover) failing(at *program, all *block, err error, name func(i int) string) error {
	record := name(0)
	for i := range all.rows.last {
		one := all.part(i, i+1)
		if _, alone := at.answer(&one); alone != nil {
			record, err = name(i), alone
			break
		}
	}
	return exitcode.With(exitcode.Internal, fmt.Errorf("%s fails at %s: %w", at.signature, record, err))
}

// scores returns the scores that are among the answers of a signature, as the model has them; none if they are not.
func (p *Prover) scores(answers map[string]*interpreter.Tensor, n int) (m tensor.Matrix) {
	width := p.expected.scores.Cols
	for key, t := range answers {
		if _, named := answers["classes"]; !named && key != "logits" && len(t.Float32) == n*width && width > 0 {
			m = tensor.Matrix{Rows: n, Cols: width, Data: t.Float32}
		}
	}
	return m
}
