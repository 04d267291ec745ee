// Suite runs `go test`, prints the failures, and counts the tests.
//
//	go run ./.ci/suite [-long] [-have REASONS] [-counts FILE] [-log FILE] [-- ARGUMENTS OF go test]
//
// Its last line reads "N passed, N failed, N skipped", followed by the reasons of the
// skips. Only a test in .ci/skips may be skipped; any other skip fails the suite. A skip
// for a reason in -have fails too, because this machine has what the test needs.
//
// A test that omits something under -short reports the fact in a skip or a log that
// begins with "long:". .ci/skips lists the test with the reason check-long. With -long
// the suite runs exactly these tests in full.
//
// With -counts each run appends its counts to FILE, and -sum FILE prints their sum.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	have := flag.String("have", "", "comma-separated reasons of .ci/skips that do not hold on this machine")
	list := flag.String("skips", ".ci/skips", "the list of tests that may be skipped")
	long := flag.Bool("long", false, "run only the tests that omit something under -short, in full")
	log := flag.String("log", "", "write the output of all tests to this file")
	counts := flag.String("counts", "", "append the counts to this file")
	sum := flag.String("sum", "", "print the sum of the counts in this file and run no test")
	flag.Parse()
	if err := run(options{*have, *list, *log, *counts, *sum, *long}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// options has the values of the flags.
type options struct {
	have, list, log, counts, sum string
	long                         bool
}

func run(o options, args []string) error {
	if o.sum != "" {
		return printSum(os.Stdout, o.sum)
	}
	skips, err := readSkips(o.list)
	if err != nil {
		return err
	}
	r := &report{out: os.Stdout, log: io.Discard, skips: skips, short: slices.Contains(args, "-short"), have: strings.Split(o.have, ",")}
	if o.log != "" {
		f, err := os.Create(o.log)
		if err != nil {
			return err
		}
		defer f.Close()
		r.log = f
	}
	if o.long {
		args = append(args, longTests(skips)...)
	}
	testErr := goTest(r, args)
	switch {
	case o.long:
		r.findLost()
	case !slices.ContainsFunc(args, selects):
		r.findStale()
	}
	r.finish()
	if o.counts != "" {
		if err := r.appendCounts(o.counts); err != nil {
			return err
		}
	}
	if testErr == nil && len(r.faults) > 0 {
		return fmt.Errorf("%d faults besides failed tests", len(r.faults))
	}
	return testErr
}

// goTest runs `go test` and passes its events to r.
func goTest(r *report, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}

// selects reports whether an argument makes go test run only some tests of a package.
func selects(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.HasPrefix(arg, "-") && (name == "run" || name == "skip" || name == "fuzz")
}
