package main

import (
	"math"
	"testing"
)

// TestWire verifies training over a codec of each kind, over TCP, and with the lossless compressor.
// Exact ones must give the bits of float32. A lossy codec must reach nearly the same loss, and its
// compression. Package ring has the table of all codecs.
func TestWire(t *testing.T) {
	train := func(t *testing.T, set string) ended {
		return newBox(t).must(0, "run", "-np", "3", "--json", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=30",
			"--set", "allreduce.levels=flat", "--set", "allreduce.algorithm=ring", "--set", set)
	}
	const exact = 0
	plain := train(t, "allreduce.codec=none")
	bytes, loss := plain.only(t, "done").num("sent_bytes"), plain.only(t, "eval").num("loss")
	tests := []struct {
		set         string
		least, most float64 // bytes on the wire relative to float32
		apart       float64 // tolerance of the loss against float32; exact: equal digests
		event, want string
	}{
		{"allreduce.codec=int8", 0.25, 0.29, 5e-4, "codec", "int8"},
		{"allreduce.codec=powersgd", 0.4, 0.55, 0.04, "codec", "powersgd"},
		{"allreduce.link=tcp", 1, 1, exact, "link", "tcp"},
		{"allreduce.lossless=zstd", 0.9, 0.998, exact, "codec", "none"},
	}
	for _, tt := range tests {
		t.Run("set="+tt.set, func(t *testing.T) {
			t.Parallel()
			e := train(t, tt.set)
			if got := e.only(t, "start").text(tt.event); got != tt.want {
				t.Errorf("start: %s is %s, want %s", tt.event, got, tt.want)
			}
			if got := e.only(t, "eval").num("loss"); !(math.Abs(got-loss) <= tt.apart) {
				t.Errorf("loss is %v after 30 steps, want %v ± %v", got, loss, tt.apart)
			}
			if got, want := e.digest(t), plain.digest(t); (got == want) != (tt.apart == exact) {
				t.Errorf("digest %s, float32 has %s: want equal is %v", got, want, tt.apart == exact)
			}
			for rank := range 3 {
				if got := e.lastLine(rank); got != "digest="+e.digest(t) {
					t.Errorf("rank %d ends with %q, want the same digest on all ranks", rank, got)
				}
			}
			if got := e.only(t, "done").num("sent_bytes") / bytes; got < tt.least || got > tt.most {
				t.Errorf("%.3f of the bytes of float32 sent, want %v to %v", got, tt.least, tt.most)
			}
		})
	}
}

// TestLinkOption verifies that --link sets allreduce.link.
func TestLinkOption(t *testing.T) {
	e := newBox(t).must(0, "run", "-np", "2", "--link", "tcp", "linear", "--json", "--set", "allreduce.levels=flat", "--set", "train.steps=5", "--set", "export.if=always")
	if got := e.only(t, "start").text("link"); got != "tcp" {
		t.Errorf("link is %s, want tcp", got)
	}
}
