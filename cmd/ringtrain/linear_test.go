package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestLinear trains the job linear on workers that TF_CONFIG alone describes,
// started in any order. If it fails, the first of the three jobs that must
// always work does not: nobody meets, or the line is not the one that least
// squares draws through the points.
func TestLinear(t *testing.T) {
	t.Parallel()
	seed, ranks := uint64(3), 20
	if testing.Short() {
		ranks = 5
	}
	b := newBox(t)
	ports := freePorts(t, ranks)
	args := []string{"train", "linear", "--set", "train.seed=" + strconv.FormatUint(seed, 10)}
	order := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	started := make([]*process, ranks)
	for _, rank := range order {
		started[rank] = b.with(tfConfigVariable(ports, rank)).start(args...)
	}
	digest := ""
	for rank, p := range started {
		e := p.wait()
		if digest == "" {
			digest = e.last()
		}
		if e.code != 0 || !strings.HasPrefix(e.last(), "digest=") || e.last() != digest {
			t.Fatalf("rank %d ended with %d and %q, want 0 and %s\n%s", rank, e.code, e.last(), digest, e.stderr)
		}
	}
	checkLine(t, b, seed)
}

// TestLinearSeeds fails when training finds the line of some points only.
func TestLinearSeeds(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) {
			b := newBox(t)
			b.must(0, "train", "linear", "--set", "train.seed="+strconv.FormatUint(seed, 10))
			checkLine(t, b, seed)
		})
	}
}

// checkLine compares what ckpt/linear holds with the line of least squares.
func checkLine(t *testing.T, b *box, seed uint64) {
	t.Helper()
	b.must(0, "data", "make", "linear", "--seed", strconv.FormatUint(seed, 10), "--to", "points")
	w, bias := leastSquares(t, b.must(0, "data", "cat", "--dense", "points/linear.tfrecords").stdout)
	for _, v := range b.must(0, "inspect", "--json", "ckpt/linear").events(t) {
		want, ok := map[string]float64{"linear/kernel": w, "linear/bias": bias}[v.text("name")]
		if !ok {
			continue
		}
		if got := v.list("values")[0].(float64); math.Abs(got-want) > 0.02 {
			t.Errorf("seed %d: %s is %v, want %v of least squares, within 0.02", seed, v.text("name"), got, want)
		}
	}
}

// leastSquares returns slope and intercept of the records that data cat prints.
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

// TestMissingRank starts all ranks but one. If it fails, the others wait for
// ever, or do not say for whom.
func TestMissingRank(t *testing.T) {
	t.Parallel()
	const ranks, missing = 5, 3
	b := newBox(t)
	ports := freePorts(t, ranks)
	started := map[int]*process{}
	for rank := range ranks {
		if rank != missing {
			started[rank] = b.with(tfConfigVariable(ports, rank)).start("train", "linear", "--start-timeout", "3s", "--json")
		}
	}
	for rank, p := range started {
		e := p.wait()
		if e.code != 138 || !namesRank(e.last(), missing) {
			t.Errorf("rank %d ended with %d and %q, want 138 and rank %d named\n%s", rank, e.code, e.last(), missing, e.stderr)
		}
		if rank == 0 {
			checkWaiting(t, e, missing, "127.0.0.1:"+strconv.Itoa(ports[missing]))
		}
	}
	if files := b.files(); len(files) > 0 {
		t.Errorf("a job that never began wrote %v", files)
	}
}

// checkWaiting checks what rank 0 tells programs about a rank that is missing.
func checkWaiting(t *testing.T, e ended, rank int, address string) {
	t.Helper()
	var last event
	for _, v := range e.events(t) {
		checkFields(t, v)
		if v.name() == "waiting" {
			last = v
		}
	}
	list := last.list("missing")
	if len(list) != 1 {
		t.Fatalf("last waiting event %v, want one missing rank\n%s", last, e.stdout)
	}
	m := event(list[0].(map[string]any))
	if m.num("rank") != float64(rank) || m.text("address") != address || m.text("reason") == "" {
		t.Errorf("missing: %v, want rank %d at %s and a reason", m, rank, address)
	}
	if v := e.only(t, "error"); v.num("exit_code") != 138 || v.num("rank") != float64(rank) {
		t.Errorf("error event %v, want exit_code 138 and rank %d", v, rank)
	}
}
