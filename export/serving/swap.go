package serving

import (
	"errors"
	"slices"
)

// describe makes the models those of bases, with their labels. The versions of models that are not
// among them are dropped.
func (m *Models) describe(bases []Base) {
	var out []*Version
	defer func() { // without the lock: to unload takes time
		for _, l := range out {
			l.Release()
		}
	}()
	m.mu.Lock()
	defer m.mu.Unlock()
	keep := map[string]bool{}
	for _, b := range bases {
		keep[b.Name] = true
		if m.models[b.Name] == nil {
			m.models[b.Name] = &versions{}
		}
		m.models[b.Name].labels = b.Labels
	}
	for name, v := range m.models {
		if !keep[name] {
			out = append(out, v.loaded...)
			delete(m.models, name)
		}
	}
}

// Close drops all versions. Those that requests hold are unloaded when the last request has ended.
func (m *Models) Close() { m.describe(nil) }

// loaded returns the versions of a model that answer, by number, ascending.
func (m *Models) loaded(name string) []*Version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.models[name].loaded)
}

// mark sets the phase of a version that does not answer.
func (m *Models) mark(name string, number int64, p Phase, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.models[name]; v.find(number) == nil {
		v.setState(number, p, err)
	}
}

// publish lets a version answer requests, in the place of one of the same number. It reports whether
// the model had none before.
func (m *Models) publish(l *Version) (first bool) {
	m.mu.Lock()
	v := m.models[l.Name]
	first = len(v.loaded) == 0
	if old := v.find(l.Number); old != nil {
		v.drop(old)
		defer old.Release()
	}
	i, _ := v.search(l.Number)
	v.loaded = slices.Insert(v.loaded, i, l)
	v.setState(l.Number, Available, nil)
	m.mu.Unlock()
	return first
}

// drop takes a version from those that answer. It is unloaded when the last request has released it.
func (m *Models) drop(l *Version) {
	m.mu.Lock()
	m.models[l.Name].drop(l)
	m.mu.Unlock()
	l.Release()
}

func (v *versions) drop(l *Version) {
	i, _ := v.search(l.Number)
	v.loaded = slices.Delete(v.loaded, i, i+1)
	v.setState(l.Number, Unloading, nil)
	v.going = append(v.going, l)
}

// sweep ends the versions that are unloaded by now. The error is that of unloading.
func (m *Models) sweep() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, v := range m.models {
		v.going = slices.DeleteFunc(v.going, func(l *Version) bool {
			select {
			case err := <-l.gone:
				errs = append(errs, err)
				if v.phase(l.Number) == Unloading {
					v.setState(l.Number, End, nil)
				}
				return true
			default:
				return false
			}
		})
	}
	return errors.Join(errs...)
}
