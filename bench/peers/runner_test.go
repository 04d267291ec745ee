package peers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/bench/child"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// script returns a contender that is a shell script; "$1" is the first size.
func script(name, text string) Contender {
	return Contender{
		Name: name,
		processes: func(w Work, _ Topology, folder string) []child.Process {
			return []child.Process{{Argv: append([]string{"sh", "-c", text, folder}, w.driverArgs()[2:]...)}}
		},
		parse: parseLine,
	}
}

// recorder returns a runner that records its messages, lines and events.
func recorder() (r *Runner, said, printed *[]string, events *[]report.Event) {
	said, printed, events = new([]string), new([]string), new([]report.Event)
	return &Runner{Output: child.Output{
		Log:   func(line string) { *said = append(*said, line) },
		Print: func(line string) { *printed = append(*printed, line) },
		Event: func(e report.Event) { *events = append(*events, e) },
	}}, said, printed, events
}

// TestRounds verifies that contenders take turns, that one that cannot run is reported
// and does not stop the others, and that all figures reach the table.
func TestRounds(t *testing.T) {
	order := filepath.Join(t.TempDir(), "order")
	s := suite{title: "test", bars: []bar{{text: "ours against gloo", ours: ours, theirs: []string{gloo}, to: 8, least: 3}}}
	s.steps = []step{{work: Work{Ranks: 2, Sizes: []int{8}}, contenders: []Contender{
		script(ours, "echo a $1 >>"+order+"; echo noise; echo own $1 100.0 0"),
		script(gloo, "echo b $1 >>"+order+"; echo ring $1 500.0 0; echo chunked $1 400.0 0"),
		script("broken", "echo 'no such library' >&2; exit 3"),
		{Name: "absent", prepare: func(context.Context) error { return errors.New("want: apt-get install it") }},
		script("wrong", "echo own $1 1.0 7"),
		script("silent", "true"),
		script("shaky", "test -e "+order+".shaky && echo own $1 500.0 0; touch "+order+".shaky"),
	}, settle: 1, settling: Work{Ranks: 2, Sizes: []int{4}}}}
	r, said, printed, events := recorder()
	f, rounds, err := r.rounds(t.Context(), s, Config{Rounds: 2})
	if err != nil || rounds != 2 {
		t.Fatalf("%d rounds, error %v; want 2", rounds, err)
	}
	r.report(s, f, rounds)
	if err := f.failure(); err != nil {
		t.Errorf("error is %v, want none: ringtrain did not fail", err)
	}
	if ran, _ := os.ReadFile(order); string(ran) != "a 4\na 8\nb 8\na 4\nb 8\na 8\n" {
		t.Errorf("contenders ran in the order %q, want a to settle, then both in turns, b first in the second round", ran)
	}
	for _, want := range []string{
		"broken with 2 ranks has failed and has one more try, in its next turn: process 0 of 1: exit status 3: no such library",
		"shaky with 2 ranks has failed and has one more try, in its next turn: printed the times of 0 sizes, want 1",
		"broken with 2 ranks is skipped from here on: process 0 of 1: exit status 3: no such library",
		"absent is skipped from here on: want: apt-get install it",
		"wrong with 2 ranks is skipped from here on: own sums wrongly: 7 elements of 8 bytes",
		"silent with 2 ranks is skipped from here on: printed the times of 0 sizes, want 1",
	} {
		if n := len(slices.DeleteFunc(slices.Clone(*said), func(s string) bool { return s != want })); n != 1 {
			t.Errorf("logged %d times, want once: %s\n%s", n, want, strings.Join(*said, "\n"))
		}
	}
	table := strings.Join(*printed, "\n")
	for _, want := range []string{"2         8              100.0       400.0   4.00       500.0   5.00", "met ", "worst   4.00 [3.00] at 2 ranks, 8; 1 cells"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	var kinds []string
	for _, e := range *events {
		kinds = append(kinds, e.Kind())
	}
	if want := []string{"peer", "peer", "peer", "bar"}; !slices.Equal(kinds, want) {
		t.Errorf("events are %q, want %q", kinds, want)
	}
}

// TestTurns verifies that the turns of contenders alternate.
func TestTurns(t *testing.T) {
	order := filepath.Join(t.TempDir(), "order")
	work := Work{Ranks: 2, Sizes: []int{8}}
	s := suite{steps: []step{{work: work, turns: 2, contenders: []Contender{
		script(ours, "echo a >>"+order+"; echo own $1 100.0 0"),
		script(gloo, "echo b >>"+order+"; echo ring $1 500.0 0"),
	}}}}
	r, _, _, _ := recorder()
	if _, _, err := r.rounds(t.Context(), s, Config{Rounds: 1}); err != nil {
		t.Fatal(err)
	}
	if ran, _ := os.ReadFile(order); string(ran) != "a\nb\na\nb\n" {
		t.Errorf("contenders ran in the order %q, want a, b, a, b", ran)
	}
}

// TestOursFails verifies that a repeated failure of ringtrain is visible in the bars,
// the table and the exit code, and that a single one is not.
func TestOursFails(t *testing.T) {
	turns := filepath.Join(t.TempDir(), "turns")
	for _, tt := range []struct {
		name, ours, cause string
	}{
		{"wrong", "echo own $1 100.0 3", "own sums wrongly: 3 elements of 8 bytes"},
		{"code", "echo own $1 100.0 0; echo broken >&2; exit 70", "process 0 of 1: exit status 70: broken"},
		{"later", "echo x >>" + turns + "; test $(wc -l <" + turns + ") = 1 && echo own $1 100.0 0", "process 0 of 1: exit status 1"},
		{"once", "test -e " + turns + ".once && echo own $1 100.0 0; touch " + turns + ".once", ""},
	} {
		t.Run("ours="+tt.name, func(t *testing.T) {
			us := script(ours, tt.ours)
			us.own = true
			s := suite{bars: []bar{{text: "ours against gloo", ours: ours, theirs: []string{gloo}, to: 8, least: 3}}}
			s.steps = []step{{work: Work{Ranks: 2, Sizes: []int{8}}, contenders: []Contender{us, script(gloo, "echo ring $1 400.0 0")}}}
			r, said, printed, _ := recorder()
			f, rounds, err := r.rounds(t.Context(), s, Config{Rounds: 3})
			if err != nil {
				t.Fatal(err)
			}
			r.report(s, f, rounds)
			table := strings.Join(*printed, "\n")
			err = f.failure()
			if tt.cause == "" {
				if err != nil || !strings.Contains(table, " met ") || !strings.Contains(strings.Join(*said, "\n"), "ringtrain with 2 ranks has FAILED and is tried again") {
					t.Errorf("error is %v, said %q, want one more try and then:\n%s", err, *said, table)
				}
				return
			}
			if want := "bench peers: ringtrain with 2 ranks has failed: " + tt.cause; exitcode.Of(err) != exitcode.Failed || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
			if !strings.Contains(table, "NOT MET; missing: 2 ranks, 8") || !strings.Contains(table, "FAILED") {
				t.Errorf("the table hides the failure:\n%s", table)
			}
		})
	}
}

// TestRoundsEnd verifies that an interrupt is no failure of a contender and keeps the
// figures, and that the limit does not end the first round.
func TestRoundsEnd(t *testing.T) {
	s := suite{steps: []step{{work: Work{Ranks: 2, Sizes: []int{8}}, contenders: []Contender{script(ours, "echo own $1 1.0 0")}}}}
	r, said, _, _ := recorder()
	stopped, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	cancel(why)
	if _, _, err := r.rounds(stopped, s, Config{Rounds: 1}); !errors.Is(err, why) {
		t.Errorf("error is %v, want %v; said %q", err, why, *said)
	}
	late, stop := context.WithCancelCause(t.Context())
	second := script(gloo, "echo ring $1 1.0 0")
	second.prepare = func(context.Context) error {
		stop(why)
		return nil
	}
	s.steps[0].contenders = append(s.steps[0].contenders, second)
	f, rounds, err := r.rounds(late, s, Config{Rounds: 5})
	if _, ok := f.time(ours, 2, 8); !errors.Is(err, why) || rounds != 0 || !ok {
		t.Errorf("%d rounds, error %v, figure %v; want no whole round, %v and the figure", rounds, err, ok, why)
	}
	s.steps[0].contenders = s.steps[0].contenders[:1]
	f, rounds, err = r.rounds(t.Context(), s, Config{Rounds: 5, Limit: time.Nanosecond})
	if _, ok := f.time(ours, 2, 8); err != nil || rounds != 1 || !ok {
		t.Errorf("%d rounds, error %v, figure %v; want one round", rounds, err, ok)
	}
}

// TestConfig verifies that a bad config is refused as wrong usage.
func TestConfig(t *testing.T) {
	if err := (Config{Rounds: 1, PerHost: 1}).Check(); err != nil {
		t.Error(err)
	}
	err := Config{Hosts: 1}.Check()
	const want = "--rounds is 0, want 1 or more\n--hosts is 1, want 2 to 64\n--per-host is 0, want 1 to 64"
	if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error is %v, want\n%s", err, want)
	}
}
