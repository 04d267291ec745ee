package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// arguments has the sorted arguments of a command line. Options may precede or follow
// the words, and begin with one dash or two.
type arguments struct {
	options []string // "--name=value" or "--name"
	words   []string
	help    bool // help is requested
}

// sortArguments separates options from words by the flags of the command. After "--", or
// from a word on for which stop reports true, all arguments are words. The result of an
// error has the arguments that could be sorted: the argument after an unknown option may
// be its value.
func sortArguments(args []string, flags []cli.Flag, stop func(word string) bool) (arguments, error) {
	var a arguments
	var fault error
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			if stop != nil && len(a.words) == 0 {
				a.words = append(a.words, arg) // "--" marks the next word as a program
			}
			a.words = append(a.words, args[i+1:]...)
			return a, fault
		}
		if len(arg) < 2 || arg[0] != '-' {
			a.words = append(a.words, arg)
			if stop != nil && fault == nil && stop(arg) {
				a.words = append(a.words, args[i+1:]...)
				return a, nil
			}
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := findFlag(flags, name)
		if flag == nil && isHelp(arg) {
			a.help = true
			continue
		}
		if flag == nil {
			fault = cmp.Or(fault, unknownOption(arg, name, flags))
			continue
		}
		if bare := bareValues[name]; bare != "" && value == "" {
			value, hasValue = bare, true
		}
		if !hasValue && takesValue(flag) {
			if i++; i == len(args) {
				return a, cmp.Or(fault, exitcode.With(exitcode.Usage, fmt.Errorf("%s needs a value", arg)))
			}
			value, hasValue = args[i], true
		}
		option := "--" + name
		if hasValue {
			option += "=" + value
		}
		a.options = append(a.options, option)
	}
	return a, fault
}

// switchedOn reports whether a flag without a value is among the options. The last one
// counts. An invalid value, as in --json=yes, counts as true.
func (a arguments) switchedOn(name string) bool {
	on := false
	for _, o := range a.options {
		option, value, has := strings.Cut(o, "=")
		if option == "--"+name {
			v, err := strconv.ParseBool(value)
			on = !has || v || err != nil
		}
	}
	return on
}

// all returns the arguments in an order that the flag package accepts.
func (a arguments) all() []string {
	return slices.Concat(a.options, []string{"--"}, a.words)
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// badValue matches an error of the flag package: the value and the option.
var badValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-([\w-]+): `)

// valueError returns an error of the flag package as one that names the option as it is typed, the
// value and what is wanted.
func valueError(flags []cli.Flag, err error) error {
	m := badValue.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	want := "another value"
	switch findFlag(flags, m[2]).(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		want = "a whole number"
	case *cli.Uint64Flag, *cli.UintFlag:
		want = "a whole number of 0 or more"
	case *cli.Float64Flag:
		want = "a number"
	case *cli.DurationFlag:
		want = "a time such as 30s or 2m"
	case *cli.BoolFlag:
		want = "true or false"
	}
	switch {
	case !strings.HasSuffix(err.Error(), strconv.ErrRange.Error()):
	case strings.HasPrefix(m[1], `"-`):
		want = "a larger number"
	default:
		want = "a smaller number"
	}
	return fmt.Errorf("%s is %s, want %s", dashed(m[2]), m[1], want)
}

// dashed returns the name of an option as it is typed: -np and -H, as mpirun's, and --json.
func dashed(name string) string {
	if len(name) == 1 || name == "np" {
		return "-" + name
	}
	return "--" + name
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

func unknownOption(arg, name string, flags []cli.Flag) error {
	if instead := removedOptions[name]; instead != "" {
		return exitcode.With(exitcode.Usage, fmt.Errorf("%s is gone: %s", dashed(name), instead))
	}
	var names []string
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 2 {
				names = append(names, "--"+n)
			}
		}
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("unknown option %s%s", arg, phrase.DidYouMean("--"+name, names)))
}
