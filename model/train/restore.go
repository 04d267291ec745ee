package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// state gives all ranks the same state: the newest that a living rank holds, or
// the one that rank 0 restores or the ranks draw, so that only rank 0 needs the disk.
func (r *run) state(ctx context.Context) error {
	all, err := r.standings(ctx)
	if err != nil {
		return err
	}
	donor, level := newest(all)
	r.handed = donor >= 0
	h := handover{origin: r.where, agreed: r.agreed, form: formWhole}
	h.origin.codec = r.codecID()
	switch {
	case !r.handed:
		if donor = 0; r.rank == 0 {
			h = handover{form: formWhole}
			if h.origin, err = r.restore(); err != nil {
				return err
			}
		}
	case level:
		h.form = formNone
	case r.rank == donor && rowsSuffice(all, donor):
		h.form, h.rows = formRows, r.lastRows.rowsHead
	}
	if h.form == formWhole && r.drawn && h.origin.step == 0 && r.tableRows() > 0 {
		h.form = formDrawn
	}
	if h, err = r.handOver(ctx, donor, h); err != nil {
		return err
	}
	behind := r.whole && r.where.step < all[donor].step
	if err := r.follow(ctx, donor, h, behind); err != nil {
		return err
	}
	if r.whole && (!behind || h.form == formRows) {
		h.origin.mix = r.where.mix // its own, which is to be compared
	}
	r.where, r.agreed, r.whole, r.drawn = h.origin, h.agreed, true, r.drawn || h.form == formDrawn
	if behind {
		r.missed, r.asked = true, false
	}
	return nil
}

// follow gives or takes the state that follows h.
func (r *run) follow(ctx context.Context, donor int, h handover, behind bool) error {
	switch {
	case h.form == formNone:
		return nil
	case r.rank == donor:
		return r.give(ctx, h)
	case h.form == formDrawn && !r.whole:
		r.draw()
	}
	return r.take(ctx, donor, h, behind)
}

// draw gives the variables their first values, which the seed decides.
func (r *run) draw() {
	r.model.Init(r.job.Train.Seed)
	r.averages.reset()
}

// segments are the bytes of all variables and slots, in one order on all ranks; of tables only
// if they are asked for.
func (r *run) segments(tables bool) [][]byte {
	var s [][]byte
	for _, v := range r.model.Variables() {
		if tables || !v.ByRows {
			s = append(s, bytesOf(v.Value))
		}
	}
	for _, slot := range r.slots() {
		if tables || !slot.ByRows {
			s = append(s, bytesOf(slot.Value))
		}
	}
	return slices.DeleteFunc(s, func(b []byte) bool { return len(b) == 0 })
}

// restore finds where this run begins. It is rank 0's.
func (r *run) restore() (origin, error) {
	dir := r.job.Checkpoint.Dir
	if r.opts.Resume != "never" && dir != "" {
		path, s, found, err := checkpoint.Newest(dir)
		if err != nil && !found {
			return origin{}, err
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				r.opts.Notice("passed over: " + line)
			}
		}
		if found {
			if r.job.Train.InitFrom.Path != "" {
				r.opts.Notice(fmt.Sprintf("train.init_from is not used: the run resumes from %s", path))
			}
			return r.restoreFrom(path, s)
		}
	}
	if r.opts.Resume == "must" {
		return origin{}, exitcode.With(exitcode.NoInput, fmt.Errorf("--resume must: no checkpoint in checkpoint.dir %q", dir))
	}
	r.draw()
	if r.drawn = r.job.Train.InitFrom.Path == ""; r.drawn {
		return origin{}, nil
	}
	if err := r.initFrom(); err != nil {
		return origin{}, err
	}
	r.averages.reset()
	return origin{}, nil
}

// restoreFrom restores s, the checkpoint at path.
func (r *run) restoreFrom(path string, s checkpoint.State) (origin, error) {
	if err := r.sameOptions(path, s.Run.Options); err != nil {
		return origin{}, err
	}
	vars := slices.Clone(r.model.Variables())
	for _, slot := range r.slots() {
		vars = append(vars, &model.Variable{Name: slot.Name, Shape: slot.Shape, Value: slot.Value})
	}
	if err := trained.NewVariables(path, s.Step, s.Run.Position.LastEpoch(), s.Tensors).Assign(vars); err != nil {
		return origin{}, err
	}
	r.storedKernels = s.Run.Kernels
	o := origin{found: true, step: s.Step, steps: s.Run.Steps, position: s.Run.Position, epoch: restoredEpoch(s.Run.Epoch), best: restoredBest(s.Run.Best)}
	var err error
	if o.codec, err = storedCodec(path, s.Run.Decisions); err == nil {
		_, err = storedOrder(path, s.Run.Decisions)
	}
	return o, err
}

// perRun are the keys that must be equal on all ranks and may change when a run
// is resumed: it may be made longer, its replicas compared more often, its average used or
// not, and its arithmetic be that of another machine.
var perRun = []string{"train.steps", "train.epochs", "train.check_every", "eval.top_k", "eval.progressive", "train.kernels",
	"train.average.evaluate", "train.average.export", "train.early_stopping.patience", "train.early_stopping.min_delta"}

// sameOptions checks that the options of the saved run are those of this one. The
// validation records may be others: nothing that is trained depends on them.
func (r *run) sameOptions(path string, saved map[string]string) error {
	var differ []string
	for _, o := range r.agreedOptions() {
		was, ok := saved[o.Key]
		if !ok || was == o.Value || slices.Contains(perRun, o.Key) {
			continue
		}
		change := fmt.Sprintf("%s is %q, was %q", o.Key, o.Value, was)
		if strings.HasPrefix(o.Key, "input.eval.") || strings.HasPrefix(o.Key, "input.evals.") {
			r.opts.Notice(fmt.Sprintf("%s was saved with other validation records: %s", path, change))
		} else {
			differ = append(differ, change)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s is of another run: %s; resume with the same options, use --resume never, or another checkpoint.dir",
		path, strings.Join(differ, "; ")))
}

// initFrom gives variables the values that train.init_from names, and says which. It is
// rank 0's; the others receive them with the rest of the state.
func (r *run) initFrom() error {
	in, vars := r.job.Train.InitFrom, r.model.Variables()
	if in.Path == "" {
		return nil
	}
	if err := in.CheckUsed(vars); err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	from, err := trained.Read(in.Path)
	if err != nil {
		return fmt.Errorf("train.init_from.path: %w", err)
	}
	if err := r.sameTexts(from); err != nil {
		return err
	}
	var taken []*model.Variable
	var left []string
	for _, v := range vars {
		_, stored := from.Tensor(v.Name)
		switch why := in.Excluded(v.Name); {
		case why != "":
			left = append(left, v.Name+" ("+why+")")
		case !stored:
			left = append(left, v.Name+" (not there)")
		default:
			taken = append(taken, v)
		}
	}
	if len(taken) == 0 {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.init_from.path: nothing is taken of %s: %s", from.Path, strings.Join(left, ", ")))
	}
	if err := from.Assign(taken); err != nil {
		return fmt.Errorf("train.init_from.path: %w (train.init_from.exclude leaves a variable out)", err)
	}
	line := fmt.Sprintf("taken from %s at step %d: %s", from.Path, from.Step, names(taken))
	if len(left) > 0 {
		line += "; not taken: " + strings.Join(left, ", ")
	}
	r.opts.Notice(line)
	return nil
}

// names lists the names of vars.
func names(vars []*model.Variable) string {
	all := make([]string, len(vars))
	for i, v := range vars {
		all[i] = v.Name
	}
	return strings.Join(all, ", ")
}

// sameTexts returns an error if a vocabulary has another text for an id than the one that the
// variables of from were trained with. Other means and deviations are told.
func (r *run) sameTexts(from trained.Variables) error {
	now := r.data.Columns()
	if now == nil || from.Columns == nil {
		return nil
	}
	for _, b := range now.Bags {
		for _, was := range from.Columns.Bags {
			if was.Name == b.Name && was.Kind == b.Kind && (was.First != b.First || !slices.Equal(was.Vocabulary, b.Vocabulary)) {
				return exitcode.With(exitcode.Usage, fmt.Errorf(
					"train.init_from.path: %s has %d texts of column %s, these records have %d, and not the same: give the same vocabulary as a file, or exclude its variables",
					from.Path, len(was.Vocabulary), b.Name, len(b.Vocabulary)))
			}
		}
	}
	if !slices.Equal(now.Dense, from.Columns.Dense) {
		r.opts.Notice(fmt.Sprintf("means or deviations of columns are not those of %s: the records differ", from.Path))
	}
	return nil
}
