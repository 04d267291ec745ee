package order_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// TestParse verifies that String returns the text of each rule, and that Parse refuses
// other words and lists that are no order.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"auto": "auto", "rank": "rank", "host": "host", "measured": "measured", "0,2,1,3": "0,2,1,3", "1, 0": "1,0", "0": "0",
	} {
		if o, err := order.Parse(text); err != nil || o.String() != want {
			t.Errorf("%q: rule %v, error %v, want %s", text, o, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                     "want auto, rank, host, measured, or all ranks in order",
		"fast":                 "want auto,",
		"0,1,":                 "want auto,",
		"0,-1":                 "want auto,",
		"0,2,2":                "rank 2 is in it twice, want each of 0 to 2 once",
		"1,2":                  "rank 2 is in it, want each of 0 to 1 once",
		"0,99999999999":        "want auto,",
		"2147483647,0":         "rank 2147483647 is in it",
		strings.Repeat("1", 9): "is in it, want each of 0 to 0 once",
	} {
		_, err := order.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("%q: error %v, want one with %q and exit code %d", text, err, want, exitcode.Usage)
		}
	}
}

// TestRuleOf verifies the order of each rule for several layouts of hosts, that a rule
// measures only where the result can matter, and that a list must fit the job.
func TestRuleOf(t *testing.T) {
	for _, tt := range []struct {
		rule     string
		hosts    []int
		want     string // "": order of ranks
		measures bool
	}{
		{"auto", []int{0, 0, 0}, "", false},
		{"auto", []int{0, 1, 0, 1}, "0,2,1,3", false},
		{"auto", []int{5, 5, 3, 3}, "", false},
		{"auto", []int{0, 1, 2, 0}, "0,3,1,2", false},
		{"auto", []int{0, 1, 2, 3}, "", true},
		{"auto", []int{0, 1, 2, 3, 0}, "0,4,1,2,3", true},
		{"host", []int{0, 1, 2, 3, 0}, "0,4,1,2,3", false},
		{"rank", []int{0, 1, 0, 1}, "", false},
		{"measured", []int{0, 1, 0, 1}, "0,2,1,3", false},
		{"measured", []int{0, 1, 2}, "", true},
		{"3,1,0,2", []int{0, 0, 1, 1}, "3,1,0,2", false},
		{"0,1,2,3", []int{0, 1, 0, 1}, "", false},
	} {
		t.Run(fmt.Sprintf("rule=%s/hosts=%v", tt.rule, tt.hosts), func(t *testing.T) {
			rule, err := order.Parse(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			hosts := ranksOf(tt.hosts)
			got, err := rule.Of(hosts)
			if err != nil || order.Format(got.Workers) != tt.want || rule.Measures(len(hosts)) != tt.measures {
				t.Errorf("order %v, error %v, measures %v, want %q, %v", got.Workers, err, rule.Measures(len(hosts)), tt.want, tt.measures)
			}
		})
	}
	rule, _ := order.Parse("0,2,1")
	if _, err := rule.Of(ranksOf([]int{0, 0, 0, 0})); err == nil || err.Error() != "order is 0,2,1: rank 3 is not in it, want each of 0 to 3 once" {
		t.Errorf("three ranks for four: error %v", err)
	}
	if auto, _ := order.Parse("auto"); auto.Measures(33) {
		t.Error("auto measures 33 hosts, which takes long")
	}
	if (order.Rule{}).Measures(4) {
		t.Error("the zero rule measures")
	}
}

// TestKept verifies that Kept returns the stored order, and refuses one that does not fit
// the job.
func TestKept(t *testing.T) {
	for _, bad := range [][]int{nil, {0, 1}, {0, 1, 2, 3}, {0, 1, 1}} {
		if _, ok := order.Kept(bad, 3); ok {
			t.Errorf("%v is taken for an order of three ranks", bad)
		}
	}
	for _, good := range [][]int{{2, 0, 1}, {0, 1, 2}} {
		o, ok := order.Kept(good, 3)
		if ranks := []int{o.At(0), o.At(1), o.At(2)}; !ok || !o.Measured || !slices.Equal(ranks, good) {
			t.Errorf("%v is kept as %v, measured %v", good, ranks, o.Measured)
		}
	}
}

// TestMeasured verifies that the ranks of a host follow each other, and that the hosts
// follow the measurement.
func TestMeasured(t *testing.T) {
	hosts := ranksOf([]int{0, 1, 2, 3, 2, 0})
	bandwidth := even(4, 100)
	bandwidth[0][1], bandwidth[1][0] = 1, 1
	got := order.Measured(hosts, bandwidth)
	if want := "0,5,2,4,1,3"; order.Format(got.Workers) != want || !got.Measured {
		t.Errorf("order %+v, want %s", got, want)
	}
	if got := order.Measured(hosts, even(4, 100)); order.Format(got.Workers) != "0,5,1,2,4,3" || !got.Measured {
		t.Errorf("order %+v where all hops are alike, want by host", got)
	}
}

func even(n int, rate float64) [][]float64 {
	b := make([][]float64, n)
	for i := range b {
		b[i] = slices.Repeat([]float64{rate}, n)
	}
	return b
}

// ranksOf returns the ranks of each host, the hosts in order of their lowest ranks.
// hosts[r] is the host of rank r.
func ranksOf(hosts []int) [][]int {
	var ranks [][]int
	index := map[int]int{}
	for rank, host := range hosts {
		h, ok := index[host]
		if !ok {
			h = len(ranks)
			index[host], ranks = h, append(ranks, nil)
		}
		ranks[h] = append(ranks[h], rank)
	}
	return ranks
}
