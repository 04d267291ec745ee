package main

import (
	"os"
	"slices"
	"testing"
)

// TestAutoCost trains the digits over four hosts at 1 Gbit/s in ten pairs, with codec
// auto and with none. It verifies that auto, which measures before it chooses, costs at
// most 5 %.
func TestAutoCost(t *testing.T) {
	if os.Getenv("NETNS_LONG") != "1" {
		t.Skip("set NETNS_LONG=1 to train twenty times over network namespaces")
	}
	data := "RINGTRAIN_DATA=" + shared(t)
	hosts := newHosts(t, 4, "1gbit")
	train := func(codec string) (took float64) {
		b := newBox(t).with(data)
		argv := []string{self(b), "train", "mnist", "--json", "--set", "checkpoint.dir=", "--set", "export.savedmodel=", "--set", "allreduce.codec=" + codec}
		return b.startEach(hosts, fourHosts, argv, startPatiently).trained().only(t, "done").num("took_s")
	}
	var ratios []float64
	for i := range 10 {
		pair := map[string]float64{}
		order := []string{"auto", "none"}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, codec := range order {
			pair[codec] = train(codec)
		}
		t.Logf("auto %.2f s, none %.2f s", pair["auto"], pair["none"])
		ratios = append(ratios, pair["auto"]/pair["none"])
	}
	slices.Sort(ratios)
	if median := (ratios[4] + ratios[5]) / 2; median > 1.05 {
		t.Errorf("auto takes %.3f of the time of none, want 1.05 at most: %.3f", median, ratios)
	} else {
		t.Logf("auto takes %.3f of the time of none: %.3f", median, ratios)
	}
}
