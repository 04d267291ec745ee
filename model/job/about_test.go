package job

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAbout verifies that each key has a text, that no text belongs to a key that is gone,
// and that a text ends as a sentence does.
func TestAbout(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, k := range texts {
		if !strings.HasSuffix(k.Text, ".") {
			t.Errorf("text of %s is %q, want a sentence", k.Key, k.Text)
		}
		seen[k.Key] = true
	}
	for key := range abouts {
		if !seen[key] {
			t.Errorf("%s has a text and is no key", key)
		}
	}
}

// TestAboutNames verifies which names About takes: keys, groups, and no others.
func TestAboutNames(t *testing.T) {
	for name, want := range map[string]int{"input.batch": 1, "train.average": 3, "input.eval.files": 1} {
		if got, err := About(name); len(got) != want || err != nil {
			t.Errorf("About(%q) has %d keys, %v, want %d", name, len(got), err, want)
		}
	}
	for name, want := range map[string]string{"input.bach": `did you mean "input.batch"?`, "trian": `did you mean "train"?`, "inpu": `did you mean "input"?`} {
		if _, err := About(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("About(%q) = %v, want %s", name, err, want)
		}
	}
}

// A baseJob is a job in which some keys have a meaning.
type baseJob struct {
	name string
	sets []string
}

// baseJobs returns jobs, in one of which at least each key has a meaning.
func baseJobs() []baseJob {
	files := func(format, rest string) []string {
		var sets []string
		for _, group := range []string{"input.train.", "input.eval."} {
			for _, set := range strings.Fields("format=" + format + " images= labels= " + rest) {
				sets = append(sets, group+set)
			}
		}
		return sets
	}
	all := []baseJob{
		{"mnist", nil}, {"ctr", nil},
		{"mnist", []string{"model.kind=mlp", "model.hidden=[4]"}},
		{"ctr", []string{"model.kind=dcn", "model.hidden=[4]"}},
		{"ctr", files("libffm", "ids= values= label=")},
		{"mnist", []string{"schedule.kind=exponential"}},
		{"mnist", append(files("images", "images=a"), "input.shape=[28, 28, 1]")},
		{"mnist", append(files("csv", "files=[a]"), "input.columns=[{label: {names: [y]}}, {numeric: {names: [x]}}]")},
		{"mnist", []string{"input.shape=[4]", "input.synthetic=true"}},
		{"mnist", []string{"train.class_weights=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"}},
	}
	for _, optimizer := range []string{"momentum", "adagrad", "adadelta", "adam", "adamw", "ftrl", "rmsprop"} {
		all = append(all, baseJob{"ctr", []string{"optimizer.name=" + optimizer}})
	}
	return all
}

// wants returns what the job wants instead of a value of a key, "" if it takes the value.
func (b baseJob) wants(key, value string) string {
	_, err := Load(b.name, nil, append(slices.Clone(b.sets), key+"="+value))
	if err == nil {
		return ""
	}
	for line := range strings.Lines(err.Error()) {
		_, want, ok := strings.Cut(line, " want ")
		if strings.HasPrefix(want, "one for each of") {
			continue // the number of items is another matter
		}
		if at := strings.Index(line, key); ok && at >= 0 && !strings.HasPrefix(line[at+len(key):], ".") {
			return strings.TrimSpace(want)
		}
	}
	return ""
}

var (
	aWord   = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	between = regexp.MustCompile(`^(\d+) to (\d+)$`)
	atLeast = regexp.MustCompile(`^(\d+)((?:[KM]iB)?) or more$`)
)

// limits returns values just outside a range and just inside, none if values are words.
func limits(t *testing.T, values string) (outside, inside []string) {
	t.Helper()
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if m := between.FindStringSubmatch(values); m != nil {
		return []string{fmt.Sprint(number(m[1]) - 1), fmt.Sprint(number(m[2]) + 1)}, m[1:]
	}
	if m := atLeast.FindStringSubmatch(values); m != nil {
		if m[2] == "" {
			return []string{fmt.Sprint(number(m[1]) - 1)}, []string{m[1]}
		}
		return []string{fmt.Sprint(number(m[1])<<map[string]int{"KiB": 10, "MiB": 20}[m[2]] - 1)}, []string{m[1] + m[2]}
	}
	switch values {
	case "above 0":
		return []string{"0", "-1"}, []string{"0.001"}
	case "above 0, at most 1":
		return []string{"0", "1.001"}, []string{"0.001", "1"}
	case "0 or more and below 1", "0 or more and less than 1":
		return []string{"-0.001", "1"}, []string{"0", "0.999"}
	case "0 or less":
		return []string{"0.001"}, []string{"0", "-1"}
	}
	return nil, nil
}

// TestAboutValues verifies what About says of values: a job refuses those just outside a range and takes
// those at its ends, and the words are those that an error wants instead of another.
func TestAboutValues(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	jobs := baseJobs()
	for _, k := range texts {
		values := abouts[k.Key].values
		outside, inside := limits(t, values)
		if strings.HasPrefix(k.Key, "input.eval.") || k.Takes == "true or false" {
			continue
		}
		key := k.Key
		if key == "optimizer.learning_rates" {
			key += ".sgd"
		}
		held := slices.ContainsFunc(jobs, func(b baseJob) bool {
			refuses := func(value string) bool { return b.wants(key, value) != "" }
			if outside != nil {
				return !slices.ContainsFunc(outside, func(v string) bool { return !refuses(v) }) && !slices.ContainsFunc(inside, refuses)
			}
			wants := b.wants(key, "no-such-word")
			if wants == "" && strings.HasSuffix(values, " a folder") {
				return true // any text is one
			}
			return (wants == "") == (k.Takes == "text" || strings.HasPrefix(k.Takes, "list: text")) && slices.Equal(words(values, ""), words(wants, k.Default))
		})
		if !held {
			var wants []string
			for _, b := range jobs {
				wants = append(wants, b.wants(k.Key, "no-such-word"))
			}
			t.Errorf("%s takes %q, which no job does: outside %q, inside %q, a job wants one of %q", k.Key, values, outside, inside, slices.Compact(wants))
		}
	}
}

// words returns the words of a list and its default, up to the description of other values, in order.
func words(list, standard string) []string {
	if strings.Contains(list, "number") || strings.HasPrefix(list, "a ") || strings.HasPrefix(list, "ASCII") {
		return nil
	}
	list, _, _ = strings.Cut(strings.TrimPrefix(list, "one of "), ", or ")
	all := strings.Fields(strings.NewReplacer(",", " ", " or ", " ").Replace(list))
	if all != nil {
		all = append(all, standard)
	}
	all = slices.DeleteFunc(all, func(w string) bool { return w == "to" || !aWord.MatchString(w) })
	slices.Sort(all)
	return slices.Compact(all)
}
