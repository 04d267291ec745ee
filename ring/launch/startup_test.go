package launch

import (
	"errors"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestReportSilent verifies that hosts that did not answer are named, and hosts behind them
// only counted.
func TestReportSilent(t *testing.T) {
	var all branch
	for i, name := range []string{"h0", "h1", "h2", "h3", "h4"} {
		all = append(all, target{i, name, 1})
	}
	const late, untried = " cannot be reached: late", " behind it not tried"
	for _, tt := range []struct {
		name    string
		fanout  int
		waiting []int
		want    string
	}{
		{"fanout=2 waiting=none", 2, nil, ""},
		{"fanout=2 waiting=all below", 2, []int{1, 2, 3, 4}, "host h1" + late + "; 1 host" + untried + "\nhost h3" + late + "; 1 host" + untried},
		{"fanout=2 waiting=last of each", 2, []int{2, 4}, "host h2" + late + "\nhost h4" + late},
		{"fanout=1 waiting=from the second", 1, []int{2, 3, 4}, "host h2" + late + "; 2 hosts" + untried},
	} {
		o := hostStartup{launcher: &launcher{config: &Config{Fanout: tt.fanout}}, waiting: map[int]bool{}}
		for _, h := range tt.waiting {
			o.waiting[h] = true
		}
		o.reportSilent(all, errors.New("late"))
		o.reportSilent(all, errors.New("said twice")) // no host is reported twice
		got := ""
		if err := errors.Join(o.errs...); err != nil {
			got = err.Error()
			if exitcode.Of(err) != exitcode.Retry {
				t.Errorf("%s: code %d, want 138", tt.name, exitcode.Of(err))
			}
		}
		if got != tt.want {
			t.Errorf("%s: error\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
