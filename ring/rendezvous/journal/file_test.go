package journal

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

var update = flag.Bool("update", false, "write testdata/journal.golden anew; read the difference before you keep it")

// someRecords returns the records of a short job.
func someRecords() []state.Record {
	lost := &ring.Cause{Rank: 1, Host: "h1", Step: 41, Operation: "train", Peer: "h1:1", Text: "lost rank 1 (h1 h1:1): connection reset", ExitCode: exitcode.Retry}
	workers := func(incarnation uint64) []ring.Worker {
		return []ring.Worker{{Rank: 0, Host: "h0", HostID: "b/0", Addr: "h0:1", PID: 7, Incarnation: 1}, {Rank: 1, Host: "h1", HostID: "b/1", Addr: "h1:1", PID: 8, Incarnation: incarnation}}
	}
	return []state.Record{
		state.JobRecord{JobID: "job-1", WorldSize: 2, Spec: state.Request{JobID: "job-1", Rank: 0, WorldSize: 2, Protocol: 1, Version: "v1", Agree: []string{"seed=1"}}},
		state.GenerationRecord{Generation: 1, Workers: workers(2), CrashLoop: 0, Choices: []ring.Choice{{Name: "kernels", Value: "avx2", Lacks: 1}}},
		state.LossRecord{Generation: 1, Lost: []int{1}, Used: 1, Cause: lost, First: lost},
		state.GenerationRecord{Generation: 2, Workers: workers(3), CrashLoop: 1, Choices: []ring.Choice{{Name: "kernels", Value: "portable", Was: "avx2", Lacks: -1}}},
		state.EndRecord{},
	}
}

func encoded(t testing.TB, records []state.Record) []byte {
	t.Helper()
	data := []byte(magic)
	for _, r := range records {
		var err error
		if data, err = appendEntry(data, r); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func openJournal(t *testing.T, path string) *File {
	t.Helper()
	j, err := Open(path, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// TestJournal verifies that a second and a third process read what was written.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	for n := range someRecords() {
		j := openJournal(t, path)
		if diff := cmp.Diff(someRecords()[:n], j.Records(), cmp.Transformer("none", func(r []state.Record) []state.Record { return append([]state.Record{}, r...) })); diff != "" {
			t.Fatalf("after %d records: %s", n, diff)
		}
		if err := j.Append(someRecords()[n]); err != nil {
			t.Fatal(err)
		}
		j.Close()
	}
	if _, generation := openJournal(t, path).Last(); generation != 2 {
		t.Errorf("the last generation is %d, want 2", generation)
	}
}

// TestJournalGolden verifies the format of the file. The flag -update writes
// testdata/journal.golden anew.
func TestJournalGolden(t *testing.T) {
	const path = "testdata/journal.golden"
	data := encoded(t, someRecords())
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(golden, data) {
		t.Errorf("%d bytes are written, another %d are in %s", len(data), len(golden), path)
	}
	records, whole, err := readJournal(bytes.NewReader(golden))
	if diff := cmp.Diff(someRecords(), records); err != nil || whole != int64(len(golden)) || diff != "" {
		t.Errorf("read %d of %d bytes, %v: %s", whole, len(golden), err, diff)
	}
}

// TestJournalInUse verifies that two processes cannot use one journal.
func TestJournalInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	openJournal(t, path)
	if _, err := Open(path, "", 0); exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error %v with code %d, want one that says so, with 138", err, exitcode.Of(err))
	}
}

// TestJournalOfAnother verifies that Open refuses the file of another job, and leaves it unchanged.
func TestJournalOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	data := encoded(t, someRecords())
	tests := []struct {
		name, job, want string
		size            int
		data            []byte
	}{
		{"job=other", "job-2", "of job job-1, want job-2", 0, data},
		{"size=other", "", "world size 2, want 3", 3, data},
		{"file=other", "", "not a journal", 0, []byte("#!/bin/sh\n")},
		{"version=other", "", "not a journal of this version", 0, append([]byte("RTJ\x02"), data[4:]...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path, tt.job, tt.size)
			if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v with code %d, want one with %q and the path, with 65", err, exitcode.Of(err), tt.want)
			}
			if after, _ := os.ReadFile(path); !cmp.Equal(after, tt.data) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestTornJournal verifies that a journal that is cut at any byte, also with zeros after the cut,
// loses only the cut entry, and that later entries can be read.
func TestTornJournal(t *testing.T) {
	data, dir := encoded(t, someRecords()), t.TempDir()
	var ends []int // ends of whole entries
	for n := range len(someRecords()) + 1 {
		ends = append(ends, len(encoded(t, someRecords()[:n])))
	}
	for cut := range len(data) + 1 {
		whole := 0
		for n, end := range ends {
			if cut >= end {
				whole = n
			}
		}
		for _, zeros := range []int{0, 40} {
			if zeros > 0 && (cut < ends[0] || cut != ends[whole]) {
				continue // half an entry followed by zeros is damage
			}
			path := filepath.Join(dir, fmt.Sprint(cut, "-", zeros))
			if err := os.WriteFile(path, append(data[:cut:cut], make([]byte, zeros)...), 0o600); err != nil {
				t.Fatal(err)
			}
			j := openJournal(t, path)
			if len(j.Records()) != whole {
				t.Fatalf("cut at byte %d: %d records, want %d", cut, len(j.Records()), whole)
			}
			if want := int64(cut - ends[whole] + zeros); cut >= ends[0] && j.Torn() != want {
				t.Errorf("cut at byte %d: %d bytes are said to be cut off, want %d", cut, j.Torn(), want)
			}
			for _, r := range someRecords()[whole:] {
				if err := j.Append(r); err != nil {
					t.Fatal(err)
				}
			}
			j.Close()
			if after, _ := os.ReadFile(path); !cmp.Equal(after, data) {
				t.Fatalf("cut at byte %d: another file after the rest was appended", cut)
			}
		}
	}
}

// TestDamagedJournal verifies that a flipped bit before the last entry is an error that names the
// place.
func TestDamagedJournal(t *testing.T) {
	records := someRecords()
	data := encoded(t, records)
	last := len(encoded(t, records[:len(records)-1]))
	starts := []int{len(magic)}
	for n := 1; n < len(records); n++ {
		starts = append(starts, len(encoded(t, records[:n])))
	}
	for i := len(magic); i < last; i++ {
		for bit := range 8 {
			bad := append([]byte{}, data...)
			bad[i] ^= 1 << bit
			_, _, err := readJournal(bytes.NewReader(bad))
			at := 0
			for _, s := range starts {
				if s <= i {
					at = s
				}
			}
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("damaged at byte %d:", at)) {
				t.Fatalf("bit %d of byte %d is flipped: error %v, want damage at byte %d", bit, i, err, at)
			}
		}
	}
}

// TestLostSector verifies that a lost sector in the header of a middle entry counts as damage, not
// as an entry that was never finished.
func TestLostSector(t *testing.T) {
	records := someRecords()
	job := records[0].(state.JobRecord)
	for n := range 512 {
		job.Spec.Agree = []string{strings.Repeat("x", 400+n)}
		records[0] = job
		at := len(encoded(t, records[:2])) // the loss, before a generation and the end
		if at%512 != 512-6 {
			continue
		}
		data := encoded(t, records)
		clear(data[at : at+6])
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("damaged at byte %d", at)
		if _, err := Open(path, "", 0); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v with code %d, want %q with 65", err, exitcode.Of(err), want)
		}
		return
	}
	t.Fatal("no journal has an entry 6 bytes before the end of a sector")
}

// TestJournalOrder verifies that entries in an impossible order are an error.
func TestJournalOrder(t *testing.T) {
	r := someRecords()
	tests := []struct {
		name, want string
		records    []state.Record
	}{
		{"job=missing", "does not begin with the job", []state.Record{r[1]}},
		{"job=twice", "a second job", []state.Record{r[0], r[0]}},
		{"generation=skipped", "generation 2 of 2 workers after generation 0, want 1", []state.Record{r[0], r[3]}},
		{"generation=again", "generation 1 of 2 workers after generation 1", []state.Record{r[0], r[1], r[1]}},
		{"generation=small", "generation 1 of 0 workers", []state.Record{r[0], state.GenerationRecord{Generation: 1}}},
		{"loss=early", "a loss in generation 1 after generation 0", []state.Record{r[0], r[2]}},
		{"loss=stranger", "lost rank 2 of world size 2", []state.Record{r[0], r[1], state.LossRecord{Generation: 1, Lost: []int{2}, Cause: r[2].(state.LossRecord).Cause, First: r[2].(state.LossRecord).Cause}}},
		{"end=early", "an end before the first generation", []state.Record{r[0], r[4]}},
		{"cut=first", "does not begin with the job", []state.Record{state.CutRecord{Generation: 1}, r[3]}},
		{"cut=amid", "left out behind entry 2", []state.Record{r[0], r[1], state.CutRecord{Generation: 1}, r[3]}},
		{"cut=none", "generations up to 0 left out behind entry 1", []state.Record{r[0], state.CutRecord{Generation: 0}, r[1]}},
		{"cut=skipped", "generation 2 of 2 workers after generation 2", []state.Record{r[0], state.CutRecord{Generation: 2}, r[3]}},
		{"cut=before a loss", "no generation after those that were left out", []state.Record{r[0], state.CutRecord{Generation: 1}, r[2]}},
		{"end=amid", "an entry after the end", []state.Record{r[0], r[1], r[4], r[2]}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readJournal(bytes.NewReader(encoded(t, tt.records)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzJournal verifies that no file makes the reader panic, that its records restore a state that
// can go on, and that they are written as they were read.
func FuzzJournal(f *testing.F) {
	data := encoded(f, someRecords())
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Add([]byte(magic))
	f.Add(encoded(f, append([]state.Record{someRecords()[0], state.CutRecord{Generation: 1}}, someRecords()[3:]...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, whole, err := readJournal(bytes.NewReader(data))
		if err != nil {
			return
		}
		if whole > int64(len(data)) {
			t.Fatalf("%d whole bytes of %d", whole, len(data))
		}
		s := state.Restore(state.Config{HasJournal: true, StartTimeout: 20 * time.Second, Lease: 5 * time.Second}, records)
		s.Step(0, state.Tick{})
		if len(records) == 0 {
			return
		}
		again, _, err := readJournal(bytes.NewReader(encoded(t, records)))
		if diff := cmp.Diff(records, again); err != nil || diff != "" {
			t.Errorf("written again: %v %s", err, diff)
		}
	})
}

// TestMarshalRecords verifies that Unmarshal returns the records that Marshal wrote, and that it
// refuses entries of no journal.
func TestMarshalRecords(t *testing.T) {
	var bodies [][]byte
	for _, r := range someRecords() {
		b, err := Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	got, err := Unmarshal(bodies)
	if err != nil || len(got) != len(bodies) {
		t.Fatalf("%d records of %d, %v", len(got), len(bodies), err)
	}
	for _, wrong := range [][][]byte{bodies[1:], {bodies[0], bodies[0]}, {{0xff}}, {nil}} {
		if got, err := Unmarshal(wrong); err == nil {
			t.Errorf("%d entries are read as %v", len(wrong), got)
		}
	}
}

// journalWithHeadAt returns a journal whose last entry begins the given number of bytes before the
// end of a sector of 512 bytes, and the offset of that entry.
func journalWithHeadAt(t *testing.T, before int) (data []byte, at int) {
	t.Helper()
	records := someRecords()
	job := records[0].(state.JobRecord)
	for n := range 512 {
		job.Spec.Agree = []string{strings.Repeat("x", 400+n)}
		records[0] = job
		at = len(encoded(t, records[:4]))
		if at%512 == 512-before {
			return encoded(t, records), at
		}
	}
	t.Fatalf("no journal has an entry %d bytes before the end of a sector", before)
	return nil, 0
}

// TestTornHead verifies that an entry whose header lies in two sectors, of which one was not
// written, counts as never finished, and that no other entry is lost.
func TestTornHead(t *testing.T) {
	for before := 1; before < 12; before++ {
		data, at := journalWithHeadAt(t, before)
		for _, lost := range []string{"first", "second"} {
			t.Run(fmt.Sprintf("before=%d/lost=%s", before, lost), func(t *testing.T) {
				torn, edge := append([]byte{}, data...), at+before
				if lost == "first" {
					clear(torn[at:edge])
				} else {
					clear(torn[edge:])
				}
				path := filepath.Join(t.TempDir(), "journal")
				if err := os.WriteFile(path, torn, 0o600); err != nil {
					t.Fatal(err)
				}
				j := openJournal(t, path)
				if len(j.Records()) != 4 || j.Torn() != int64(len(data)-at) {
					t.Errorf("%d records and %d bytes cut off, want 4 and %d", len(j.Records()), j.Torn(), len(data)-at)
				}
				if err := j.Append(someRecords()[4]); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
