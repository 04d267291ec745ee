package train

import (
	"reflect"
	"slices"
	"strings"
)

const envPrefix = "RINGTRAIN_"

// reserved are the variables that are no keys of a job.
var reserved = []string{
	"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "RENDEZVOUS", "JOB_ID", "TOKEN", "TOKEN_FILE",
	"DATA", "JSON", "SHARED", "NETNS", "NP", "LAUNCH_GUARD",
}

// fromEnviron takes the keys that the environment sets: RINGTRAIN_INPUT_BATCH
// is input.batch. A RINGTRAIN_ variable that is neither a key nor reserved is a
// fault, like a misspelt key of a file.
func (l *loader) fromEnviron(environ []string, job *Job) {
	byVariable := map[string]string{}
	for _, key := range settable(reflect.ValueOf(job).Elem(), "") {
		byVariable[variable(key)] = key
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, envPrefix)
		if !ok || slices.Contains(reserved, rest) {
			continue
		}
		key, ok := byVariable[name]
		if mapped, found := mapKey(rest); !ok && found {
			key, ok = mapped, true
		}
		if !ok {
			l.unknownVariable(name, byVariable)
			continue
		}
		l.set(job, key, value, name)
	}
}

func (l *loader) unknownVariable(name string, byVariable map[string]string) {
	names := make([]string, 0, len(byVariable))
	for n := range byVariable {
		names = append(names, n)
	}
	slices.Sort(names)
	if near := nearest(name, names); near != "" {
		l.fail(name, "no option has this variable (did you mean %s?)", near)
		return
	}
	l.fail(name, "no option has this variable: it is %s and the key in capitals, with _ for each dot", envPrefix)
}

// mapKey turns OPTIMIZER_LEARNING_RATES_ADAM into the entry of the map.
func mapKey(rest string) (string, bool) {
	name, ok := strings.CutPrefix(rest, "OPTIMIZER_LEARNING_RATES_")
	return "optimizer.learning_rates." + strings.ToLower(name), ok
}

func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// settable lists the keys of v but for entries of maps.
func settable(v reflect.Value, prefix string) []string {
	if !isGroup(v) {
		return []string{prefix}
	}
	var keys []string
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			keys = append(keys, settable(v.Field(i), join(prefix, v.Type().Field(i).Tag.Get("yaml")))...)
		}
	}
	return keys
}
