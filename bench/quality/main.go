// Command quality trains each preset, compares the result with the project's quality
// bars and prints a table with the times. `make quality` runs it.
//
// Each preset is trained with three seeds on one rank, of which the median counts, with
// one seed on four ranks, and with one seed on records that ringtrain draws. Convex
// models are trained on all records at once with a penalty on the weights; the objective
// must be at most 1e-4 above the optimum. Models of clicks also have bars of AUC.
//
// The job that init writes for raw files is trained as it is, but for the fold, on five folds of a fifth.
// Scikit-learn has the same records.
//
// The exit code is 1 if a bar is missed or a run fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	program := flags.String("program", "bin/ringtrain", "the binary of ringtrain")
	data := flags.String("data", os.Getenv("RINGTRAIN_DATA"), "the folder of the data sets")
	only := flags.String("only", "", "comma-separated names of entries; convex: all optima; raw: all raw files; default: all")
	python := flags.String("python", ".interop/tables/bin/python", "a python with scikit-learn and pandas, for raw files")
	short := flags.Bool("short", false, "only one seed on one rank")
	if flags.Parse(args) != nil {
		return 64
	}
	t := trainer{program: *program, data: *data, short: *short, say: func(s string) { fmt.Fprintln(os.Stderr, s) }}
	t.logs = map[string]string{}
	defer t.removeLogs()
	chosen, files, err := choose(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		return 64
	}
	var rows []row
	for _, e := range chosen {
		r := t.row(ctx, e)
		rows = append(rows, r)
		if ctx.Err() != nil {
			break
		}
	}
	var raws []rawRow
	for _, e := range files {
		if ctx.Err() == nil {
			raws = append(raws, t.rawRow(ctx, e, *python))
		}
	}
	if len(rows) > 0 {
		fmt.Print(table(rows))
	}
	fmt.Print(rawTable(raws))
	if slices.ContainsFunc(rows, func(r row) bool { return !r.met() }) || slices.ContainsFunc(raws, func(r rawRow) bool { return !r.met() }) {
		return 1
	}
	return 0
}

// choose returns the entries with the given names, all for "".
func choose(names string) (chosen []entry, files []rawEntry, err error) {
	if names == "" {
		return entries(), rawEntries(), nil
	}
	for name := range strings.SplitSeq(names, ",") {
		before := len(chosen) + len(files)
		for _, e := range entries() {
			if e.name == name || name == "convex" && e.optimum > 0 {
				chosen = append(chosen, e)
			}
		}
		for _, e := range rawEntries() {
			if e.name == name || name == "raw" {
				files = append(files, e)
			}
		}
		if len(chosen)+len(files) == before {
			return nil, nil, fmt.Errorf("no entry %q, want %s", name, entryNames())
		}
	}
	return chosen, files, nil
}
