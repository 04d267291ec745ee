package main

import (
	"strings"
	"testing"
)

// TestLauncherFaultEvent verifies that --json has exactly one error event with the exit
// code if the launcher cannot run the job.
func TestLauncherFaultEvent(t *testing.T) {
	tests := []struct {
		name, args string
		code       int
	}{
		{"host cannot be reached", "--json -np 2 -H nobody.invalid:2 --ssh false linear", 138},
		{"no such program", "--json -np 2 no-such-program", 127},
		{"no such program for one rank", "--json -np 1 sleep 1000 : -np 1 no-such-program", 127},
		{"output", "-np 2 --output-dir ./file/x linear --json", 73},
		{"slots", "--json -np 2 -H localhost:1 linear", 64},
		{"unknown option", "--json -np 2 --bogus linear", 64},
		{"unknown option before", "--bogus 3 --json -np 2 linear", 64},
		{"bad value", "--json -np x linear", 64},
		{"nothing to run", "--json", 64},
		{"the ranks' fault", "--json -np 2 linear --set foo=1", 64},
	}
	for _, tt := range tests {
		t.Run("fault="+tt.name, func(t *testing.T) {
			b := newBox(t)
			b.write("file", "")
			e := b.must(tt.code, append([]string{"run"}, strings.Fields(tt.args)...)...)
			v := e.only(t, "error")
			checkFields(t, v)
			if v.num("exit_code") != float64(tt.code) || v.text("cause") == "" {
				t.Errorf("want code %d and a cause: %v", tt.code, v)
			}
		})
	}
	if e := newBox(t).must(64, "run", "--bogus", "--", "sh", "--json"); e.stdout != "" {
		t.Errorf("standard output is %q, want nothing: the option is the program's", e.stdout)
	}
}
