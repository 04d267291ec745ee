package train

import (
	"fmt"
	"strings"

	"ringtrain/model"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

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
