package main

import (
	"slices"
	"strings"
	"testing"
)

// TestErrorEvent verifies that each command with --json that ends with an error has
// exactly one error event with its code.
func TestErrorEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string
		code int
		says string
	}{
		{"train linear --bogus", 64, "unknown option --bogus"},
		{"train linear --rank x", 64, "-rank"},
		{"train linear --set", 64, "--set needs a value"},
		{"train linear --bogus --json", 64, "unknown option --bogus"},
		{"train linear --json=yes", 64, "-json"},
		{"train", 64, "nothing is given, want one job"},
		{"train nosuch.yaml", 66, "nosuch.yaml"},
		{"train nosuch", 66, "nosuch"},
		{"train linear --set foo=1", 64, "foo"},
		{"train linear --rank 0", 64, "--rank is set"},
		{"train linear --resume never --set checkpoint.dir=file/x", 73, "file/x"},
		{"train linear --resume never --set summary.dir=file/x", 73, "summary.dir: cannot write into file/x"},
		{"train mnist --data .", 66, "mnist"},
		{"eval linear --bogus", 64, "--bogus"},
		{"eval linear --from nosuch", 66, "nosuch"},
		{"predict linear", 66, "no checkpoint or bundle at ckpt/linear"},
		{"export linear --from nosuch --to x", 66, "nosuch"},
		{"inspect", 64, "a path"},
		{"inspect nosuch", 66, "nosuch"},
		{"status a b", 64, "the address"},
		{"status localhost:1", 138, "localhost:1"},
		{"doctor --bogus", 64, "--bogus"},
		{"doctor nosuch.yaml", 66, "nosuch.yaml"},
		{"doctor linear --set checkpoint.dir=file/below", 73, "file/below"},
		{"doctor -H localhost linear --set checkpoint.dir=file/below", 73, "file/below"},
		{"bench allreduce --bogus", 64, "--bogus"},
		{"bench allreduce -np 2 --link nosuch", 64, "nosuch"},
		{"bench link word", 64, `"word" is given, want none`},
		{"bench codec --bogus", 64, "--bogus"},
		{"bench scale -np x", 64, "-np"},
		{"bench peers --only nosuch", 64, "nosuch"},
		{"run -np 2 SELF train linear --bogus", 64, "--bogus"},
	}
	for _, tt := range tests {
		t.Run("args="+tt.args, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.write("file", "")
			args := strings.Fields(strings.ReplaceAll(tt.args, "SELF", self(b)))
			if !slices.ContainsFunc(args, func(word string) bool { return strings.HasPrefix(word, "--json") }) {
				if e := b.must(tt.code, args...); strings.Contains(e.stdout, errorMark) {
					t.Errorf("nobody wants events: %q", e.stdout)
				}
				b = b.with("RINGTRAIN_JSON=1")
			}
			v := b.must(tt.code, args...).only(t, "error")
			checkFields(t, v)
			if v.num("exit_code") != float64(tt.code) || !strings.Contains(v.text("cause"), tt.says) {
				t.Errorf("want code %d and %q: %v", tt.code, tt.says, v)
			}
		})
	}
}

// TestErrorEntry verifies that an error event names the entry of the manual that explains its cause, of a command
// alone and under run, and that help prints this entry.
func TestErrorEntry(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, command := range []string{"train", "run", "eval"} {
		doc := b.must(66, command, "nosuch.yaml", "--json").only(t, "error").text("doc")
		if doc != "docs/when-it-breaks#job-file" {
			t.Errorf("%s: doc is %q", command, doc)
		}
		if text := b.must(0, "help", doc).stdout; !strings.Contains(text, "no such job file") {
			t.Errorf("%s: help prints %q", command, text)
		}
	}
}

// TestErrorEventOfRank verifies that an error on all ranks has one event, and that a
// rank without a known number has one too.
func TestErrorEventOfRank(t *testing.T) {
	t.Parallel()
	port := freePorts(t, 1)[0] // rank 0 reports its own error there
	tests := []struct {
		name   string
		env    []string
		args   string
		events int
	}{
		{"rank=0", rankVariables(0, 2, port), "train linear --bogus", 1},
		{"rank=1", rankVariables(1, 2, port), "train linear --bogus", 0},
		{"rank=1, of bench", rankVariables(1, 2, port), "bench allreduce --codec nosuch", 0},
		{"rank=1, by option", nil, "train linear --bogus --rank 1", 0},
		{"rank=unknown", []string{"RANK=1"}, "train linear", 1},
		{"rank=1, which starts ranks", rankVariables(1, 2, port), "bench allreduce --machinefile nosuch --codec nosuch", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newBox(t).with(tt.env...).with("RINGTRAIN_JSON=1").must(64, strings.Fields(tt.args)...)
			if got := strings.Count(e.stdout, errorMark); got != tt.events {
				t.Errorf("%d events, want %d: %q", got, tt.events, e.stdout)
			}
		})
	}
}

// errorMark begins the event of an error.
const errorMark = `{"event":"error"`
