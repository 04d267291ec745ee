package train

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// InitFrom says which variables of a fresh run begin with what was trained before. A
// pattern is a glob of a variable's name or of its layer's: "hidden_*" and
// "hidden_*/kernel" name variables of the hidden layers.
type InitFrom struct {
	Path    string   `yaml:"path"`    // checkpoint or serving bundle, on rank 0's disk; empty: none
	Include []string `yaml:"include"` // patterns of what is taken; empty: all that it has
	Exclude []string `yaml:"exclude"` // patterns of what is not
}

func (in InitFrom) check(f *faults) {
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"train.init_from.include", in.Include}, {"train.init_from.exclude", in.Exclude}} {
		if len(list.patterns) > 0 && in.Path == "" {
			f.add("%s is %v, which needs train.init_from.path", list.key, list.patterns)
		}
		for i, p := range list.patterns {
			if _, err := path.Match(p, ""); err != nil {
				f.add("%s[%d] is %s, want a glob", list.key, i, shown(p))
			}
		}
	}
}

// matches reports whether pattern is one of the variable called name: of all of its
// name, or of the parts before a slash.
func matches(pattern, name string) bool {
	for at := range len(name) + 1 {
		if at < len(name) && name[at] != '/' {
			continue
		}
		if ok, err := path.Match(pattern, name[:at]); ok && err == nil {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// wantUsed returns an error for a pattern that is of no variable.
func (in InitFrom) wantUsed(vars []*model.Variable) error {
	var f faults
	for _, p := range slices.Concat(in.Include, in.Exclude) {
		if !slices.ContainsFunc(vars, func(v *model.Variable) bool { return matches(p, v.Name) }) {
			f.add("train.init_from: no variable matches %s, want some of %s", p, names(vars))
		}
	}
	return f.err()
}

func names(vars []*model.Variable) string {
	var all []string
	for _, v := range vars {
		all = append(all, v.Name)
	}
	return strings.Join(all, ", ")
}

// initFrom gives variables the values that train.init_from names, and says which. It is
// rank 0's; the others receive them with the rest of the state.
func (r *run) initFrom() error {
	in, vars := r.job.Train.InitFrom, r.model.Variables()
	if in.Path == "" {
		return nil
	}
	if err := in.wantUsed(vars); err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	from, err := readStored(in.Path)
	if err != nil {
		return fmt.Errorf("train.init_from.path: %w", err)
	}
	if err := r.sameTexts(from); err != nil {
		return err
	}
	var taken []*model.Variable
	var left []string
	for _, v := range vars {
		_, there := from.tensors[v.Name]
		switch {
		case len(in.Include) > 0 && !matchesAny(in.Include, v.Name):
			left = append(left, v.Name+" (not included)")
		case matchesAny(in.Exclude, v.Name):
			left = append(left, v.Name+" (excluded)")
		case !there:
			left = append(left, v.Name+" (not there)")
		default:
			taken = append(taken, v)
		}
	}
	if len(taken) == 0 {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.init_from.path: nothing is taken of %s: %s", from.path, strings.Join(left, ", ")))
	}
	if err := from.assign(taken); err != nil {
		return fmt.Errorf("train.init_from.path: %w (train.init_from.exclude leaves a variable out)", err)
	}
	line := fmt.Sprintf("taken from %s at step %d: %s", from.path, from.step, names(taken))
	if len(left) > 0 {
		line += "; not taken: " + strings.Join(left, ", ")
	}
	r.opts.Notice(line)
	return nil
}
