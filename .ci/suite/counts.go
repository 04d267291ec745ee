package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// counts has the counts of a run, as stored in a file.
type counts struct{ Passed, Failed, Skipped int }

func (r *report) counts() counts {
	c := counts{Passed: r.passed, Failed: r.failed}
	for _, n := range r.skipped {
		c.Skipped += n
	}
	return c
}

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

// finish prints the faults and the summary line.
func (r *report) finish() {
	r.findUnlisted()
	if r.passed == 0 {
		r.fault("no test passed")
	}
	for _, f := range r.faults {
		fmt.Fprintln(r.out, "suite:", f)
	}
	line := r.counts().String() + each(r.skipped, "")
	if len(r.left) > 0 {
		line += "; left to other suites" + each(r.left, "make ")
	}
	fmt.Fprintln(r.out, line)
}

// each formats counts by name, in parentheses.
func each(by map[string]int, prefix string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, fmt.Sprintf("%d %s%s", by[name], prefix, name))
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func (r *report) appendCounts(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r.counts()), f.Close())
}

// printSum prints the sum of the counts in a file.
func printSum(out io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var sum counts
	for d := json.NewDecoder(f); ; {
		var c counts
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		sum = counts{sum.Passed + c.Passed, sum.Failed + c.Failed, sum.Skipped + c.Skipped}
	}
	_, err = fmt.Fprintln(out, sum)
	return err
}
