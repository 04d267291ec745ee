package serving

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"ringtrain/export/interpreter"
)

// Version is a loaded version of a model. It is valid from Acquire to Release.
type Version struct {
	Model  *interpreter.Model
	Name   string // of the model
	Number int64
	Path   string        // its folder
	Took   time.Duration // to load and warm it

	runs   runs
	users  atomic.Int64 // requests that hold the version, and 1 of who loaded it
	unload func()       // ends what the version holds
}

// newVersion returns a version that the caller holds. The caller sets unload.
func newVersion(m *interpreter.Model, name string, f folder) *Version {
	v := &Version{Model: m, Name: name, Number: f.number, Path: f.path}
	v.users.Store(1)
	return v
}

// Release ends the use of a version that Acquire returned. The last user of a version that was
// dropped unloads it.
func (v *Version) Release() {
	if v.users.Add(-1) == 0 {
		v.unload()
	}
}

// state returns the state of a version, a new one if the version is seen for the first time.
func (v *versions) state(number int64) *State {
	i, ok := slices.BinarySearchFunc(v.states, number, func(s *State, n int64) int { return cmp.Compare(s.Number, n) })
	if !ok {
		v.states = slices.Insert(v.states, i, &State{Number: number, Phase: Start})
	}
	return v.states[i]
}

// update changes the models. It releases the versions that change returns, which answer no more; it
// does so without the lock, because to unload takes time.
func (m *Models) update(change func() (dropped []*Version)) {
	m.mu.Lock()
	dropped := change()
	m.mu.Unlock()
	for _, v := range dropped {
		v.Release()
	}
}

// describe makes the models those of bases, with their labels. The versions of other models are dropped.
func (m *Models) describe(bases []Base) {
	m.update(func() (dropped []*Version) {
		old := m.models
		m.models = map[string]*versions{}
		for _, b := range bases {
			m.models[b.Name] = cmp.Or(old[b.Name], &versions{})
			m.models[b.Name].labels = b.Labels
			delete(old, b.Name)
		}
		for _, v := range old {
			dropped = append(dropped, v.loaded()...)
		}
		return dropped
	})
}

// Close drops all versions. Those that requests hold are unloaded when the last request has ended.
func (m *Models) Close() { m.describe(nil) }

// loaded returns the versions of a model that answer, by number, ascending.
func (m *Models) loaded(name string) []*Version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[name].loaded()
}

// mark sets the phase of a version that does not answer.
func (m *Models) mark(name string, number int64, p Phase, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.models[name].state(number); s.answers == nil {
		s.Phase, s.Err = p, err
	}
}

// publish lets a version answer requests, in the place of one of the same number. It reports whether
// the model had none before.
func (m *Models) publish(l *Version) (first bool) {
	m.update(func() (dropped []*Version) {
		v := m.models[l.Name]
		first = v.answering(nil) == nil
		s := v.state(l.Number)
		if s.answers != nil {
			dropped = append(dropped, s.answers)
		}
		*s = State{Number: l.Number, Phase: Available, answers: l}
		return dropped
	})
	return first
}

// drop takes a version from those that answer. It is unloaded when the last request has released it.
func (m *Models) drop(l *Version) {
	m.update(func() []*Version {
		*m.models[l.Name].state(l.Number) = State{Number: l.Number, Phase: Unloading}
		return []*Version{l}
	})
}

// ended notes that a version is unloaded.
func (m *Models) ended(l *Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.models[l.Name]
	if v == nil {
		return // the model is gone
	}
	if s := v.state(l.Number); s.Phase == Unloading {
		s.Phase = End
	}
}
