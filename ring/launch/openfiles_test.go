package launch

import (
	"math"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
)

// TestOpenFiles verifies how many files a launcher counts on, with ranks here, elsewhere, and with
// files for their output.
func TestOpenFiles(t *testing.T) {
	const own, here, there = filesOfProcess, filesOfChild + filesOfWorker, filesOfWorker
	list := []hosts.Host{{Name: "a", Slots: 2, Local: true}, {Name: "b", Slots: 2}, {Name: "c", Slots: 2}}
	for _, tt := range []struct {
		name   string
		ranks  int
		config Config
		want   int
	}{
		{"without hosts", 3, Config{}, own + 3*here},
		{"here", 2, Config{Hosts: list}, own + 2*here},
		{"on two other hosts", 5, Config{Hosts: list}, own + 2*here + 3*there + 2*filesOfLogin},
		{"with output", 2, Config{Output: Output{OutputDir: "out"}}, own + 2*here + 2*filesOfOutput},
	} {
		t.Run("ranks="+tt.name, func(t *testing.T) {
			seats, err := hosts.Assign(tt.ranks, tt.config.Hosts, tt.config.MapBy)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.config.openFiles(seats); got != tt.want {
				t.Errorf("%d files, want %d", got, tt.want)
			}
		})
	}
}

// TestTooFewOpenFiles verifies that too few open files are a fault of usage which says what is
// needed, and that a launcher finds that before it starts anything.
func TestTooFewOpenFiles(t *testing.T) {
	if err := compareOpenFiles(8, 64, 64); err != nil {
		t.Errorf("64 of 64: %v", err)
	}
	err := compareOpenFiles(8, 65, 64)
	if exitcode.Of(err) != exitcode.Usage || err.Error() != "8 ranks: 65 open files are needed, the limit is 64: raise it by ulimit -n 65" {
		t.Errorf("65 of 64: %v (code %d)", err, exitcode.Of(err))
	}
	if err := checkOpenFiles(1, math.MaxInt); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("all files: %v, want the limit of this process", err)
	}
}
