package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/job"
)

// A candidate is a possible completion of the word at the cursor.
type candidate struct {
	text, about string
}

// optionValues has the values of options with few values.
var optionValues = map[string][]string{
	"resume":  {"auto", "never", "must"},
	"link":    {"auto", "tcp", "shm"},
	"map-by":  {"slot", "node"},
	"bind-to": {"core", "none"},
	"kernels": {"portable", "avx2", "avx512"},
}

// candidatesFor returns the candidates for the last of words, the arguments after the
// name of the program. No candidates mean names of files.
func candidatesFor(words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	current, before := words[len(words)-1], words[:len(words)-1]
	list := commands()
	var cmd *command
	for len(before) > 0 && list != nil {
		found, ok := findCommand(list, before[0])
		if !ok {
			break
		}
		cmd, before, list = &found, before[1:], found.sub
	}
	var all []candidate
	for _, c := range list {
		if c.usage != "" && len(before) == 0 {
			all = append(all, candidate{c.name, c.usage})
		}
	}
	if cmd != nil {
		all = append(all, cmd.candidates(before, current)...)
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, current) })
}

// candidates returns the candidates after the arguments before, which follow the
// command.
func (c *command) candidates(before []string, current string) []candidate {
	sorted, err := sortArguments(before, c.flags, c.stop)
	if len(before) > 0 && err != nil {
		name := strings.TrimLeft(before[len(before)-1], "-")
		if flag := findFlag(c.flags, name); flag != nil && strings.HasPrefix(before[len(before)-1], "-") {
			return valuesOf(flag)
		}
	}
	if c.stop != nil && len(sorted.words) > 0 && c.stop(sorted.words[0]) {
		return nil // arguments of another program
	}
	if strings.HasPrefix(current, "-") {
		return optionsOf(c.flags)
	}
	var all []candidate
	switch {
	case c.name == "completion":
		for shell := range completionScripts {
			all = append(all, candidate{shell, ""})
		}
	case len(sorted.words) == 0 && c.name == "jobs":
		all = append(all, candidate{"show", "the file of a job"}, candidate{"explain", "what a key is for"}, candidate{"schema", "a JSON Schema of job files"})
	case c.name == "jobs" && len(sorted.words) == 1 && sorted.words[0] == "explain":
		return keysOf("", true)
	case len(sorted.words) == 0 && strings.Contains(c.args, "JOB"), c.name == "jobs" && len(sorted.words) == 1:
		for _, name := range job.BuiltinNames() {
			all = append(all, candidate{name, job.BuiltinUsage(name)})
		}
	}
	return all
}

// optionsOf returns the long names of flags.
func optionsOf(flags []cli.Flag) []candidate {
	var all []candidate
	for _, f := range flags {
		_, about := optionWord(f)
		for _, name := range f.Names() {
			if len(name) > 1 {
				all = append(all, candidate{"--" + name, about})
			}
		}
	}
	return append(all, candidate{"--help", "the options of this command"})
}

// valuesOf returns the possible values of flag. No values mean names of files.
func valuesOf(flag cli.Flag) []candidate {
	var all []candidate
	for _, name := range flag.Names() {
		if name == "set" {
			all = append(all, keysOf("=", false)...)
		}
		for _, value := range optionValues[name] {
			all = append(all, candidate{value, ""})
		}
	}
	return all
}

// keysOf returns all keys of a job, each with suffix behind it and the first sentence of its text. Keys
// of the items of lists are among them if items is true.
func keysOf(suffix string, items bool) []candidate {
	texts, err := job.About("")
	if err != nil {
		return nil
	}
	var all []candidate
	for _, k := range texts {
		if k.List != "" && !items {
			continue // an option wants the name or the number of the item in the key
		}
		first, _, _ := strings.Cut(k.Text, ". ")
		all = append(all, candidate{k.Key + suffix, strings.TrimSuffix(first, ".")})
	}
	return all
}
