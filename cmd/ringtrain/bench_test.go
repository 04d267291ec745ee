package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// ofKind returns the events of one kind.
func (e ended) ofKind(t testing.TB, kind string) []event {
	t.Helper()
	return slices.DeleteFunc(e.events(t), func(v event) bool { return v.name() != kind })
}

// rowsOf returns the lines of a table without its head.
func rowsOf(table string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(table), "\n"), func(s string) bool { return strings.HasPrefix(s, "#") })
}

// TestBenchAllReduce verifies the columns and rows of the table, the sums, and the line
// about memory.
func TestBenchAllReduce(t *testing.T) {
	b := newBox(t)
	table := b.must(0, "bench", "allreduce", "-np", "2", "--max", "4KiB", "--iters", "5").stdout
	for _, column := range []string{"bytes", "elements", "codec", "out-of-place", "in-place", "time", "p99", "algbw", "busbw", "max_error", "wrong"} {
		if !strings.Contains(table, column) {
			t.Errorf("the table lacks %s:\n%s", column, table)
		}
	}
	if rows := rowsOf(table); len(rows) != 10 {
		t.Errorf("%d rows, want 10 from 8 to 4096 bytes:\n%s", len(rows), table)
	}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "# memory of a rank: arena 16.0 MiB, beyond it ") {
		t.Errorf("the last line is %q, want the memory", last)
	}
}

// TestBenchHosts verifies that the ranks of a bench start on the hosts of -H, as those of run do.
func TestBenchHosts(t *testing.T) {
	b := newBox(t)
	b = b.with("RINGTRAIN_SSH=" + allocationSSH(b))
	for _, args := range [][]string{
		{"allreduce", "-H", "a:2,b:1", "--sizes", "1KiB", "--iters", "3", "--in-place", "--json"},
		{"allreduce", "-H", "a:2,b:2", "-np", "3", "--sizes", "1KiB", "--iters", "3", "--in-place", "--json"},
	} {
		rows := b.must(0, append([]string{"bench"}, args...)...).ofKind(t, "bench")
		if len(rows) != 1 || rows[0].num("ranks") != 3 || rows[0].num("wrong") != 0 {
			t.Errorf("%q: rows are %v, want one of 3 ranks without wrong elements", args, rows)
		}
	}
	if e := b.must(0, "bench", "link", "--host", "a,b", "--sizes", "64KiB", "--only", "copy"); len(rowsOf(e.stdout)) == 0 {
		t.Errorf("bench link on two hosts printed no row:\n%s", e.stdout)
	}
}

// TestBenchAllReduceJSON verifies the fields of a row's JSON.
func TestBenchAllReduceJSON(t *testing.T) {
	e := newBox(t).must(0, "bench", "allreduce", "-np", "2", "--levels", "flat", "--min", "1KiB", "--max", "4KiB", "--iters", "5",
		"--codec", "none,bf16", "--link", "tcp", "--json")
	var sizes []float64
	for i, v := range e.ofKind(t, "bench") {
		sizes = append(sizes, v.num("bytes"))
		for _, key := range []string{"bytes", "ranks", "algorithm", "codec", "link", "time_s", "p99_s", "algbw_gb_s", "busbw_gb_s", "max_error"} {
			if _, ok := v[key]; !ok {
				t.Errorf("lacks %s: %v", key, v)
			}
		}
		if v.text("codec") != []string{"none", "bf16"}[i%2] || v.text("link") != "tcp" || v.num("ranks") != 2 || v.num("time_s") <= 0 {
			t.Errorf("row %d is %v, want none and bf16 in turns over tcp on 2 ranks", i, v)
		}
	}
	if !slices.Equal(sizes, []float64{1024, 1024, 2048, 2048, 4096, 4096}) {
		t.Errorf("sizes %v, want 1024, 2048 and 4096 twice each", sizes)
	}
	if m := e.only(t, "memory"); m.num("arena_bytes") != 16<<20 || m.num("beyond_bytes") <= 0 {
		t.Errorf("memory is %v, want an arena of 16 MiB and something beyond it", m)
	}
}

// TestBenchOneHost verifies that an unused codec is reported as none.
func TestBenchOneHost(t *testing.T) {
	e := newBox(t).must(0, "bench", "allreduce", "-np", "2", "--sizes", "8,1KiB", "--budget", "1ms", "--in-place", "--codec", "int8",
		"--lossless", "zstd", "--algorithm", "ring", "--json")
	rows := e.ofKind(t, "bench")
	if len(rows) != 2 || rows[1].num("bytes") != 1024 || rows[1].text("codec") != "none" || rows[1].num("out_of_place_time_s") != 0 {
		t.Errorf("rows are %v, want 8 and 1024 bytes, none, in place only", rows)
	}
	for _, unused := range []string{"codec int8 is not used", "lossless zstd is not used", "algorithm ring is not used"} {
		if strings.Count(e.stderr, unused) != 1 {
			t.Errorf("it says %q, want once that %s", e.stderr, unused)
		}
	}
}

// TestBenchLink verifies that every limit is printed.
func TestBenchLink(t *testing.T) {
	e := newBox(t).must(0, "bench", "link", "-np", "2", "--max", "32KiB", "--duration", "10ms", "--json")
	var got []string
	for _, v := range e.ofKind(t, "limit") {
		got = append(got, v.text("what"))
	}
	if want := []string{"copy", "copy", "stream", "latency"}; !slices.Equal(got, want) {
		t.Errorf("limits are %q, want %q", got, want)
	}
}

// TestBenchDiffers verifies that ranks with different options end with an error that
// names the difference.
func TestBenchDiffers(t *testing.T) {
	for _, option := range []string{"--link=tcp", "--lossless=zstd", "--algorithm=ring"} {
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "--"), "=")
		bench := []string{"run", "-np", "2", "sh", "-c", `if test $RANK = 1; then set -- "$@" ` + option + `; fi; exec "$@"`, "rank"}
		b := newBox(t)
		e := b.must(64, append(bench, self(b), "bench", "allreduce", "--levels", "flat", "--sizes", "8", "--iters", "1")...)
		if value := strings.TrimPrefix(option, "--"+name+"="); !strings.Contains(e.stderr, "bench."+name) || !strings.Contains(e.stderr, value) {
			t.Errorf("option=%s: it says %q, want both values of bench.%s", option, e.stderr, name)
		}
	}
}

// TestBenchUsage verifies that invalid command lines of bench are refused as wrong
// usage.
func TestBenchUsage(t *testing.T) {
	for args, want := range map[string]string{
		"allreduce --max 1X":                     "--max is 1X",
		"allreduce --sizes 8 --min 8":            "--sizes says which",
		"allreduce --min 8KiB --max 4KiB":        "--min is 8KiB, want at least 4 and at most --max, 4KiB",
		"allreduce --min 6":                      "--min is 6 and --max is 8MiB, want whole float32, of 4 bytes",
		"allreduce --max 1K --min 0":             "--min is 0, want at least 4",
		"allreduce --max 18":                     "--max is 18, want whole float32",
		"link --min 9K --max 9217":               "--max is 9217, want whole float32",
		"allreduce --sizes 8,x":                  "--sizes is x",
		"allreduce --sizes 3":                    "--sizes has 3 bytes",
		"allreduce --codec none,zip":             "zip",
		"allreduce --algorithm fast":             `--algorithm is "fast", want one of`,
		"allreduce --batch 2GiB":                 "--batch is 2147483648 bytes",
		"allreduce --sizes 8 -np 0":              "-np is 0, want 1 or more",
		"link --only copy -np -1":                "-np is -1, want 1 or more",
		"peers --hosts 2 --rate foo":             "--rate is \"foo\", want a rate",
		"peers --per-host 2":                     "--per-host is 2, want none without --hosts",
		"allreduce extra":                        "want none",
		"codec int8":                             "want none",
		"link --only latency":                    `--only is "latency"`,
		"peers --rounds 0":                       "--rounds is 0",
		"peers --hosts 1":                        "--hosts is 1, want 2 to 64",
		"peers --hosts 4 --per-host 0 --short":   "--per-host is 0",
		"peers --only wire":                      `--only is "wire", want one-host, flat, hosts, train or clicks`,
		"job resnet":                             `no job resnet (did you mean lenet?): want a job file, a built-in job, or a kind of model`,
		"job mlp -np 0":                          `-np has "0", want numbers of ranks`,
		"job mlp -np 1,x":                        `-np has "x", want numbers of ranks`,
		"job mlp -np 5000":                       `-np has "5000", want numbers of ranks up to 4096`,
		"job mlp resnet":                         `no job resnet (did you mean lenet?)`, // before mlp is timed
		"job mlp -np 3 -H localhost:2":           "-np has 3, want at most the 2 slots of the hosts",
		"job mlp --codec int9":                   "int9",
		"job mlp --set input.bach=5":             "bach",
		"job mlp --duration 0s":                  "--duration is 0s, want more than 0",
		"job mlp --duration -1s":                 "--duration is -1s, want more than 0",
		"job":                                    "want jobs, or kinds of models",
		"train mlp":                              "bench train is gone: ringtrain bench job takes the same kinds of models",
		"kernels --sizes 8,x":                    "--sizes is 8,x",
		"peers --cases mlp":                      "--cases is mlp, want none: it is for --only train",
		"peers --only train --hosts 2":           "--hosts is 2, want none: it is for sums, not for --only train",
		"peers --only train --cases vgg":         `--cases has "vgg", want one of softmax, mlp`,
		"peers --only train --kernels sse":       `--kernels is "sse", want avx2`,
		"peers --only flat --hosts 4":            `--only is "flat" and --hosts is 4, want 0`,
		"peers --only hosts --hosts 0":           `--only is "hosts" and --hosts is 0`,
		"link --sizes 8 --duration -1s -np 2":    "--duration is -1s",
		"allreduce --budget -1s --sizes 8 -np 2": "--budget is -1s",
	} {
		t.Run("args="+args, func(t *testing.T) {
			e := newBox(t).must(64, append([]string{"bench"}, strings.Fields(args)...)...)
			if !strings.Contains(e.stderr, want) {
				t.Errorf("says %q, want %q in it", e.stderr, want)
			}
		})
	}
}

// TestBenchJob verifies the rows of a job on one and two ranks, their shares, the advice, and that the
// job's folders stay as they are; then the table of a kind of model.
func TestBenchJob(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", "name: mine\nmodel: {kind: softmax, classes: 10}\ninput: {synthetic: true, batch: 100}\noptimizer: {learning_rate: 0.1}\ncheckpoint: {dir: saved, every: 1}\nexport: {savedmodel: exported}\nsummary: {dir: curves}\n")
	e := b.must(0, "bench", "job", "job.yaml", "-np", "2,1", "--duration", "1ms", "--json")
	rows := e.ofKind(t, "train_speed")
	if len(rows) != 2 || rows[0].num("ranks") != 1 || rows[1].num("ranks") != 2 || rows[0].text("job") != "job" || rows[1].num("examples_per_s") <= 0 {
		t.Fatalf("rows are %v, want of 1 and 2 ranks", rows)
	}
	for _, r := range rows {
		if sum := r.num("input_share") + r.num("compute_share") + r.num("exchange_share"); sum < 0.999 || sum > 1.001 {
			t.Errorf("shares of %v are %v in all, want 1", r, sum)
		}
	}
	if d := e.only(t, "decision"); d.text("what") != "ranks" || !strings.HasPrefix(d.text("choice"), "-np ") || d.text("why") == "" {
		t.Errorf("advice is %v", d)
	}
	for _, folder := range []string{"saved", "exported", "curves"} {
		if _, err := os.Stat(b.path(folder)); err == nil {
			t.Errorf("%s is there, want nothing written", folder)
		}
	}
	e = b.must(0, "bench", "job", "softmax", "-np", "1", "--duration", "1ms", "--codec", "int8")
	if !strings.Contains(e.stdout, "ranks") || strings.Contains(e.stdout, "codec") || !strings.Contains(e.stdout, "take -np 1: nothing else was tried.") {
		t.Errorf("it prints %q, want a table without codecs and an advice", e.stdout)
	}
}

// TestBenchKernels verifies the rows of one kernel set, and that unknown sets are
// refused.
func TestBenchKernels(t *testing.T) {
	b := newBox(t)
	rows := b.must(0, "bench", "kernels", "--kernels", "portable", "--only", "squares", "--sizes", "8,16", "--budget", "1us", "--json").ofKind(t, "kernel")
	if len(rows) != 2 || rows[1].text("shape") != "16x16x16" || rows[0].num("gflop_s") <= 0 || rows[0].text("kernels") != "portable" {
		t.Errorf("rows are %v, want two of portable", rows)
	}
	b.must(64, "bench", "kernels", "--kernels", "sse")
}

// TestBenchOneRank verifies that a rank alone says that it sums nothing, and that sizes may be
// written as nccl-tests writes them.
func TestBenchOneRank(t *testing.T) {
	e := newBox(t).must(0, "bench", "allreduce", "--min", "1K", "--max", "1K", "--iters", "1")
	if !strings.Contains(e.stderr, "1 rank: nothing is summed") || !strings.Contains(e.stdout, " 1024 ") {
		t.Errorf("it says %q and prints %q, want that nothing is summed, and a row of 1024 bytes", e.stderr, e.stdout)
	}
}
