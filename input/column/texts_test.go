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

// TestMissingTexts verifies that a word of input.missing is no text of a list, and that a text in which words are
// looked for is missing only as a whole. Blanks around the texts of a tf.Example's list go if texts are trimmed.
func TestMissingTexts(t *testing.T) {
	p := compiled(t, []Column{
		{Categorical: &CategoricalOptions{Names: []string{"genres"}, Separator: "|", Hash: 1000}},
		{Text: &TextOptions{Names: []string{"review"}, Hash: 1000}},
		{Categorical: &CategoricalOptions{Names: []string{"tags"}, Hash: 1000}},
	})
	p.SetMissing([]string{"NA", "a|b"})
	p.Trim = true
	for at := range p.Inputs {
		p.TakeList(at)
	}
	ids := func(first uint32, words ...string) (all []uint32) {
		for _, w := range words {
			all = append(all, first+bucket([]byte(w), 1000))
		}
		return all
	}
	list := func(all ...string) (c Cell) {
		for _, text := range all {
			c.Texts = append(c.Texts, []byte(text))
		}
		return c
	}
	for _, tt := range []struct {
		cells []Cell
		want  [][]uint32
	}{
		{[]Cell{{Text: []byte("NA")}, {Text: []byte(" NA ")}, {Text: []byte("NA")}}, [][]uint32{nil, nil, nil}},
		{[]Cell{{Text: []byte("x| NA |y")}, {Text: []byte("NA NA")}, list("NA", " z ", " NA")}, [][]uint32{ids(0, "x", "y"), ids(1000, "NA", "NA"), ids(2000, "z")}},
		{[]Cell{list(" a|b", "b|a"), {}, {IDs: []int64{1, 2}}}, [][]uint32{ids(0, "b", "a"), nil, ids(2000, "1", "2")}},
	} {
		if got := bagsOf(t, p, tt.cells); !slices.EqualFunc(got, tt.want, slices.Equal) {
			t.Errorf("ids %v, want %v", got, tt.want)
		}
	}
}

// TestListsOfExamples verifies that columns of tf.Examples that are categorical alone are lists without a
// separator, and others are not.
func TestListsOfExamples(t *testing.T) {
	p := compiled(t, clicksColumns())
	for at := range p.Inputs {
		p.TakeList(at)
	}
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
	for at := range p.Inputs {
		p.TakeList(at)
	}
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

// TestWords verifies the words of texts, in order, with each option.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		options TextOptions
		text    string
		want    []string
	}{
		{TextOptions{}, "", nil},
		{TextOptions{}, " -, \x00\xff\u00bd\u2028", nil},
		{TextOptions{}, "It's 3.5kg, it's", []string{"It", "s", "3", "5kg", "it", "s"}},
		{TextOptions{Lower: true}, "ÉTÉ ΟΔΟΣ İi ẞ", []string{"été", "οδοσ", "ii", "ß"}},
		{TextOptions{}, "Gen\xe8ve caf\u00e9 e\u0301a\t東京٣", []string{"Gen", "ve", "café", "e", "a", "東京٣"}},
		{TextOptions{NGrams: 2, Lower: true}, "The end; the END.", []string{"the", "end", "the", "end", "the end", "end the", "the end"}},
		{TextOptions{NGrams: 9}, "a b c", []string{"a", "b", "c", "a b", "b c", "a b c"}},
	} {
		tt.options.Names, tt.options.Hash = []string{"review"}, 1<<20
		p := compiled(t, []Column{{Text: &tt.options}})
		var want []uint32
		for _, word := range tt.want {
			want = append(want, bucket([]byte(word), 1<<20))
		}
		if got := bagsOf(t, p, []Cell{{Text: []byte(tt.text)}}); !slices.Equal(got[0], want) {
			t.Errorf("%+v of %q: ids %v, want those of %q", tt.options, tt.text, got[0], tt.want)
		}
	}
	p := compiled(t, []Column{{Text: &TextOptions{Names: []string{"review"}, Hash: 9}}})
	err := NewRunner(p, input.Labels{Absent: true}).Append(&input.Batch{}, []Cell{{Texts: [][]byte{[]byte("a"), []byte("b")}}})
	if err == nil || !strings.Contains(err.Error(), "column review is a list of 2, want one value") {
		t.Errorf("a list of texts: error %v", err)
	}
}

// TestWordsAreTensorFlows verifies the words of texts against real TensorFlow.
func TestWordsAreTensorFlows(t *testing.T) {
	for _, w := range readGolden(t).Words {
		p := compiled(t, []Column{{Text: &TextOptions{Names: []string{"review"}, Hash: 1_000_000, Lower: w.Lower, NGrams: w.NGrams}}})
		if got := bagsOf(t, p, []Cell{{Text: w.Text}}); len(w.Buckets)+len(got[0]) > 0 && !slices.Equal(got[0], w.Buckets) {
			t.Errorf("lower=%t ngrams=%d of %q: ids %v, want %v", w.Lower, w.NGrams, w.Text, got[0], w.Buckets)
		}
	}
}

// TestTextsAllocate verifies that lists and words cost no allocation once the batch and the runner have grown.
func TestTextsAllocate(t *testing.T) {
	p := compiled(t, append(listColumns()[:1], Column{Text: &TextOptions{Names: []string{"review"}, Hash: 100, Lower: true, NGrams: 2}}))
	r := NewRunner(p, input.Labels{Absent: true})
	cells := texts(p, map[string]string{"genres": "Drama|War", "review": "Été, the End"})
	var b input.Batch
	one := func() {
		b.Reset()
		if err := r.Append(&b, cells); err != nil {
			t.Fatal(err)
		}
	}
	one()
	if n := testing.AllocsPerRun(50, one); n != 0 {
		t.Errorf("%g allocations a record, want 0", n)
	}
}

// TestTextsRefuse verifies the errors of items with lists and words.
func TestTextsRefuse(t *testing.T) {
	genres := &CategoricalOptions{Names: []string{"genres"}, Separator: "|", Hash: 100}
	text := func(o TextOptions) []Column { return []Column{{Text: &o}} }
	for _, tt := range []struct {
		columns []Column
		want    string
	}{
		{[]Column{{Categorical: genres}, {Categorical: &CategoricalOptions{Names: []string{"city"}, Hash: 5}}, {Cross: &CrossOptions{Of: []string{"city", "genres"}, Hash: 9}}},
			"input.columns.2.cross is of genres, want columns that are categorical, without separator"},
		{text(TextOptions{Hash: 5}), "input.columns.0.text has no names, want one or more"},
		{text(TextOptions{Names: []string{"a"}}), "input.columns.0.text.hash is 0, want 1 to 2147483647"},
		{text(TextOptions{Names: []string{"a"}, Hash: 5, NGrams: 10}), "input.columns.0.text.ngrams is 10, want 1 to 9"},
		{append(text(TextOptions{Names: []string{"a"}, Hash: 5}), text(TextOptions{Names: []string{"a"}, Hash: 6, Lower: true})...), "input.columns.1.text makes words of a, which another item does"},
	} {
		if _, err := Compile(tt.columns, cities); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

// FuzzTexts verifies that any text is read as words and as a list without an error, with ids of the field.
func FuzzTexts(f *testing.F) {
	f.Add("Drama|War", "It's 3.5kg", uint8(2))
	f.Add("||", "\xff\x00 İΣ", uint8(0))
	f.Fuzz(func(t *testing.T, genres, review string, ngrams uint8) {
		p := compiled(t, append(listColumns()[:1], Column{Text: &TextOptions{Names: []string{"review"}, Hash: 50, NGrams: 1 + int(ngrams%9)}}))
		got := bagsOf(t, p, []Cell{{Text: []byte(genres)}, {Text: []byte(review)}})
		for k, size := range []uint32{100, 150} {
			for _, id := range got[k] {
				if id >= size || k == 1 && id < 100 {
					t.Errorf("field %d has the id %d", k, id)
				}
			}
		}
	})
}
