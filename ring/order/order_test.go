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
		"auto": "auto", "rank": "rank", "host": "host", "0,2,1,3": "0,2,1,3", "1, 0": "1,0", "0": "0",
	} {
		if o, err := order.Parse(text); err != nil || o.String() != want {
			t.Errorf("%q: rule %v, error %v, want %s", text, o, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                     "want auto, rank, host, or all ranks in order",
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

// TestRuleOf verifies the order of each rule for several layouts of hosts, and that a list must fit
// the job.
func TestRuleOf(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		hosts []int
		want  string // "": order of ranks
	}{
		{"auto", []int{0, 0, 0}, ""},
		{"auto", []int{0, 1, 0, 1}, "0,2,1,3"},
		{"auto", []int{5, 5, 3, 3}, ""},
		{"auto", []int{0, 1, 2, 0}, "0,3,1,2"},
		{"auto", []int{0, 1, 2, 3}, ""},
		{"auto", []int{0, 1, 2, 3, 0}, "0,4,1,2,3"},
		{"host", []int{0, 1, 2, 3, 0}, "0,4,1,2,3"},
		{"rank", []int{0, 1, 0, 1}, ""},
		{"3,1,0,2", []int{0, 0, 1, 1}, "3,1,0,2"},
		{"0,1,2,3", []int{0, 1, 0, 1}, ""},
	} {
		t.Run(fmt.Sprintf("rule=%s/hosts=%v", tt.rule, tt.hosts), func(t *testing.T) {
			rule, err := order.Parse(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rule.Of(ranksOf(tt.hosts))
			if err != nil || order.Format(got.Workers) != tt.want {
				t.Errorf("order %v, error %v, want %q", got.Workers, err, tt.want)
			}
		})
	}
	rule, _ := order.Parse("0,2,1")
	if _, err := rule.Of(ranksOf([]int{0, 0, 0, 0})); err == nil || err.Error() != "order is 0,2,1: rank 3 is not in it, want each of 0 to 3 once" {
		t.Errorf("three ranks for four: error %v", err)
	}
}

// TestFastest verifies that the ranks of a host follow each other, and that the hosts
// follow the bandwidth.
func TestFastest(t *testing.T) {
	hosts := ranksOf([]int{0, 1, 2, 3, 2, 0})
	bandwidth := even(4, 100)
	bandwidth[0][1], bandwidth[1][0] = 1, 1
	if got, why := order.Fastest(hosts, bandwidth); order.Format(got) != "0,5,2,4,1,3" || !strings.Contains(why, "by order of host") {
		t.Errorf("order %v, %s", got, why)
	}
	if got, why := order.Fastest(hosts, even(4, 100)); order.Format(got) != "0,5,1,2,4,3" || !strings.Contains(why, "no order of the hosts") {
		t.Errorf("order %v, %s where all hops are alike, want by host", got, why)
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
