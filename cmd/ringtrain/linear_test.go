package main

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLinearSeeds verifies that the job linear finds the line for every seed.
func TestLinearSeeds(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) {
			b := newBox(t)
			b.must(0, "train", "linear", "--set", "train.seed="+strconv.FormatUint(seed, 10))
			checkLine(t, b, seed)
		})
	}
}

// checkLine compares the weights in ckpt/linear with the line of least squares.
func checkLine(t *testing.T, b *box, seed uint64) {
	t.Helper()
	b.must(0, "data", "make", "linear", "--seed", strconv.FormatUint(seed, 10), "--to", "points")
	w, bias := leastSquares(t, b.must(0, "data", "cat", "--dense", "points/linear.tfrecords").stdout)
	line := map[string]float64{"linear/kernel": w, "linear/bias": bias}
	for _, v := range b.must(0, "inspect", "--json", "ckpt/linear").events(t) {
		want, ok := line[v.text("name")]
		if !ok {
			continue
		}
		delete(line, v.text("name"))
		if got := v.list("values")[0].(float64); math.Abs(got-want) > 0.02 {
			t.Errorf("seed %d: %s is %v, want %v of least squares, within 0.02", seed, v.text("name"), got, want)
		}
	}
	if len(line) > 0 {
		t.Errorf("seed %d: the checkpoint lacks %v", seed, slices.Sorted(maps.Keys(line)))
	}
}

// leastSquares returns slope and intercept for the records of data cat.
func leastSquares(t *testing.T, lines string) (w, b float64) {
	t.Helper()
	var n, sx, sy, sxx, sxy float64
	for line := range strings.Lines(lines) {
		var r struct {
			Label    float64
			Features []float64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Features) != 1 {
			t.Fatalf("data cat prints %s", line)
		}
		x, y := r.Features[0], r.Label
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n != 100 {
		t.Fatalf("%v points, want 100", n)
	}
	w = (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return w, (sy - w*sx) / n
}
