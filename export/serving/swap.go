package serving

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
)

// Version is a loaded version of a model. It is valid from Acquire to Release.
type Version struct {
	Model  *interpreter.Model
	Name   string // of the model
	Number int64
	Path   string        // its folder
	Took   time.Duration // to load and warm it

	columns ask.Columns
	cores   *Cores           // that run its signatures
	lanes   map[string]*lane // by signature, compiled
	users   atomic.Int64     // requests that hold the version, and 1 of who loaded it
	unload  func()           // ends what the version holds
}

// Release ends the use of a version that Acquire returned. The last user of a version that was
// dropped unloads it.
func (v *Version) Release() {
	if v.users.Add(-1) == 0 {
		v.unload()
	}
}

// describe makes the models those of bases, with their labels. The versions of other models are dropped.
func (m *Models) describe(bases []Base) {
	m.mu.Lock()
	old := m.models
	m.models = map[string]*versions{}
	for _, b := range bases {
		m.models[b.Name] = cmp.Or(old[b.Name], &versions{})
		m.models[b.Name].labels = b.Labels
		delete(old, b.Name)
	}
	m.mu.Unlock()
	for _, v := range old {
		for _, l := range v.loaded() {
			l.Release()
		}
	}
}

// Close drops all versions. Those that requests hold are unloaded when the last request has ended.
func (m *Models) Close() { m.describe(nil) }

// loaded returns the versions of a model that answer, by number, ascending.
func (m *Models) loaded(name string) []*Version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[name].loaded()
}

// set sets the state of a version. One that answers goes on, unless s is the state of another one that
// answers, or of unloading: then it is released, without the lock, because to unload takes time.
func (m *Models) set(name string, s State) {
	m.mu.Lock()
	var dropped *Version
	if v := m.models[name]; v != nil { // else the model is gone
		i, ok := slices.BinarySearchFunc(v.states, s.Number, func(s State, n int64) int { return cmp.Compare(s.Number, n) })
		if !ok {
			v.states = slices.Insert(v.states, i, State{})
		}
		if old := v.states[i].answers; old == nil || s.answers != nil || s.Phase == servingpb.ModelVersionStatus_UNLOADING {
			v.states[i], dropped = s, old
		}
	}
	m.mu.Unlock()
	if dropped != nil {
		dropped.Release()
	}
}
