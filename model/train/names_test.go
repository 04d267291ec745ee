package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/tfrecord"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// longExamples writes 20 MiB of records of a label, of which the last but one has a city, too.
func longExamples(t *testing.T) string {
	t.Helper()
	const n, pad = 5000, 4 << 10
	bytesField := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	entry := func(name, text string) []byte {
		return bytesField(1, append(bytesField(1, []byte(name)), bytesField(2, bytesField(1, bytesField(1, []byte(text))))...))
	}
	name := filepath.Join(t.TempDir(), "long.tfrecord")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tfrecord.NewWriter(f)
	for i := range n {
		features := append(entry("label", "1"), entry("pad", strings.Repeat(" ", pad))...)
		if i == n-2 {
			features = append(features, entry("city", "Bern")...)
		}
		if err := w.Write(bytesField(1, features)); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// TestSharedNames verifies that the ranks search large files together for the features of input.columns,
// also if one has searched before: a rare feature is found, and one that no record has is the same error
// on each rank that searched.
func TestSharedNames(t *testing.T) {
	name := longExamples(t)
	for city, fault := range map[string]string{"city": "", "citi": "input.train: tfrecord: no feature citi in 5000 records, which input.columns names"} {
		ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
			p, err := column.Compile([]column.Column{
				{Label: &column.LabelOptions{Names: []string{"label"}}}, {Categorical: &column.CategoricalOptions{Names: []string{city}, Hash: 10}},
			}, nil)
			if err != nil {
				return err
			}
			rank := g.Membership().Rank
			searched := rank == 1
			d, err := convert.Open(t.Context(), convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{name}}, Columns: p, Learn: !searched, Share: true})
			if err != nil {
				return err
			}
			defer d.Close()
			if !d.Facts().IsShared() || (d.Facts().Counting == nil) != searched {
				return fmt.Errorf("rank %d: shared %t, counted %t", rank, d.Facts().IsShared(), !searched)
			}
			c := counter{group: g, countable: countable{"input.train.manifest", d}, most: 2 << 20}
			err = c.count(t.Context())
			switch {
			case fault != "" && !searched && (err == nil || !strings.HasPrefix(err.Error(), fault) || exitcode.Of(err) != exitcode.BadData):
				return fmt.Errorf("rank %d: error %v, want %s", rank, err, fault)
			case fault != "":
				return nil
			case err != nil:
				return err
			}
			return c.compare(t.Context())
		})
	}
}
