package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringtrain/input"
)

// heldOutJob is a job whose numbers and texts are learnt from the records that the split leaves.
const heldOutJob = `
name: churn
model: {kind: wide-deep, embedding: 4, hidden: [8]}
input:
  train: {format: csv, files: [plain.csv], header: true}
  split: %s
  columns:
    - key: {names: [id]}
    - label: {names: [y]}
    - numeric: {names: [x], standardize: true, default: mean}
    - categorical: {names: [city], vocabulary: auto}
  batch: 60
  max_bad_records: 3
  cache: "off"
loss: {kind: sigmoid}
optimizer: {name: adam}
train: {steps: 24}
log: {every: 1}
`

// heldOutFiles writes records of which a split holds out some: plain.csv and the same in plain.csv.gz, and other.csv,
// whose held-out records have other labels, numbers and texts, and of which three are bad. It returns the keys of
// the validation records, and how many test records there are.
func heldOutFiles(t *testing.T, b *box, split input.Split) (validation []string, tests int) {
	t.Helper()
	const n = 600
	who := func(i int) string { return "k" + strconv.Itoa(i*i%89) }
	parts := split.Parts(n)
	var plain, other strings.Builder
	fmt.Fprintln(&plain, "id,y,x,city,who")
	fmt.Fprintln(&other, "id,y,x,city,who")
	bad := 0
	for i := range n {
		if split.By != "" {
			parts.PutCell(i, []byte(who(i)))
		}
		line := fmt.Sprintf("r%d,%d,%d,c%d,%s\n", i, i*7%5%2, i%13, i%9, who(i))
		plain.WriteString(line)
		x := strconv.Itoa(1000 * i)
		switch {
		case parts.Has(i, input.Validation):
			validation = append(validation, "r"+strconv.Itoa(i))
		case parts.Has(i, input.Test):
			tests++
		default:
			other.WriteString(line)
			continue
		}
		if bad++; bad <= 3 {
			x = "none"
		}
		fmt.Fprintf(&other, "r%d,1,%s,new%d,%s\n", i, x, i, who(i))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(plain.String())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b.write("plain.csv", plain.String())
	b.write("other.csv", other.String())
	b.write("plain.csv.gz", packed.String())
	return validation, tests
}

// TestSplitOnProcesses verifies that the same records are held out on 1, 2 and 3 ranks, after a stop and a resume on
// others, after a kill -9, in text, compressed text and a cache, and that none of them moves a weight, a mean or a
// vocabulary: a run whose held-out records are others ends with the same digest.
func TestSplitOnProcesses(t *testing.T) {
	share, tenth := 0.2, 0.1
	for name, split := range map[string]input.Split{"number": {Share: &share, Test: &tenth}, "cell": {Share: &share, Test: &tenth, By: "who"}} {
		t.Run("by="+name, func(t *testing.T) {
			b := newBox(t)
			validation, tests := heldOutFiles(t, b, split)
			b.write("job.yaml", fmt.Sprintf(heldOutJob, split))
			run := func(ranks int, file string, more ...string) string {
				t.Helper()
				line := []string{"run", "-np", strconv.Itoa(ranks), "job.yaml", "--data", ".", "--json", "--set", "input.train.files=" + file}
				e := b.must(0, append(line, more...)...)
				counts := map[string]int{"eval": len(validation), "test": tests}
				for _, m := range e.named(t, "eval") {
					counts[m.text("split")] -= int(m.num("examples") + m.num("bad_records"))
				}
				if counts["eval"] != 0 || counts["test"] != 0 {
					t.Errorf("%s on %d ranks evaluates %v too few of %d and %d records", file, ranks, counts, len(validation), tests)
				}
				return e.digest(t)
			}
			want := map[int]string{}
			for ranks := 1; ranks <= 3; ranks++ {
				want[ranks] = run(ranks, "plain.csv", "--set", fmt.Sprintf("checkpoint.dir=ckpt%d", ranks))
				if got := run(ranks, "other.csv"); got != want[ranks] {
					t.Errorf("%d ranks: digest %s with other held-out records, want %s", ranks, got, want[ranks])
				}
			}
			if got := run(2, "plain.csv.gz"); got != want[2] {
				t.Errorf("digest %s of compressed text, want %s", got, want[2])
			}
			b.must(0, "data", "cache", "job.yaml", "--data", ".", "--set", "input.cache=parsed")
			if got := run(2, "plain.csv", "--set", "input.cache=parsed"); got != want[2] {
				t.Errorf("digest %s of a cache, want %s", got, want[2])
			}
			resumed := func(file string) string {
				run(2, file, "--set", "checkpoint.dir="+file+".ckpt", "--set", "train.steps=12")
				return run(3, file, "--set", "checkpoint.dir="+file+".ckpt", "--resume", "must")
			}
			if got, want := resumed("other.csv"), resumed("plain.csv"); got != want {
				t.Errorf("digest %s with other held-out records after a resume on other ranks, want %s", got, want)
			}
			for _, cache := range []string{"off", "parsed"} {
				rows, err := csv.NewReader(strings.NewReader(b.must(0, "predict", "job.yaml", "--from", "ckpt2", "--data", ".", "--csv", "--set", "input.cache="+cache).stdout)).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				var keys []string
				for _, row := range rows[1:] {
					keys = append(keys, row[0])
				}
				if !slices.Equal(keys, validation) {
					t.Errorf("cache=%s: predict has the records %v, want %v", cache, keys, validation)
				}
			}
		})
	}
}

// TestSplitAfterKill verifies that a job which recovers from a kill -9 ends with the digest of one whose held-out
// records are others, and evaluates as many.
func TestSplitAfterKill(t *testing.T) {
	b := newBox(t)
	share := 0.2
	split := input.Split{Share: &share, By: "who"}
	validation, _ := heldOutFiles(t, b, split)
	b.write("job.yaml", fmt.Sprintf(heldOutJob, split))
	long := []string{"job.yaml", "--data", ".", "--json", "--set", "train.steps=4000", "--set", "log.every=100"}
	p := b.start(append([]string{"run", "-np", "2", "--restarts", "2"}, long...)...)
	p.await(`"event":"step"`)
	kill(t, b.rankPID(1), syscall.SIGKILL)
	e := p.wait()
	if e.code != 0 || e.only(t, "generation").num("generation") != 2 || int(e.only(t, "eval").num("examples")) != len(validation) {
		t.Fatalf("code %d after a kill -9, want 0, a second generation and %d validation records\n%s%s", e.code, len(validation), e.stdout, e.stderr)
	}
	other := b.must(0, append(append([]string{"run", "-np", "2"}, long...), "--set", "input.train.files=other.csv")...)
	if got, want := other.digest(t), e.digest(t); got != want {
		t.Errorf("digest %s with other held-out records, want %s", got, want)
	}
}
