package train

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"ringtrain/input"
	"ringtrain/model/train/records"
)

// wideRows are records with the same few ids of a table of 2²⁷ rows.
type wideRows struct{}

const wideTable = 1 << 27

func (wideRows) Facts() input.Facts {
	return input.Facts{Records: 1000, Features: wideTable, Manifest: []string{"wide"}}
}

func (wideRows) Close() error { return nil }

func (wideRows) Append(b *input.Batch, records ...int) error {
	x := b.Bags(1)
	for _, i := range records {
		for _, id := range []int{i % 17, 5000 + i%13, wideTable/2 + i%5, wideTable - 1 - i%3} {
			x.Add(uint32(id), 1)
		}
		x.End()
		b.Y = append(b.Y, float32(i%2))
	}
	return nil
}

// TestStepTouchesRowsAlone trains a table of 512 MiB whose pages are allocated on first use, with
// all options for rows. It verifies that a step reads and writes only the rows of the batch, and
// that no other allocation is as large as the table.
func TestStepTouchesRowsAlone(t *testing.T) {
	data := records.Set{Train: wideRows{}, Eval: wideRows{}, Split: "train"}
	job := loadText(t, clicksText, "optimizer.name=sgd", "train.steps=20", "train.check_every=1", "train.clip_norm=0.01", "train.clip_value=0.5",
		"train.accumulate=2", "model.l2=0.01", "log.every=0")
	before, measured := resident(t), false
	mustTrain(t, 1, job, data, func(m *member) {
		m.team.Progress = func(step int64, phase string) {
			if step != 19 || phase != "train" {
				return
			}
			measured = true
			v := m.trainer.model.Variables()[0]
			if len(v.Value) != wideTable {
				t.Errorf("the table has %d rows", len(v.Value))
			}
			if got := residentAt(t, uintptr(unsafe.Pointer(&v.Value[0]))); got == 0 || got > 64<<20 {
				t.Errorf("%d MiB of the table are resident, want those of a few rows", got>>20)
			}
			if got := resident(t) - before; got > 200<<20 {
				t.Errorf("the process has grown by %d MiB, want far less than the 512 of the table", got>>20)
			}
		}
	})
	if !measured {
		t.Error("nothing was measured")
	}
}

// resident returns the resident memory of this process in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return kib(t, rest)
		}
	}
	t.Fatal("no VmRSS in /proc/self/status")
	return 0
}

// residentAt returns the resident memory of the mapping at address in bytes.
func residentAt(t *testing.T, address uintptr) int64 {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= address && address < to
		}
		if rest, ok := strings.CutPrefix(s.Text(), "Rss:"); ok && inside {
			return kib(t, rest)
		}
	}
	t.Fatalf("no mapping at %#x", address)
	return 0
}

func kib(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
