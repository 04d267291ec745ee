package serving

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
	loaded []*Version       // by number, ascending
	labels map[string]int64 // to numbers, which may not be loaded
	states []State          // of all versions ever seen, by number, ascending
	going  []*Version       // dropped; requests may hold them
}

// Choice is the version that a request asks for: the newest if it has neither a number nor a label.
type Choice struct {
	Number *int64 // nil: not asked for by number
	Label  string
}

// Acquire returns a version that answers requests. The version stays loaded until the caller
// releases it. The error is a status: NOT_FOUND of an unknown model or version, INVALID_ARGUMENT of a
// label that no loaded version has, UNAVAILABLE of a model that has no version yet.
func (m *Models) Acquire(name string, want Choice) (*Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, ok := m.models[name]
	if !ok {
		return nil, unknownModel(name)
	}
	v, err := all.choose(name, want)
	if err != nil {
		return nil, err
	}
	v.users.Add(1)
	return v, nil
}

func (v *versions) choose(name string, want Choice) (*Version, error) {
	number := want.Number
	if want.Label != "" {
		labelled, ok := v.labels[want.Label]
		if !ok || v.find(labelled) == nil {
			return nil, status.Errorf(codes.InvalidArgument, "model %s has no label %q, want one of %q", name, want.Label, v.usable())
		}
		number = &labelled
	}
	switch {
	case number != nil && v.find(*number) != nil:
		return v.find(*number), nil
	case number != nil:
		return nil, status.Errorf(codes.NotFound, "model %s has no version %d, want one of %v", name, *number, v.numbers())
	case len(v.loaded) == 0:
		return nil, status.Errorf(codes.Unavailable, "model %s has no loaded version", name)
	}
	return v.loaded[len(v.loaded)-1], nil
}

// find returns a loaded version, nil if it is not loaded.
func (v *versions) find(number int64) *Version {
	if i, ok := v.search(number); ok {
		return v.loaded[i]
	}
	return nil
}

// search returns where a version is, or belongs, among those that are loaded.
func (v *versions) search(number int64) (int, bool) {
	return slices.BinarySearchFunc(v.loaded, number, func(l *Version, n int64) int { return cmp.Compare(l.Number, n) })
}

func (v *versions) numbers() []int64 {
	all := make([]int64, len(v.loaded))
	for i, l := range v.loaded {
		all[i] = l.Number
	}
	return all
}

// usable returns the labels of loaded versions, sorted.
func (v *versions) usable() []string {
	labels := slices.Sorted(maps.Keys(v.labels))
	return slices.DeleteFunc(labels, func(l string) bool { return v.find(v.labels[l]) == nil })
}

func unknownModel(name string) error {
	return status.Errorf(codes.NotFound, "there is no model %q", name)
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
		if len(v.loaded) == 0 {
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
