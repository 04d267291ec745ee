package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ringtrain/model"
)

// onLesser runs its arguments; rank 1 gets a processor without the features that %s
// names.
const onLesser = `if [ "$RINGTRAIN_RANK" = 1 ]; then export GODEBUG=%s; fi; exec "$@"`

// withoutHighest returns the GODEBUG that disables the highest kernel set of this
// machine, if there is a lower one.
func withoutHighest() string {
	sets := model.KernelSets()
	return map[string]string{"portable": "", "avx2": "cpu.avx2=off", "avx512": "cpu.avx512f=off"}[sets[len(sets)-1]]
}

// lesser runs a job of two ranks; rank 1 lacks the highest kernel set of this machine.
func lesser(b *box, args ...string) ended {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return b.run(append([]string{"run", "--json", "-np", "2", "sh", "-c", fmt.Sprintf(onLesser, withoutHighest()), "rank", self, "train", "linear"}, args...)...)
}

// TestKernelsOfMixedHosts verifies that ranks with different processors train with the
// highest common kernel set, report the rank that lacks more, and have the bits of a run
// with that set. With a single set nothing is reported.
func TestKernelsOfMixedHosts(t *testing.T) {
	b := newBox(t)
	sets := model.KernelSets()
	common := sets[max(len(sets)-2, 0)]
	e := lesser(b, "--resume", "never")
	if e.code != 0 {
		t.Fatalf("ended with %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	if got := e.only(t, "start").text("kernels"); got != common {
		t.Errorf("the ranks train with %s, want %s", got, common)
	}
	told := slices.DeleteFunc(e.events(t), func(v event) bool { return v.text("what") != "kernels" })
	switch {
	case len(sets) == 1 && len(told) != 0:
		t.Errorf("with one set there is %v, want nothing", told)
	case len(sets) > 1 && (len(told) != 1 || told[0].text("choice") != common || !namesRank(told[0].text("why"), 1)):
		t.Errorf("told is %v, want %s and rank 1", told, common)
	}
	wanted := b.must(0, "run", "--json", "-np", "2", "linear", "--resume", "never", "--set", "train.kernels="+common)
	if got, want := e.digest(t), wanted.digest(t); got != want {
		t.Errorf("digest is %s, want %s as of a run that wants %s", got, want, common)
	}
}

// TestKernelsWantedOnAll verifies that a rank without the kernel set of the job ends all
// ranks before the first step with 64, and that the message names the rank and its sets.
func TestKernelsWantedOnAll(t *testing.T) {
	b := newBox(t)
	sets := model.KernelSets()
	want := "avx512"
	if has := sets[len(sets)-1]; has != "portable" {
		want = has
	}
	e := lesser(b, "--set", "train.kernels="+want)
	has := strings.Join(sets[:max(len(sets)-1, 1)], ", ")
	text := fmt.Sprintf("train.kernels is %s, this machine has %s", want, has)
	if e.code != 64 || !strings.Contains(e.last(), text) || len(sets) > 1 && !namesRank(e.last(), 1) {
		t.Errorf("ended with %d and %q, want 64 and %q of rank 1", e.code, e.last(), text)
	}
	if strings.Contains(e.stdout, `"event":"start"`) {
		t.Errorf("it has trained:\n%s", e.stdout)
	}
}
