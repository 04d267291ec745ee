package libsvm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestBags verifies that each field is a bag, with fields in any order, repeated and absent, and that
// the pairs of a field keep their order.
func TestBags(t *testing.T) {
	const content = "1 0:3:0.5 2:7:2\n" + // field 1 is absent
		"0 2:9:1 0:4:1 2:8:3 1:5:1 0:1:2 # 1:1:1\n" +
		"1\n" +
		"0 1:6:1 1:2:4\n"
	d, err := parse(t, content, Config{Fields: true, Bags: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b input.Batch
	for i := range d.Facts().Records {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	x := &b.X.Bags
	if want := []int32{0, 1, 1, 2, 4, 5, 7, 7, 7, 7, 7, 9, 9}; x.Fields != 3 || !slices.Equal(x.Start, want) {
		t.Errorf("%d fields, bags %v, want %v", x.Fields, x.Start, want)
	}
	if want := []uint32{3, 7, 4, 1, 5, 9, 8, 6, 2}; !slices.Equal(x.Slot, want) {
		t.Errorf("ids %v, want %v", x.Slot, want)
	}
	if want := []float32{0.5, 2, 1, 2, 1, 1, 3, 1, 4}; !slices.Equal(x.Weights, want) {
		t.Errorf("weights %v, want %v", x.Weights, want)
	}
	if d.Facts().Features != 10 {
		t.Errorf("%d features, want 10", d.Facts().Features)
	}
	read := func() {
		b.Reset()
		for i := range d.Facts().Records {
			d.Append(&b, i)
		}
	}
	if got := testing.AllocsPerRun(50, read); got > 0 {
		t.Errorf("%g allocations", got)
	}
}

// TestBagsErrors verifies the error of a field that the model does not have.
func TestBagsErrors(t *testing.T) {
	for _, line := range []string{"1 3:1:1", "1 0:1:1 999999999:1:1"} {
		_, err := parse(t, "1 0:1:1\n"+line+"\n", Config{Fields: true, Bags: 3, Features: 5})
		want := fmt.Sprintf("record 1 at byte 8: field is %s, want one in [0, 3), as model.fields says", line[strings.LastIndexByte(line, ' ')+1:len(line)-4])
		if err == nil || !strings.HasSuffix(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%q: error %v, want %s", line, err, want)
		}
	}
}

// TestWidthOfTraining verifies that the number of features is that of the records that are not held out, and that ids
// beyond it are left out of those that are: of sparse, dense and libffm's records, and with the width of a checkpoint.
func TestWidthOfTraining(t *testing.T) {
	share := 0.5
	split := input.Split{Share: &share}
	for _, tt := range []struct {
		pair string
		c    Config
	}{{"%d:1", Config{}}, {"%d:1", Config{Dense: true}}, {"0:%d:1 1:%[1]d:2", Config{Fields: true, Bags: 2}}, {"%d:1", Config{Features: 4, Limits: input.Limits{Trained: true}}}} {
		parts := split.Parts(40)
		var content strings.Builder
		for i := range 40 {
			id := 3
			if !parts.Trains(i) {
				id = 100 + i
			}
			fmt.Fprintf(&content, "1 "+tt.pair+"\n", id)
		}
		tt.c.Split = split
		d, err := parse(t, content.String(), tt.c)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if n := d.Facts().Features; n != 4 {
			t.Errorf("%+v: %d features, want 4", tt.c, n)
		}
		for i := range 40 {
			var b input.Batch
			if err := d.Append(&b, i); err != nil {
				t.Fatal(err)
			}
			if held := len(b.X.Bags.Slot) == 0; !tt.c.Dense && held == parts.Trains(i) || tt.c.Dense && (b.X.Dense.Data[3] == 1) != parts.Trains(i) {
				t.Errorf("%+v: record %d has the ids %v and the row %v", tt.c, i, b.X.Bags.Slot, b.X.Dense.Data)
			}
		}
	}
}
