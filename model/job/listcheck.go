package job

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// eachList calls f for all lists of groups in the group v at a path.
func eachList(v reflect.Value, at keyPath, f func(list reflect.Value, at keyPath)) {
	switch {
	case keys.IsList(v.Type()):
		f(v, at)
	case v.Kind() == reflect.Struct && keys.IsGroup(v):
		for _, g := range keys.Of(v) {
			eachList(g.Value, at.join(g.Name), f)
		}
	}
}

// checkNames returns the faults in the names of items, in all lists of groups of the job. --set finds
// an item by its name or its number. So a name is no number, has no dot, and is unique in its list.
func checkNames(root reflect.Value) []error {
	var errs []error
	eachList(root, keyPath{}, func(list reflect.Value, at keyPath) {
		seen, kinds := map[string]int{}, keys.Kinds(list.Type().Elem())
		for i := range list.Len() {
			name, key := itemName(list.Index(i)), at.item(i, "").join("name").label
			if fault := faultOfName(name); fault != "" {
				errs = append(errs, fmt.Errorf("%s is %s, %s", key, abbreviated(name), fault))
			}
			if first, twice := seen[name]; !twice {
				seen[name] = i
			} else if name != "" && len(kinds) == 0 { // model.Config.Check reports it for lists of kinds
				errs = append(errs, fmt.Errorf("%s is %s, which item %d has", key, abbreviated(name), first))
			}
		}
	})
	return errs
}

// faultOfName returns the fault of an item's name, "" for none.
func faultOfName(name string) string {
	switch {
	case strings.Trim(name, "0123456789") == "" && name != "":
		return "want a name that is no number"
	case strings.Contains(name, "."):
		return "want a name without dots"
	}
	return ""
}

// placesInLists returns the places of lists of groups and of the keys in them, nil for none. Some
// faults of items show only when the records are open.
func (l *loader) placesInLists(root reflect.Value) map[string]string {
	var places map[string]string
	eachList(root, keyPath{}, func(_ reflect.Value, list keyPath) {
		for key, at := range l.places {
			if at == "" || key != list.key && !strings.HasPrefix(key, list.key+".") {
				continue
			}
			if places == nil {
				places = map[string]string{}
			}
			places[key] = at
		}
	})
	return places
}

// Locate puts the place in the job file before each error that begins with the key of an item, or with
// a key in an item.
func (cfg *Config) Locate(err error) error {
	if err == nil || len(cfg.places) == 0 {
		return err
	}
	root, errs := reflect.ValueOf(cfg).Elem(), flatten(err)
	for i, e := range errs {
		errs[i] = withPlace(root, cfg.places, e)
	}
	return exitcode.With(exitcode.Of(err), errors.Join(errs...))
}

// withPlace puts the place of an error's key before the error, or the place of the nearest group around
// the key.
func withPlace(root reflect.Value, places map[string]string, err error) error {
	key := keyOfFault(root, err)
	for ok := true; ok; key, ok = parent(key) {
		if at := places[key]; at != "" {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return err
}
