package main

import (
	"strings"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// TestInspectAligned verifies that the columns of one kind of lines stand below each other.
func TestInspectAligned(t *testing.T) {
	var b strings.Builder
	if err := writeInspected(&b, []report.Event{
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
