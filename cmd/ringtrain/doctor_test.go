package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ringtrain/ring/token"
)

// TestDoctor verifies the examination of healthy workers of this host under each kind of
// launcher.
func TestDoctor(t *testing.T) {
	b := newBox(t)
	e := b.must(0, "run", "-np", "3", "--", self(b), "doctor")
	for _, text := range []string{"\n[0] rank  host ", "round trip / bandwidth", "all 3 workers reach each other, both ways"} {
		if !strings.Contains("\n"+e.stdout, text) {
			t.Errorf("lacks %q:\n%s", text, e.stdout)
		}
	}
	if n := strings.Count(e.stdout, "all 3 workers"); n != 1 {
		t.Errorf("%d ranks say the verdict, want rank 0 alone", n)
	}
	port := freePorts(t, 1)[0]
	for rank, p := range b.startRanks(2, []string{"doctor"}, func(rank int) []string { return rankVariables(rank, 2, port) }) {
		e := p.wait()
		if e.code != 0 || strings.Contains(e.stdout, "all 2 workers reach each other") != (rank == 0) {
			t.Errorf("by RANK, rank %d: ended with %d\n%s%s", rank, e.code, e.stdout, e.stderr)
		}
	}
	if e := b.must(0, "doctor", "-H", "localhost"); !strings.Contains(e.stdout, "this host is well") {
		t.Errorf("alone:\n%s", e.stdout)
	}
}

// TestDoctorTokens verifies that doctor on hosts names, by their ids, the tokens of hosts that would refuse
// each other under another launcher, and that this is a warning: run draws a token of its own.
func TestDoctorTokens(t *testing.T) {
	b := newBox(t)
	ids := make([]string, 3)
	for rank := range ids[:2] {
		secret := token.New()
		if err := secret.WriteFile(b.path(strconv.Itoa(rank), "ringtrain", "token"), false); err != nil {
			t.Fatal(err)
		}
		ids[rank] = secret.ID().String()
	}
	ids[2] = "none"
	e := b.must(0, "run", "-np", "3", "--", "sh", "-c", "XDG_CONFIG_HOME="+b.dir+"/$RINGTRAIN_RANK exec "+self(b)+" doctor")
	for _, other := range ids[1:] {
		if want := "its token is " + other + ", that of rank 0 " + ids[0] + ": without ringtrain run they would refuse each other"; !strings.Contains(e.stdout, want) {
			t.Errorf("doctor does not say %q:\n%s", want, e.stdout)
		}
	}
}

// TestDoctorJSON verifies the objects and fields of the JSON, and that standard output
// has nothing else.
func TestDoctorJSON(t *testing.T) {
	b := newBox(t)
	e := b.must(0, "run", "-np", "3", "--json", "--", self(b), "doctor", "linear")
	hosts, pairs, verdict := e.ofKind(t, "host"), e.ofKind(t, "pair"), e.only(t, "verdict")
	if len(hosts) != 3 || len(pairs) != 6 || len(e.events(t)) != 10 {
		t.Fatalf("%d hosts, %d pairs, %d objects; want 3, 6 and 10\n%s", len(hosts), len(pairs), len(e.events(t)), e.stdout)
	}
	for rank, h := range hosts {
		if h.num("rank") != float64(rank) || h.text("version") != version || h.num("cores") < 1 || h.text("fault") != "" {
			t.Errorf("host %d is %v", rank, h)
		}
	}
	if h := hosts[0]; len(h.list("disks")) == 0 || len(hosts[1].list("disks")) != 0 {
		t.Errorf("disks of ranks 0 and 1: %v and %v; want those of the job at rank 0 alone", h["disks"], hosts[1]["disks"])
	}
	for _, p := range pairs {
		if p.num("latency_s") <= 0 || p.num("bytes_per_s") <= 0 || p.text("fault") != "" || p.num("from") == p.num("to") {
			t.Errorf("pair is %v", p)
		}
	}
	if verdict["well"] != true || verdict.num("exit_code") != 0 || verdict.num("took_s") <= 0 {
		t.Errorf("verdict is %v", verdict)
	}
}

// TestDoctorMissing verifies that all other ranks name a missing one and end with the
// code for a retry.
func TestDoctorMissing(t *testing.T) {
	t.Parallel()
	b, port := newBox(t), freePorts(t, 1)[0]
	ranks := b.startRanks(2, []string{"doctor", "--json", "--start-timeout", "2s"}, func(n int) []string {
		return rankVariables(2*n, 3, port)
	})
	for n, p := range ranks {
		e := p.wait()
		if e.code != 138 || !strings.Contains(e.last(), "rank 1 missing after 2s") {
			t.Errorf("rank %d ended with %d and %q, want 138 and rank 1 named", 2*n, e.code, e.last())
		}
		if n > 0 {
			continue
		}
		if v := e.only(t, "verdict"); v["well"] != false || v.num("exit_code") != 138 || !strings.Contains(fmt.Sprint(v["findings"]), "rank 1") {
			t.Errorf("verdict is %v", v)
		}
	}
}

// TestDoctorUsage verifies that errors in the command line, the job or the hosts have
// the same code as with `run`, and an event.
func TestDoctorUsage(t *testing.T) {
	tests := []struct {
		args string
		code int
		says string
	}{
		{"doctor a b", 64, "want one job or none"},
		{"doctor nosuch.yaml", 66, "nosuch.yaml"},
		{"doctor linear --set train.stepz=1", 64, "train.stepz"},
		{"doctor -H a --hostfile b", 64, "hosts are given by -H and by --hostfile"},
		{"doctor -H -oProxyCommand=x", 64, "-oProxyCommand=x"},
		{"doctor -H nosuchhost.invalid", 138, "host nosuchhost.invalid cannot be reached"},
		{"doctor linear --set checkpoint.dir=file/below", 73, "checkpoint.dir file/below: "},
		{"doctor -H localhost linear --set export.savedmodel=file", 73, "file is a file, want a folder"},
		{"doctor linear --set summary.dir=file/below", 73, "summary.dir file/below: "},
	}
	for _, tt := range tests {
		t.Run("args="+tt.args, func(t *testing.T) {
			t.Parallel()
			b := newBox(t).with("RINGTRAIN_SSH=sh ./ssh")
			b.write("file", "")
			b.write("ssh", "exit 255")
			e := b.must(tt.code, strings.Fields(tt.args)...)
			if !strings.Contains(e.stdout+e.stderr, tt.says) {
				t.Errorf("says %q and %q, want %q", e.stdout, e.stderr, tt.says)
			}
			if tt.args == "doctor a b" {
				return // invalid arguments
			}
			e = b.must(tt.code, append(strings.Fields(tt.args), "--json")...)
			if v := e.only(t, "verdict"); v["well"] != false || v.num("exit_code") != float64(tt.code) {
				t.Errorf("verdict is %v, want code %d", v, tt.code)
			}
		})
	}
}
