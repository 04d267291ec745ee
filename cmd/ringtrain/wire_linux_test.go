package main

import (
	"slices"
	"strings"
	"testing"
)

// fourHosts is a layout of one rank on each of four hosts.
var fourHosts = []int{0, 1, 2, 3}

// decision returns the single decision about what.
func (e ended) decision(t *testing.T, what string) event {
	t.Helper()
	list := slices.DeleteFunc(e.events(t), func(v event) bool { return v.name() != "decision" || v.text("what") != what })
	if len(list) != 1 {
		t.Fatalf("%d decisions about %s, want 1\n%s%s", len(list), what, e.stdout, e.stderr)
	}
	return list[0]
}

// TestAutoWithinHost verifies that a run on one host uses no codec and reports the
// reason.
func TestAutoWithinHost(t *testing.T) {
	e := newBox(t).must(0, on(2, digitsMLP(256, 10, "--set", "checkpoint.dir="))...)
	d := e.only(t, "decision")
	if d.text("what") != "codec" || d.text("choice") != "none" || !strings.Contains(d.text("why"), "one host") {
		t.Errorf("decision %v, want codec none because of one host", d)
	}
}

// TestAutoOverWire trains over four hosts at 100 Mbit/s and resumes. It verifies that
// auto chooses a codec and reports the reason, and that the resumed run keeps the choice
// without a measurement.
func TestAutoOverWire(t *testing.T) {
	long(t)
	hosts, b := newHosts(t, 4, "100mbit"), newBox(t)
	first := b.startOnHosts(hosts, fourHosts, digitsMLP(256, 15)...).trained()
	if got := first.only(t, "start").text("codec"); got != "auto" {
		t.Errorf("start says codec %s, want auto", got)
	}
	d := first.decision(t, "codec")
	if d.text("choice") != "int8" || d.text("why") == "" {
		t.Errorf("decision %v, want codec int8 and why", d)
	}
	if d.num("predicted_s") <= 0 || d.num("achieved_s") <= 0 {
		t.Errorf("decision %v, want what was predicted and achieved", d)
	}
	t.Logf("int8: %s; predicted %.3f s, achieved %.3f s", d.text("why"), d.num("predicted_s"), d.num("achieved_s"))
	second := b.startOnHosts(hosts, fourHosts, digitsMLP(256, 25, "--resume", "must")...).trained()
	if got := second.only(t, "start"); got.text("codec") != "int8" || got.num("restored_step") != 15 {
		t.Errorf("resumed at step %v with codec %v, want 15 and int8", got["restored_step"], got["codec"])
	}
	if d := second.decision(t, "codec"); d.text("choice") != "int8" || d.num("predicted_s") != 0 || !strings.Contains(d.text("why"), "checkpoint") {
		t.Errorf("resumed run: decision %v, want int8 from the checkpoint, without a measurement", d)
	}
}
