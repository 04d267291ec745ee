package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// TestInspectAligned verifies that the columns of one kind of lines stand below each other.
func TestInspectAligned(t *testing.T) {
	var b strings.Builder
	if err := Inspected(&b, []report.Event{
		trained.TensorInfo{Name: "w", DType: "float32", Shape: []int64{2000, 8}, Bytes: 64000},
		trained.TensorInfo{Name: "a/long/name", DType: "int64", Bytes: 8, Values: []report.Number{3}},
		trained.ScalarInfo{Step: 5, Tag: "loss", Value: 0.25},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "w            float32[2000 8]  62.5 KiB\n" +
		"a/long/name  int64[]          8 bytes  [3]\n" +
		"step 5  loss  0.25\n"
	if b.String() != want {
		t.Errorf("prints\n%swant\n%s", &b, want)
	}
}

// TestInspectOnTerminal verifies that a terminal shows what inspect prints of an event file as it is,
// the steps too.
func TestInspectOnTerminal(t *testing.T) {
	var shown bytes.Buffer
	f := &screenFile{&shown, &screen{after: time.Hour, width: func() int { return 80 }}}
	if err := Inspected(f, []report.Event{
		trained.ScalarInfo{Step: 5, Tag: "loss", Value: 0.25},
		trained.ScalarInfo{Step: 10, Tag: "loss", Value: 0.125},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "step 5   loss  0.25\nstep 10  loss  0.125\n"
	if shown.String() != want {
		t.Errorf("shows\n%swant\n%s", &shown, want)
	}
}
