package column

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
)

// listColumns has a hash and a vocabulary of lists, and a column with one text.
func listColumns() []Column {
	return []Column{
		{Categorical: &CategoricalOptions{Names: []string{"genres"}, Separator: "|", Hash: 100}},
		{Categorical: &CategoricalOptions{Names: []string{"tags"}, Separator: ", ", Vocabulary: "auto", MinCount: 2}},
		{Categorical: &CategoricalOptions{Names: []string{"city"}, Hash: 10}},
	}
}

// bagsOf returns the ids of each field of a record.
func bagsOf(t *testing.T, p *Plan, cells []Cell) (all [][]uint32) {
	t.Helper()
	var b input.Batch
	if err := NewRunner(p, input.Labels{Absent: true}).Append(&b, cells); err != nil {
		t.Fatal(err)
	}
	for k := range p.bags {
		all = append(all, slices.Clone(b.X.Bags.Slot[b.X.Bags.Start[k]:b.X.Bags.Start[k+1]]))
	}
	return all
}

// TestLists verifies the ids of texts with separators, and of lists of a tf.Example: blanks around a text
// and empty texts do not count, and a text that occurs twice counts twice.
func TestLists(t *testing.T) {
	p := compiled(t, listColumns())
	l := NewLearner(p, input.Labels{Absent: true})
	part := l.Part(0)
	for _, tags := range []string{"new, old", "new", "new, old, odd", ""} {
		if err := part.Learn(texts(p, map[string]string{"tags": tags})); err != nil {
			t.Fatal(err)
		}
	}
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := p.Columns().Bags[1].Vocabulary; !slices.Equal(got, []string{"new", "old"}) {
		t.Fatalf("vocabulary %q", got)
	}
	genre := func(names ...string) (ids []uint32) {
		for _, name := range names {
			ids = append(ids, bucket([]byte(name), 100))
		}
		return ids
	}
	for _, tt := range []struct {
		genres, tags string
		ids, places  []uint32
	}{
		{"", "", nil, nil},
		{"Drama", "old", genre("Drama"), []uint32{101}},
		{"Drama|Film Noir", "old, new", genre("Drama", "Film Noir"), []uint32{101, 100}},
		{"| Drama ||\tDrama|", ", odd,  new", genre("Drama", "Drama"), []uint32{102, 100}},
		{"|", ",", nil, []uint32{102}},
	} {
		got := bagsOf(t, p, texts(p, map[string]string{"genres": tt.genres, "tags": tt.tags}))
		if !slices.Equal(got[0], tt.ids) || !slices.Equal(got[1], tt.places) {
			t.Errorf("genres=%q tags=%q: ids %v, want %v and %v", tt.genres, tt.tags, got[:2], tt.ids, tt.places)
		}
	}
	list := func(all ...string) (c Cell) {
		for _, text := range all {
			c.Texts = append(c.Texts, []byte(text))
		}
		return c
	}
	got := bagsOf(t, p, []Cell{list("Drama", "a|b", ""), {IDs: []int64{7, 8}}, {}})
	if !slices.Equal(got[0], genre("Drama", "a", "b")) || !slices.Equal(got[1], []uint32{102, 102}) {
		t.Errorf("of lists: ids %v", got)
	}
	err := NewRunner(p, input.Labels{Absent: true}).Append(&input.Batch{}, []Cell{{}, {}, list("a", "b")})
	if err == nil || !strings.Contains(err.Error(), "column city is a list of 2, want one value") {
		t.Errorf("a list where one text is wanted: error %v", err)
	}
}

// TestListsOfExamples verifies that columns of tf.Examples that are categorical alone are lists without a
// separator, and others are not.
func TestListsOfExamples(t *testing.T) {
	p := compiled(t, clicksColumns())
	p.TakeLists()
	var lists []string
	for _, b := range p.Columns().Bags {
		if b.List {
			lists = append(lists, b.Name)
		}
	}
	if !slices.Equal(lists, []string{"city", "device"}) { // C1 and C2 are in a cross, too
		t.Errorf("lists %q", lists)
	}
	p = compiled(t, []Column{{Categorical: &CategoricalOptions{Names: []string{"a"}, Hash: 50}}})
	p.TakeLists()
	if got, want := fmt.Sprint(bagsOf(t, p, []Cell{{Texts: [][]byte{[]byte("x| "), []byte("y")}}})), fmt.Sprint([]uint32{bucket([]byte("x| "), 50), bucket([]byte("y"), 50)}); got != "["+want+"]" {
		t.Errorf("ids %s, want %s", got, want)
	}
}

// TestRareLists verifies what is unknown of lists: a record none of whose texts is in the vocabulary, and
// each record where no text occurs often enough.
func TestRareLists(t *testing.T) {
	p := compiled(t, listColumns())
	l := NewLearner(p, input.Labels{Absent: true})
	part := l.Part(0)
	for _, tags := range []string{"a, b", "c", ""} {
		if err := part.Learn(texts(p, map[string]string{"tags": tags})); err != nil {
			t.Fatal(err)
		}
	}
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	var told []string
	p.Absent(&l.counts, func(input int, what string, records int64) {
		told = append(told, fmt.Sprint(p.Inputs[input], " ", what, " ", records))
	})
	want := []string{"genres missing 3", "city missing 3", "tags unknown to its vocabulary 2"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	var b input.Batch
	if err := NewRunner(p, input.Labels{Absent: true}).Append(&b, texts(p, map[string]string{"tags": "x, y"})); err != nil || b.Columns.Unknown[1] != 1 {
		t.Errorf("%v records are unknown, error %v, want one", b.Columns.Unknown, err)
	}
}
