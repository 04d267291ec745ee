package serving

import (
	"cmp"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Phase is the part of its life that a version is in, in the words of TensorFlow Serving.
type Phase string

// The phases, in their order.
const (
	Start     Phase = "START"
	Loading   Phase = "LOADING"
	Available Phase = "AVAILABLE"
	Unloading Phase = "UNLOADING"
	End       Phase = "END"
)

// State is a version that is, or was, to be served.
type State struct {
	Number int64
	Phase  Phase
	Err    error    // a status, of a version that cannot be loaded; nil: none
	Labels []string // sorted
}

// Status returns the versions of a model that were ever to be served, the newest first; or the one of
// want. The error is NOT_FOUND if there is none, INVALID_ARGUMENT of a label that no loaded version has.
func (m *Models) Status(name string, want Choice) ([]State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, ok := m.models[name]
	if !ok {
		return nil, unknownModel(name)
	}
	return all.status(name, want)
}

func (v *versions) status(name string, want Choice) ([]State, error) {
	if want.Label != "" {
		l, err := v.choose(name, want)
		if err != nil {
			return nil, err
		}
		want.Number = &l.Number
	}
	var found []State
	for _, s := range slices.Backward(v.states) {
		if want.Number == nil || *want.Number == s.Number {
			s.Labels = v.labelsOf(s.Number)
			found = append(found, s)
		}
	}
	if found == nil && want.Number != nil {
		return nil, status.Errorf(codes.NotFound, "model %s never had a version %d", name, *want.Number)
	}
	return found, nil
}

func (v *versions) labelsOf(number int64) []string {
	labels := slices.Sorted(maps.Keys(v.labels))
	return slices.DeleteFunc(labels, func(l string) bool { return v.labels[l] != number })
}

// setState sets the phase of a version.
func (v *versions) setState(number int64, p Phase, err error) {
	i, ok := v.seen(number)
	if !ok {
		v.states = slices.Insert(v.states, i, State{Number: number})
	}
	v.states[i].Phase, v.states[i].Err = p, err
}

// phase returns the phase of a version that was seen.
func (v *versions) phase(number int64) Phase {
	i, _ := v.seen(number)
	return v.states[i].Phase
}

// seen returns where a version is, or belongs, among those that were ever to be served.
func (v *versions) seen(number int64) (int, bool) {
	return slices.BinarySearchFunc(v.states, number, func(s State, n int64) int { return cmp.Compare(s.Number, n) })
}
