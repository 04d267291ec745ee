package speed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringtrain/bench/child"
	"ringtrain/ring/exitcode"
)

// A Suite is a table of cases.
type Suite string

// The suites.
const (
	Images  Suite = ""        // training on images
	Clicks  Suite = "clicks"  // training on click logs
	Input   Suite = "input"   // reading of records
	Answers Suite = "answers" // requests to exported models
)

// Config configures a comparison.
type Config struct {
	Suite   Suite
	Cases   []string      // names of cases; none: all
	Rounds  int           // turns of each contender
	Turn    time.Duration // timed duration
	Warm    time.Duration // untimed duration before it
	Kernels string        // kernel set of all contenders: avx2, or "" for their own choices
	Roots   []string      // folders to search for MNIST
}

// Check returns all errors of c, as exitcode.Usage.
func (c Config) Check() error {
	var errs []error
	if c.Rounds < 1 {
		errs = append(errs, fmt.Errorf("--rounds is %d, want 1 or more", c.Rounds))
	}
	if c.Turn <= 0 {
		errs = append(errs, fmt.Errorf("--turn is %v, want more than 0", c.Turn))
	}
	if c.Kernels != "" && c.Kernels != kernelsAVX2 {
		errs = append(errs, fmt.Errorf("--kernels is %q, want %s or none", c.Kernels, kernelsAVX2))
	}
	names := CaseNames(c.Suite)
	for _, name := range c.Cases {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("--cases has %q, want one of %s", name, strings.Join(names, ", ")))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// casesOf returns the cases of a suite.
func casesOf(s Suite) []Case {
	switch s {
	case Clicks:
		return clickCases()
	case Input:
		return inputCases()
	case Answers:
		return answerCases()
	}
	return cases()
}

// CaseNames returns the names of the cases of a suite, in order.
func CaseNames(s Suite) []string {
	var names []string
	for _, c := range casesOf(s) {
		names = append(names, c.Name)
	}
	return names
}

// A Comparison runs cases and prints the results.
type Comparison struct {
	child.Output

	make      func(name, program string) contender // newContender, except in tests
	announced map[string]bool                      // lines about what a contender runs, once each
}

// Run compares all contenders of all cases. A short bar or a library that cannot run is
// no error. A failure of ringtrain is exitcode.Failed, after everything is printed. If
// ctx ends, Run prints the results until then.
func (co *Comparison) Run(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := writeDrivers(folder); err != nil {
		return err
	}
	var data records
	if c.Suite == Images {
		if data, err = findMNIST(c.Roots); err != nil {
			return exitcode.With(exitcode.NoInput, err)
		}
	}
	co.announced = map[string]bool{}
	var all []*figures
	for _, one := range casesOf(c.Suite) {
		if len(c.Cases) > 0 && !slices.Contains(c.Cases, one.Name) {
			continue
		}
		f, err := co.runCase(ctx, c, one, data, folder)
		if f != nil {
			all = append(all, f)
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	co.verdicts(all)
	return errors.Join(context.Cause(ctx), failure(all))
}

// runCase compares the contenders of one case and prints its rows.
func (co *Comparison) runCase(ctx context.Context, c Config, one Case, data records, folder string) (*figures, error) {
	w := work{Case: one, records: data, folder: folder, warm: c.Warm, kernels: c.Kernels}
	var err error
	switch {
	case one.dense:
		w.records, err = data.withoutZeros(ctx, folder)
	case c.Suite == Answers:
		co.Log(one.Text + ": training and exporting the model")
		w.records.bundle, err = one.answers.prepare(ctx, co.Program, folder)
	case c.Suite != Images:
		co.Log(one.Text + ": drawing the records")
		w.records.log, err = one.click.draw(ctx, filepath.Join(folder, one.Name))
		defer w.records.log.remove()
	}
	if err != nil {
		return nil, err
	}
	f := newFigures(one)
	if one.click.parse {
		f.rowBytes = w.records.log.rowBytes(one)
	}
	co.compare(ctx, w, c, f)
	co.rows(f)
	return f, nil
}

// tries is the number of failures after which a contender is left out.
const tries = 2

// A participant is a contender in a case.
type participant struct {
	name     string
	of       contender
	open     bool
	failures int
}

// compare runs one case. All contenders are open before the first turn.
func (co *Comparison) compare(ctx context.Context, w work, c Config, f *figures) {
	co.Log(fmt.Sprintf("%s: %d contenders get ready", w.Text, len(w.who)))
	var seats []*participant
	for _, name := range w.who {
		s := &participant{name: name, of: co.maker()(name, co.Program)}
		defer s.of.close()
		seats = append(seats, s)
		co.open(ctx, s, w, f)
	}
	for round := range c.Rounds {
		co.Log(fmt.Sprintf("round %d of %d: %s", round+1, c.Rounds, w.Text))
		for i := range seats {
			if ctx.Err() != nil {
				return
			}
			co.turn(ctx, seats[(i+round)%len(seats)], w, c, f)
		}
	}
}

func (co *Comparison) maker() func(name, program string) contender {
	if co.make != nil {
		return co.make
	}
	return newContender
}

// open prepares a contender, or leaves it out: ringtrain also of a case for which it lacks a
// key, format or model.
func (co *Comparison) open(ctx context.Context, s *participant, w work, f *figures) {
	what, err := s.of.open(ctx, w)
	if _, ok := errors.AsType[lacking](err); ok {
		f.lacking[s.name], s.failures = err, tries
		co.Log(fmt.Sprintf("%s, %s: %v", f.of.Name, s.name, err))
		return
	}
	if err != nil {
		s.failures = tries
		if ctx.Err() == nil {
			co.drop(s, f, err)
		}
		return
	}
	s.open = true
	if what != "" && !co.announced[s.name] {
		co.announced[s.name] = true
		co.Log(s.name + " runs " + what)
	}
	if what != "" {
		f.libraries[s.name] = what
	}
}

// turn runs a contender once. After a failure it opens the contender again, for one more
// try; after the second failure the contender is left out.
func (co *Comparison) turn(ctx context.Context, s *participant, w work, c Config, f *figures) {
	for s.failures < tries {
		if !s.open {
			co.open(ctx, s, w, f)
			continue
		}
		t, err := s.of.turn(ctx, c.Turn)
		if ctx.Err() != nil {
			return
		}
		if err == nil && !(t.loss < w.lossLimit()) {
			err = fmt.Errorf("loss is %v at the end of a turn, want below %v", t.loss, w.lossLimit())
		}
		if err == nil {
			f.memory[s.name] = max(f.memory[s.name], t.memory)
			f.turns[s.name] = append(f.turns[s.name], t.rate)
			return
		}
		s.failures++
		s.of.close()
		s.open = false
		if s.failures < tries {
			co.Log(fmt.Sprintf("%s has failed and is tried again: %v", s.name, err))
			continue
		}
		co.drop(s, f, err)
	}
}

// drop leaves a contender out for the rest of the case.
func (co *Comparison) drop(s *participant, f *figures, err error) {
	if isRingtrain(s.name) {
		f.failed[s.name] = err
		delete(f.turns, s.name)
		co.Log(fmt.Sprintf("%s has FAILED: %v", s.name, err))
		return
	}
	co.Log(fmt.Sprintf("%s is left out: %v", s.name, err))
}
