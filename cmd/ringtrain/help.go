package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/docs"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Widths of help, in characters.
const (
	helpWidth   = 80 // of a line
	helpColumn  = 26 // column at which the text of an option or a command begins
	helpLongest = helpColumn - 4
)

// printHelp prints the commands of list by group. path is their parent command.
func printHelp(w io.Writer, path string, list []command) {
	if path == "ringtrain" {
		fmt.Fprint(w, "ringtrain trains models on many CPU workers at once, without a parameter server.\n\n")
	}
	fmt.Fprintf(w, "usage: %s COMMAND …\n", path)
	printCommands(w, list)
	fmt.Fprintln(w)
	printText(w, "", path+" COMMAND --help tells a command's options. Options may stand before or after the words.")
	if path == "ringtrain" {
		printText(w, "", "ringtrain help docs/PAGE prints a page of the manual: "+strings.Join(docs.Names(), ", ")+".")
	}
}

// printPage prints a page of the manual, or with NAME#ANCHOR the part that an anchor names.
func printPage(a *app, name string) error {
	name, anchor, part := strings.Cut(name, "#")
	text, ok := docs.Page(strings.TrimSuffix(name, ".md"))
	if ok && part {
		if text, ok = docs.Section(text, anchor); !ok {
			return exitcode.With(exitcode.Usage, fmt.Errorf("docs/%s has no part %s; see ringtrain help docs/%s", name, anchor, name))
		}
	}
	if !ok {
		return exitcode.With(exitcode.Usage, fmt.Errorf("no page docs/%s%s, want one of %s", name, phrase.DidYouMean(name, docs.Names()), strings.Join(docs.Names(), ", ")))
	}
	_, err := io.WriteString(a.stdout, text)
	return err
}

// printCommands prints one line for each command that has a usage, under its group.
func printCommands(w io.Writer, list []command) {
	var groups []string
	for _, c := range list {
		if c.usage != "" && !slices.Contains(groups, c.group) {
			groups = append(groups, c.group)
		}
	}
	for _, group := range groups {
		fmt.Fprintln(w)
		if group != "" {
			fmt.Fprintln(w, group+":")
		}
		for _, c := range list {
			if c.usage != "" && c.group == group {
				printItem(w, c.name, c.usage)
			}
		}
	}
}

// printCommandHelp prints the manual of one command: usage, options by group, examples.
func printCommandHelp(w io.Writer, path string, c command) {
	fmt.Fprintf(w, "usage: %s\n\n", strings.TrimSpace(path+" "+c.args))
	printText(w, "", c.description())
	if len(c.sub) > 0 {
		printCommands(w, c.sub)
	}
	var groups []string
	for _, f := range c.flags {
		if g := groupOf(f); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, group := range groups {
		fmt.Fprintf(w, "\n%s:\n", group)
		for _, f := range c.flags {
			if groupOf(f) == group {
				printItem(w, optionNames(f), optionUsage(f))
			}
		}
	}
	if len(c.examples) > 0 {
		fmt.Fprint(w, "\nexamples:\n")
		for _, e := range c.examples {
			fmt.Fprintf(w, "  %s\n", e)
		}
	}
}

// description returns a description of the command in one or more sentences.
func (c command) description() string {
	if c.about != "" {
		return c.about
	}
	return c.usage
}

// groupOf returns the heading of an option.
func groupOf(f cli.Flag) string {
	if g, ok := f.(cli.CategorizableFlag); ok && g.GetCategory() != "" {
		return g.GetCategory()
	}
	return "options"
}

// grouped sets the heading of flags and returns them.
func grouped(group string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(group) // of each kind of flag
	}
	return flags
}

// optionNames returns the names of an option and the word for its value, as in "--np N, -n N".
func optionNames(f cli.Flag) string {
	word, _ := optionWord(f)
	var names []string
	for _, name := range f.Names() {
		if bareValues[name] != "" {
			names = append(names, dashed(name)+"[="+word+"]")
			continue
		}
		names = append(names, strings.TrimSpace(dashed(name)+" "+word))
	}
	return strings.Join(names, ", ")
}

// optionUsage returns the description of an option. It adds the default, unless that is
// zero or in the usage.
func optionUsage(f cli.Flag) string {
	_, usage := optionWord(f)
	d, ok := f.(cli.DocGenerationFlag)
	if !ok || !d.TakesValue() || strings.Contains(usage, "default") {
		return usage
	}
	switch text := d.GetDefaultText(); text {
	case "", `""`, "0", "0s", "false", "[]":
	default:
		usage += " (default: " + strings.Trim(text, `"`) + ")"
	}
	if env := d.GetEnvVars(); len(env) > 0 {
		usage += " (else " + strings.Join(env, ", ") + ")"
	}
	return usage
}

// optionWord returns the word for an option's value, which is in backquotes in its
// usage, and the usage without the backquotes.
func optionWord(f cli.Flag) (word, usage string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	usage = d.GetUsage()
	if !d.TakesValue() {
		return "", usage
	}
	word = "VALUE"
	if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
		word, usage = parts[1], parts[0]+parts[1]+parts[2]
	} else if _, ok := f.(*cli.DurationFlag); ok {
		word = "TIME"
	} else if _, ok := f.(*cli.IntFlag); ok {
		word = "N"
	}
	return word, usage
}

// printItem prints a name, and a text of any length in a separate column.
func printItem(w io.Writer, name, text string) {
	if show.Width(name) > helpLongest {
		fmt.Fprintln(w, "  "+name)
		name = ""
	}
	printText(w, fmt.Sprintf("  %-*s", helpColumn-2, name), text)
}

// printText prints text in lines of at most helpWidth, each with an indent, of which the first one may be a name.
func printText(w io.Writer, indent, text string) {
	for _, line := range show.Wrap(indent+strings.Join(strings.Fields(text), " "), helpWidth, 0) {
		fmt.Fprintln(w, line)
	}
}
