package train

import (
	"strings"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestReportTableRoute verifies that a run whose ranks share no memory reports the route of its tables and
// each change of it, and that other runs report nothing.
func TestReportTableRoute(t *testing.T) {
	few := []string{"model.features=100000"} // of which no step touches many
	for _, tt := range []struct {
		hosts []int
		sets  []string
		want  string
	}{
		{[]int{0}, nil, ""}, {[]int{0, 0}, nil, ""}, {[]int{0, 1}, few, "rows"}, {[]int{0, 0, 1, 1}, few, "rows"},
		{[]int{0, 1, 2}, []string{"input.batch=1000"}, "dense"},
	} {
		job := loadText(t, clicksText, tt.sets...)
		m := mustEnd(t, trainBy(t, len(tt.hosts), func(rank func(g *ring.Group) error) {
			if len(tt.hosts) == 1 {
				ringtest.Run(t, 1, ring.DefaultConfig(), rank)
				return
			}
			ringtest.RunOnHosts(t, tt.hosts, ring.DefaultConfig(), rank)
		}, job, clicksData(), nil))[0]
		var got []string
		for _, d := range eventsOf[report.Decision](m) {
			if d.What == "tables" {
				got = append(got, d.Choice)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("hosts %v, %v: told %q, want %q", tt.hosts, tt.sets, got, tt.want)
		}
	}
}

// TestZeros verifies that the last event counts the weights that ftrl with l1 left at 0: more than
// without l1, and as many as the table has.
func TestZeros(t *testing.T) {
	zeros := func(sets ...string) int64 {
		dir := t.TempDir()
		sets = append(sets, "optimizer.name=ftrl", "checkpoint.dir="+dir)
		m := mustTrain(t, 2, loadText(t, clicksText, sets...), clicksData(), nil)[0]
		done := eventsOf[report.Done](m)[0]
		count := int64(0)
		for _, w := range loadState(t, dir)["linear/weights"] {
			if w == 0 {
				count++
			}
		}
		if len(done.Zeros) != 1 || done.Zeros[0].Name != "linear/weights" || done.Zeros[0].Zeros != count || done.Zeros[0].Elements != 124 {
			t.Errorf("%v: zeros are %+v, want %d of 124", sets, done.Zeros, count)
		}
		return count
	}
	if with, without := zeros("optimizer.l1=0.1"), zeros(); with < without+20 || with > 120 {
		t.Errorf("%d zeros with l1 and %d without", with, without)
	}
}

// TestNoticeAllRows verifies that an optimizer that updates all rows gives a notice with its
// alternative.
func TestNoticeAllRows(t *testing.T) {
	for name, want := range map[string]bool{"adam": true, "adamw": true, "lazy-adam": false, "adagrad": false} {
		m := mustTrain(t, 1, loadText(t, clicksText, "optimizer.name="+name), clicksData(), nil)[0]
		if got := strings.Contains(strings.Join(m.notices, "\n"), "lazy-adam"); got != want {
			t.Errorf("%s: notices are %q", name, m.notices)
		}
	}
	if m := mustTrain(t, 1, loadText(t, digitsText, "optimizer.name=adam"), digitsData(), nil)[0]; len(m.notices) > 0 {
		t.Errorf("a model without tables has notices %q", m.notices)
	}
}
