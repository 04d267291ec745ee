package job

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

const envPrefix = "RINGTRAIN_"

// reserved are the names, without the prefix, of the RINGTRAIN_ variables that are no keys. The command
// run sets the variable LAUNCH_GUARD itself.
var reserved = []string{
	"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "RENDEZVOUS", "JOB_ID", "TOKEN", "TOKEN_FILE",
	"DATA", "JSON", "SHARED", "NETNS", "NP", "HOST_ID", "SSH", "LAUNCH_GUARD",
}

// removedVariables are the variables of earlier versions, without the prefix, with what to do instead.
var removedVariables = map[string]string{
	"ETCD_USER":     "unset it, the workers meet at HOST:PORT and not on an etcd (docs/migrate.md#etcd)",
	"ETCD_PASSWORD": "unset it, the workers meet at HOST:PORT and not on an etcd (docs/migrate.md#etcd)",
}

// fromEnviron sets the keys that the environment sets: RINGTRAIN_INPUT_BATCH is input.batch. A
// RINGTRAIN_ variable that is neither a key nor reserved nor a service link is a fault, like a misspelt
// key in a file.
func (l *loader) fromEnviron(environ []string, root reflect.Value) {
	settable := settable(root, "")
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, envPrefix)
		if !ok || slices.Contains(reserved, rest) || isServiceLink(name, value) {
			continue
		}
		if instead := removedVariables[rest]; instead != "" {
			l.faults.add("%s is gone: %s", name, instead)
			continue
		}
		key, err := keyOf(name, settable)
		if err != nil {
			l.faults.add("%s: %w", name, err)
			continue
		}
		l.set(root, key, value, name, name)
	}
}

// FromEnviron returns the defaults of all keys, with those that the environment sets. It passes over what is no key.
func FromEnviron(environ []string) *Config {
	job := Default()
	l := newLoader("")
	l.fromEnviron(environ, reflect.ValueOf(&job).Elem())
	return &job
}

// keyOf returns the key of a variable. An entry of a map is its name in lower case.
func keyOf(name string, all []string) (string, error) {
	names := make([]string, len(all))
	for i, key := range all {
		names[i] = variable(key)
		entry, ok := strings.CutPrefix(name, names[i])
		if ok && entry == "" || ok && strings.HasSuffix(key, ".") {
			return key + strings.ToLower(entry), nil
		}
	}
	for _, r := range removed {
		if r.value == "" && variable(r.key) == name {
			return "", fmt.Errorf("%s is gone: %s", r.key, r.instead)
		}
	}
	if near := phrase.Nearest(name, names); near != "" {
		return "", fmt.Errorf("no key has this variable (did you mean %s?)", near)
	}
	return "", fmt.Errorf("no key has this variable: it is %s and the key in capitals, with _ for each dot", envPrefix)
}

// variable returns the name of the variable of a key.
func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// settable lists the keys of v. A map is listed by the prefix of its keys, with the last dot.
func settable(v reflect.Value, prefix string) []string {
	switch {
	case !keys.IsGroup(v):
		return []string{prefix}
	case v.Kind() == reflect.Map:
		return []string{prefix + "."}
	}
	var all []string
	for _, f := range keys.Of(v) {
		all = append(all, settable(f.Value, join(prefix, f.Name))...)
	}
	return all
}
