package main

import (
	"strings"
	"testing"
)

// TestWire trains over every codec, link and lossless compressor. If it fails,
// a value that the help names does not train, or saves nothing on the wire.
func TestWire(t *testing.T) {
	train := func(t *testing.T, set string) ended {
		return newBox(t).must(0, "run", "-np", "3", "--json", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=30",
			"--set", "allreduce.levels=flat", "--set", "allreduce.algorithm=ring", "--set", set)
	}
	plain := train(t, "allreduce.codec=none").only(t, "done").num("sent_bytes")
	tests := []struct {
		set         string
		most        float64 // bytes on the wire, as a part of what float32 takes
		event, want string
	}{
		{"allreduce.codec=bf16", 0.6, "codec", "bf16"},
		{"allreduce.codec=fp16", 0.6, "codec", "fp16"},
		{"allreduce.codec=int8", 0.4, "codec", "int8"},
		{"allreduce.link=tcp", 1.01, "link", "tcp"},
		{"allreduce.link=grpc", 1.1, "link", "grpc"},
		{"allreduce.codec=int8u", 0.4, "codec", "int8u"},
		{"allreduce.codec=rows", 0.999, "codec", "rows"},
		{"allreduce.codec=powersgd", 1.01, "codec", "powersgd"},
		{"allreduce.codec=auto", 1.01, "codec", "none"},
		{"allreduce.lossless=s2", 0.999, "codec", "none"},
		{"allreduce.lossless=huff0", 1.01, "codec", "none"},
		{"allreduce.lossless=zstd", 0.999, "codec", "none"},
		{"allreduce.bucket=4KiB", 1.1, "codec", "none"},
	}
	for _, tt := range tests {
		t.Run("set="+tt.set, func(t *testing.T) {
			t.Parallel()
			e := train(t, tt.set)
			if got := e.only(t, "start").text(tt.event); got != tt.want {
				t.Errorf("start: %s is %s, want %s", tt.event, got, tt.want)
			}
			if got := e.only(t, "eval").num("accuracy"); got < 0.5 {
				t.Errorf("accuracy is %v after 30 steps, want 0.5 or more", got)
			}
			for rank := range 3 {
				if got := e.lastLine(rank); got != "digest="+e.digest(t) {
					t.Errorf("rank %d ends with %q, want the same digest on all ranks", rank, got)
				}
			}
			if got := e.only(t, "done").num("sent_bytes"); got > tt.most*plain {
				t.Errorf("%v bytes sent, want at most %v of the %v of float32", got, tt.most, plain)
			}
		})
	}
}

// TestStreamsOption fails when --streams is not short for allreduce.streams, when
// training over several connections ends elsewhere than over one, or when what
// cannot use them keeps it to itself.
func TestStreamsOption(t *testing.T) {
	train := func(more ...string) ended {
		return newBox(t).must(0, append([]string{"run", "-np", "2", "linear", "--json", "--set", "train.steps=5"}, more...)...)
	}
	flat := []string{"--set", "allreduce.levels=flat", "--set", "allreduce.algorithm=ring"}
	one, three := train(flat...), train(append(flat, "--streams", "3")...)
	if one.digest(t) != three.digest(t) {
		t.Errorf("digest %s over three connections, want %s as over one", three.digest(t), one.digest(t))
	}
	const unused = "streams 3 is not used"
	if strings.Contains(three.stderr, unused) {
		t.Errorf("three connections over tcp: %s", three.stderr)
	}
	for _, more := range [][]string{{"--streams", "3"}, append(flat, "--set", "allreduce.streams=3", "--link", "grpc")} {
		if e := train(more...); !strings.Contains(e.stderr, unused) {
			t.Errorf("%v: nothing says %q:\n%s", more, unused, e.stderr)
		}
	}
}

// TestLinkOption fails when --link is not short for allreduce.link.
func TestLinkOption(t *testing.T) {
	e := newBox(t).must(0, "run", "-np", "2", "--link", "grpc", "linear", "--json", "--set", "allreduce.levels=flat", "--set", "train.steps=5")
	if got := e.only(t, "start").text("link"); got != "grpc" {
		t.Errorf("link is %s, want grpc", got)
	}
}
