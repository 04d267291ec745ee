package serving

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/phrase"
)

// Models is the set of models that a server answers for, with their versions. All methods may be
// called at the same time.
type Models struct {
	mu      sync.Mutex
	models  map[string]*versions // by name
	leaving bool                 // the server ends: it is not ready, and still answers
}

// NewModels returns a set without a model.
func NewModels() *Models { return &Models{models: map[string]*versions{}} }

// versions are those of one model.
type versions struct {
	labels map[string]int64 // to numbers, which may not be loaded
	states []State          // of all versions that were ever to be served, by number, ascending
}

// State is a version that is, or was, to be served.
type State struct {
	Number int64
	Phase  servingpb.ModelVersionStatus_State
	Err    error    // a status, of a version that cannot be loaded; nil: none
	Labels []string // sorted

	answers *Version // nil: it does not answer requests
}

// Choice is the version that a request asks for: the newest if it has neither a number nor a label.
type Choice struct {
	Number *int64 // nil: not asked for by number
	Label  string
}

// Acquire returns a version that answers requests. The version stays loaded until the caller
// releases it. The error is a status: NOT_FOUND of an unknown model or version, or of a model that has no
// version yet, INVALID_ARGUMENT of a label that no loaded version has.
func (m *Models) Acquire(name string, want Choice) (*Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, number, err := m.find(name, want)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(all.states) {
		if s.answers != nil && (number == nil || *number == s.Number) {
			s.answers.users.Add(1)
			return s.answers, nil
		}
	}
	if number == nil {
		return nil, status.Errorf(codes.NotFound, "model %s has no version yet", name)
	}
	return nil, status.Errorf(codes.NotFound, "model %s has no version %d that answers", name, *number)
}

// Status returns the versions of a model that were ever to be served, the newest first; or the one of
// want. The error is NOT_FOUND if there is none, INVALID_ARGUMENT of a label that no loaded version has.
func (m *Models) Status(name string, want Choice) ([]State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, number, err := m.find(name, want)
	if err != nil {
		return nil, err
	}
	var found []State
	for _, s := range slices.Backward(all.states) {
		if number != nil && *number != s.Number {
			continue
		}
		for _, label := range slices.Sorted(maps.Keys(all.labels)) {
			if all.labels[label] == s.Number {
				s.Labels = append(s.Labels, label)
			}
		}
		found = append(found, s)
	}
	if found == nil && number != nil {
		return nil, status.Errorf(codes.NotFound, "model %s never had a version %d", name, *number)
	}
	return found, nil
}

// Names returns the names of all models, sorted.
func (m *Models) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.models))
}

// Ready reports whether there is a model, each has a version that answers, and the server does not end.
func (m *Models) Ready() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range m.models {
		if len(v.loaded()) == 0 {
			return false
		}
	}
	return len(m.models) > 0 && !m.leaving
}

// Leave makes the server not ready. Its versions answer as before.
func (m *Models) Leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving = true
}

// find returns the versions of a model, and the number that a choice names, nil if it names none. The caller holds the lock.
func (m *Models) find(name string, want Choice) (*versions, *int64, error) {
	all := m.models[name]
	if all == nil {
		return nil, nil, status.Errorf(codes.NotFound, "there is no model %s", phrase.Quote(name))
	}
	if want.Label == "" {
		return all, want.Number, nil
	}
	for _, v := range all.loaded() {
		if n, ok := all.labels[want.Label]; ok && v.Number == n {
			return all, &n, nil
		}
	}
	return nil, nil, status.Errorf(codes.InvalidArgument, "no version of model %s that answers has the label %s", name, phrase.Quote(want.Label))
}

// loaded returns the versions that answer, by number, ascending.
func (v *versions) loaded() []*Version {
	var all []*Version
	for _, s := range v.states {
		if s.answers != nil {
			all = append(all, s.answers)
		}
	}
	return all
}

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
