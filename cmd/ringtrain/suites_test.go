package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestSuitesDescribed verifies that there are a short and a long suite, that CI runs
// both, and that a table describes them.
func TestSuitesDescribed(t *testing.T) {
	makefile, run, table := readFile(t, "../../Makefile"), readFile(t, "../../.ci/run"), readFile(t, "../../docs/proof.md")
	for _, target := range []string{"quick", "check", "check-long", "interop"} {
		if !strings.Contains(makefile, "\n"+target+":") {
			t.Errorf("make has no target %s", target)
		}
		if !strings.Contains(table, "`make "+target+"`") {
			t.Errorf("docs/proof.md does not say what make %s holds", target)
		}
		if target != "quick" && !regexp.MustCompile(`(?m)make `+target+`$`).MatchString(run) {
			t.Errorf(".ci/run does not run make %s", target)
		}
	}
}

// TestShortForms verifies that CI runs a short form of each long suite, and that
// a file records whether each one blocks, and since when.
func TestShortForms(t *testing.T) {
	if !strings.Contains(readFile(t, "../../.ci/run"), ".ci/short") {
		t.Error(".ci/run does not run .ci/short")
	}
	short, blocking := readFile(t, "../../.ci/short"), readFile(t, "../../.ci/blocking")
	for _, form := range []string{"chaos", "cases", "faults", "simulate", "fuzz"} {
		if !strings.Contains(short, "\nform_"+form+"()") {
			t.Errorf("there is no short form of %s", form)
		}
		if !regexp.MustCompile(`(?m)^` + form + ` +(reports|blocks) +\d{4}-\d\d-\d\d +\d+$`).MatchString(blocking) {
			t.Errorf(".ci/blocking does not say whether %s blocks, since when, and how often it was green", form)
		}
	}
}
