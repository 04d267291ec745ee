package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// restore finds the progress from which this run starts, on rank 0.
func (t *Trainer) restore(ctx context.Context) (progress, error) {
	dir := t.job.Checkpoint.Dir
	if t.opts.Resume != "never" && dir != "" {
		path, s, found, err := checkpoint.Newest(dir)
		if err != nil && !found {
			return progress{}, err
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				t.reporter.notice("checkpoint skipped: " + line)
			}
		}
		if found {
			if t.job.Train.InitFrom.Path != "" {
				t.reporter.notice(fmt.Sprintf("train.init_from is not used: the run resumes from %s", path))
			}
			return t.restoreFrom(path, s)
		}
	}
	if t.opts.Resume == "must" {
		return progress{}, exitcode.With(exitcode.NoInput, fmt.Errorf("--resume must: no checkpoint in checkpoint.dir %q", dir))
	}
	if err := t.initialize(ctx, t.job.Train.Seed); err != nil {
		return progress{}, err
	}
	if t.fromSeed = t.job.Train.InitFrom.Path == ""; t.fromSeed {
		return progress{}, nil
	}
	if err := t.initializeFrom(); err != nil {
		return progress{}, err
	}
	t.averages.reset()
	return progress{}, nil
}

// restoreFrom restores s, the checkpoint at path.
func (t *Trainer) restoreFrom(path string, s checkpoint.State) (progress, error) {
	if err := t.checkOptions(path, s.Run.Options); err != nil {
		return progress{}, err
	}
	if err := trained.NewVariables(path, s.Step, s.Run.Position.LastEpoch(), s.Tensors).Assign(t.variablesWith(t.slots())); err != nil {
		return progress{}, err
	}
	t.reporter.restored = s.Run.Kernels
	o := progress{restored: true, step: s.Step, saved: s.Step, steps: s.Run.Steps, position: s.Run.Position, epoch: restoredEpoch(s.Run.Epoch, s.Run.Position, t.data.Train.Facts().Records)}
	if t.job.Train.EarlyStopping.Patience > 0 {
		o.best = restoredBest(s.Run.Best)
	}
	if was := s.Run.Decisions["order"]; was != "" {
		t.reporter.notice(fmt.Sprintf("%s: the measured order of the ring %s is gone, and skipped: bits may differ from step %d on", path, was, s.Step+1))
	}
	var err error
	o.codec, err = storedCodec(path, s.Run.Decisions)
	return o, err
}

// perRun are the keys that must be equal on all ranks but may change when a run resumes. A resumed run
// may be longer, compare its replicas more often, use its average or not, and compute with the kernels
// of another machine, over another network.
var perRun = []string{"allreduce.security", "train.steps", "train.epochs", "train.check_every", "eval.top_k", "eval.threshold", "eval.progressive", "eval.training", "train.kernels",
	"train.average.evaluate", "train.average.export", "train.early_stopping.patience", "train.early_stopping.min_delta"}

// checkOptions checks that the saved run has the options of this run. The validation records may
// differ, because training does not depend on them.
func (t *Trainer) checkOptions(path string, saved map[string]string) error {
	for _, line := range job.RemovedFrom(saved) {
		t.reporter.notice(path + ": " + line)
	}
	var differ []string
	for _, o := range t.agreedOptions() {
		was, ok := saved[o.Key]
		if !ok || was == o.Value || job.Removed(o.Key, was) != "" || slices.Contains(perRun, o.Key) {
			continue
		}
		change := fmt.Sprintf("%s is %q, was %q", aboutFiles(o.Key), o.Value, was)
		if strings.HasPrefix(o.Key, "input.eval.") || strings.HasPrefix(o.Key, "input.evals.") {
			t.reporter.notice(fmt.Sprintf("%s was saved with other validation records: %s", path, change))
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

// initializeFrom sets variables to the values that train.init_from names, and gives notice of them. It
// runs on rank 0; the other ranks receive the values with the rest of the state.
func (t *Trainer) initializeFrom() error {
	in, vars := t.job.Train.InitFrom, t.model.Variables()
	if in.Path == "" {
		return nil
	}
	if err := in.CheckUsed(vars); err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	path, note := trained.ResultOf(in.Path)
	if note != "" {
		t.reporter.notice(note)
	}
	from, err := trained.Read(path)
	if err != nil {
		return fmt.Errorf("train.init_from.path: %w", err)
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
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.init_from.path: no variable is taken from %s: %s", from.Path, strings.Join(left, ", ")))
	}
	if err := t.checkColumns(from, taken); err != nil {
		return err
	}
	if err := from.Assign(taken); err != nil {
		return fmt.Errorf("train.init_from.path: %w (train.init_from.exclude leaves a variable out)", err)
	}
	if now, was := t.model.Graph().Head.Labels, from.Classes; now != nil && was != nil && !slices.Equal(now, was) {
		t.reporter.notice(fmt.Sprintf("train.init_from.path: the classes are %s, those of %s were %s", strings.Join(now, ", "), from.Path, strings.Join(was, ", ")))
	}
	line := fmt.Sprintf("variables taken from %s at step %d: %s", from.Path, from.Step, names(taken))
	if len(left) > 0 {
		line += "; not taken: " + strings.Join(left, ", ")
	}
	t.reporter.notice(line)
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

// checkColumns returns an error if a variable by rows is among those that are taken, and an id of these
// records means another thing than in from. Other variables have no row for an id. It only gives notice
// of other numbers.
func (t *Trainer) checkColumns(from trained.Variables, taken []*model.Variable) error {
	now, was := t.data.Columns(), from.Columns
	if now == nil || was == nil {
		return nil
	}
	other := func(column, what string) error {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.init_from.path: column %s: %s in %s: want the same ids, or leave out what has a row for each with train.init_from.exclude",
			column, what, from.Path))
	}
	bags := 0
	if slices.ContainsFunc(taken, func(v *model.Variable) bool { return v.ByRows }) {
		bags = max(len(now.Bags), len(was.Bags))
	}
	for i := range bags {
		switch {
		case i >= len(now.Bags):
			return other(was.Bags[i].Name, "it is not in input.columns, but")
		case i >= len(was.Bags):
			return other(now.Bags[i].Name, "it is in input.columns, but not")
		}
		if what := now.Bags[i].Difference(&was.Bags[i]); what != "" {
			return other(now.Bags[i].Name, what)
		}
	}
	for i := range min(len(now.Dense), len(was.Dense)) {
		if what := now.Dense[i].Difference(&was.Dense[i]); what != "" {
			t.reporter.notice(fmt.Sprintf("train.init_from.path: numbers differ from those of %s, first of column %s: %s", from.Path, now.Dense[i].Name, what))
			break
		}
	}
	return nil
}
