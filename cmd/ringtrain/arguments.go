package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
)

// arguments are the words of a command line, sorted: options may stand before
// or after the words that are none, and with one dash or two.
type arguments struct {
	options []string // "--name=value" or "--name"
	words   []string
	help    bool // is asked for
}

// sortArguments takes args apart by the flags that the command knows. After
// "--", or once stop says so of a word, all that follows are words. The first
// error comes with all that could be told apart: what follows an unknown option
// may be its value.
func sortArguments(args []string, flags []cli.Flag, stop func(word string) bool) (arguments, error) {
	var a arguments
	var fault error
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			if stop != nil && len(a.words) == 0 {
				a.words = append(a.words, arg) // says that the next word is a program, whatever it looks like
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

// switchedOn tells whether a flag without a value is among the options. The last
// one counts, and a value that is none, as in --json=yes, is no refusal.
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

// all returns the words of the command line in an order that the flag package
// understands.
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

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

func unknownOption(arg, name string, flags []cli.Flag) error {
	var names []string
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 2 {
				names = append(names, "--"+n)
			}
		}
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("unknown option %s%s", arg, meant("--"+name, names)))
}
