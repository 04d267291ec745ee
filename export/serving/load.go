package serving

import (
	"context"
	"fmt"
	"time"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/ring/exitcode"
)

// Loader loads versions that run on the same cores.
type Loader struct {
	Cores   *Cores
	Metrics *Metrics
}

// load returns the version in a folder, ready for requests: its signatures are compiled and warm.
func (l *Loader) load(ctx context.Context, name string, f folder) (*Version, error) {
	if f.twin != "" {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("two folders have the number %d: %s and %s", f.number, f.path, f.twin))
	}
	began := time.Now()
	m, err := interpreter.Open(f.path)
	if err != nil {
		return nil, err
	}
	v := &Version{Model: m, Name: name, Number: f.number, Path: f.path, cores: l.Cores, lanes: map[string]*lane{}}
	v.users.Store(1) // the caller
	v.unload = func() {
		l.Metrics.dropped(v)
		_ = m.Close() // what it holds is not needed any more, whatever the system says
	}
	v.columns, err = ask.ReadColumns(f.path)
	if err == nil {
		err = v.compile(l.Metrics)
	}
	if err == nil {
		warming := time.Now()
		err = v.warm(ctx)
		l.Metrics.warmed(f.path, time.Since(warming), err)
	}
	if err != nil {
		v.Release()
		return nil, err
	}
	v.Took = time.Since(began)
	l.Metrics.loaded(v)
	return v, nil
}

// compile compiles all signatures of a version.
func (v *Version) compile(m *Metrics) error {
	for _, s := range v.Model.Signatures {
		p, err := v.Model.Compile(s.Name, nil)
		if err != nil {
			return err
		}
		v.lanes[s.Name] = newLane(p, s, m.of(v.Name, v.Number, s))
	}
	return nil
}
