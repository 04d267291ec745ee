package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/synth"
	"ringtrain/model/train/records"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// countedText is a job on the records of longText.
const countedText = `
name: clicks
model:     {kind: sparse-linear, features: 124}
input:     {synthetic: true, batch: 100}
optimizer: {name: adagrad, learning_rate: 0.1}
allreduce: {codec: none}
train:     {epochs: 1}
log:       {every: 1}
`

// openText opens the text for one rank, which may leave the records to be counted by all.
func openText(t *testing.T, name string, share bool) records.Set {
	t.Helper()
	d, err := convert.Open(t.Context(), convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{name}}, Features: 124, Cache: convert.CacheOff, Share: share})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if share == (d.Facts().Counting == nil) {
		t.Fatalf("share %t, counted %t", share, !share)
	}
	return records.Set{Train: d, Eval: synth.Clicks(1, 10, synth.Eval), Split: "eval"}
}

// TestCount verifies that ranks that share the counting, all or some of them, end with the bits of
// ranks that counted by themselves, and that the options that they agree on before are the same.
func TestCount(t *testing.T) {
	name, job := longText(t), loadText(t, countedText)
	var want *member
	for _, shares := range [][]int{{}, {0, 1, 2}, {1}, {0, 2}} {
		data := make([]records.Set, 3)
		for rank := range data {
			data[rank] = openText(t, name, false)
		}
		for _, rank := range shares {
			data[rank] = openText(t, name, true)
		}
		members := trainBy(t, 3, func(rank func(g *ring.Group) error) {
			ringtest.RunOnHosts(t, []int{0, 0, 1}, ring.DefaultConfig(), rank)
		}, job, data[0], func(m *member) { m.data = data[m.rank] })
		got := mustEnd(t, members)[0]
		if want == nil {
			want = got
		}
		if got.result != want.result || got.result.Step != 26 {
			t.Errorf("ranks %v share: %+v, want %+v", shares, got.result, want.result)
		}
		for _, m := range members {
			if m.data.Train.Facts().Counting != nil || m.data.Train.Facts().Records != 2600 {
				t.Errorf("ranks %v share: rank %d has %d records, want 2600", shares, m.rank, m.data.Train.Facts().Records)
			}
		}
	}
	var lines []string
	for _, share := range []bool{false, true} {
		trainer, err := newTrainer(job, Options{}, openText(t, name, share))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(trainer.Agree(), "\n"))
	}
	if lines[0] != lines[1] || !strings.Contains(lines[0], "\nthe training files differ: input.train=long.libsvm ") {
		t.Errorf("a rank that lacks the counts agrees on %s, another one on %s", lines[1], lines[0])
	}
}

// TestCountSplit verifies that ranks that share the counting of text hold out the records, and end with the bits, of ranks
// that counted by themselves, and that a part without records is an error of all ranks.
func TestCountSplit(t *testing.T) {
	name, job := longText(t), loadText(t, countedText, "input.split.share=0.1")
	divided := func(share bool, split *input.Split) records.Set {
		all, err := input.Divide(openText(t, name, share).Train, split)
		if err != nil {
			t.Fatal(err)
		}
		return records.Set{Train: all[input.Training], Eval: all[input.Validation], Split: "eval"}
	}
	var want *member
	var lines []string
	for _, shares := range [][]bool{{false, false}, {true, true}, {false, true}} {
		data := []records.Set{divided(shares[0], &job.Input.Split), divided(shares[1], &job.Input.Split)}
		trainer, err := newTrainer(job, Options{}, divided(shares[1], &job.Input.Split))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(trainer.Agree(), "\n"))
		got := mustEnd(t, trainOn(t, 2, job, data[0], func(m *member) { m.data = data[m.rank] }))
		if want == nil {
			want = got[0]
		}
		for _, m := range got {
			if m.result != want.result || m.data.Train.Facts().Records != 2340 || m.data.Eval.Facts().Records != 260 {
				t.Errorf("ranks %v share: rank %d has %+v, of %d and %d records, want %+v of 2340 and 260", shares, m.rank, m.result, m.data.Train.Facts().Records, m.data.Eval.Facts().Records, want.result)
			}
		}
	}
	if lines[0] != lines[1] || !strings.Contains(lines[0], "\nthe held-out records differ: input.split=long.libsvm ") {
		t.Errorf("a rank that lacks the counts agrees on %s, another one on %s", lines[1], lines[0])
	}
	tiny := 1e-9
	data := []records.Set{divided(true, &input.Split{Share: &tiny}), divided(true, &input.Split{Share: &tiny})}
	for _, m := range trainOn(t, 2, job, data[0], func(m *member) { m.data = data[m.rank] }) {
		if m.err == nil || !strings.Contains(m.cause().Error(), "input.split: no validation records: {share: 1e-09} of 2600 records") || m.code() != exitcode.BadData {
			t.Errorf("rank %d: error %v (%d), want no validation records", m.rank, m.err, m.code())
		}
	}
}

// TestCountRounds verifies the counts of ranks that exchange them after every few bytes, one of which
// has counted by itself.
func TestCountRounds(t *testing.T) {
	name := longText(t)
	ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
		rank := g.Membership().Rank
		d := openText(t, name, rank != 1).Train
		c := counter{group: g, countable: countable{"input.train.manifest", d}, most: 5 << 20}
		if rounds := c.rounds(2); rounds != 3 {
			return fmt.Errorf("%d rounds, want 3", rounds)
		}
		if err := c.count(t.Context()); err != nil {
			return err
		}
		if d.Facts().Counting != nil || d.Facts().Records != 2600 {
			return fmt.Errorf("rank %d has %d records, want 2600", rank, d.Facts().Records)
		}
		return c.compare(t.Context())
	})
}

// TestCountDiffers verifies that files of equal names and sizes that differ are an error of all ranks,
// and that the error names a rank: when the ranks share the counting, and when one has counted.
func TestCountDiffers(t *testing.T) {
	name, job := longText(t), loadText(t, countedText)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), " # xxxx", "\n1 1:1#", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for share, want := range map[bool]string{
		true:  "rank 1 on host1: the training files differ: input.train: the files have other bytes than those of rank 0, want the same files",
		false: `rank 1 on host1: the training files differ: input.train: it is "long.libsvm `,
	} {
		data := []records.Set{openText(t, name, share), openText(t, other, share)}
		for _, m := range trainOn(t, 2, job, data[0], func(m *member) { m.data = data[m.rank] }) {
			if m.err == nil || !strings.HasPrefix(m.cause().Error(), want) || m.code() != exitcode.Usage {
				t.Errorf("share %t, rank %d: error %v (%d), want %s", share, m.rank, m.err, m.code(), want)
			}
		}
	}
}

// TestCountFails verifies that a file that changes before it is counted is an error of all ranks that
// names the file.
func TestCountFails(t *testing.T) {
	name, job := longText(t), loadText(t, countedText)
	data := []records.Set{openText(t, name, true), openText(t, name, true)}
	if err := os.Truncate(name, 20<<20); err != nil {
		t.Fatal(err)
	}
	for _, m := range trainOn(t, 2, job, data[0], func(m *member) { m.data = data[m.rank] }) {
		if m.err == nil || !strings.Contains(m.cause().Error(), "input.train: input: "+name+" changed while it was read: it has 20971520 bytes") || m.code() != exitcode.BadData {
			t.Errorf("rank %d: error %v (%d), want one that names the file", m.rank, m.err, m.code())
		}
	}
}
