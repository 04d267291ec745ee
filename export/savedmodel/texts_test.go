package savedmodel

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ringtrain/export/savedmodel/interop"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model"
)

// wordColumns has texts of each option, and lists.
func wordColumns() []column.Column {
	text := func(o column.TextOptions) column.Column { return column.Column{Text: &o} }
	return []column.Column{
		{Key: &column.KeyOptions{Names: []string{"review"}}},
		text(column.TextOptions{Names: []string{"review"}, Hash: 1 << 16, Lower: true, NGrams: 3}),
		text(column.TextOptions{Names: []string{"title"}, Hash: 1 << 20}),
		text(column.TextOptions{Names: []string{"note"}, Hash: 1 << 20, Lower: true}),
		{Categorical: &column.CategoricalOptions{Names: []string{"note"}, Hash: 99}},
		{Categorical: &column.CategoricalOptions{Names: []string{"tags"}, Hash: 1000, Separator: "::"}},
		{Categorical: &column.CategoricalOptions{Names: []string{"kinds"}, Vocabulary: "kinds", Separator: "|"}},
	}
}

// otherSmall are the capital letters that TensorFlow 2.21 does not know, whose ICU is of Unicode 13.
func otherSmall(c rune) bool {
	return c == 0x2c2f || c == 0xa7c0 || c == 0xa7d0 || c == 0xa7d6 || c == 0xa7d8 || c >= 0x10570 && c <= 0x10595
}

// oddText returns a random text of anything, also of bytes that are no UTF-8.
func oddText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(12) {
		switch rng.IntN(12) {
		case 0:
			b.WriteByte(byte(rng.IntN(256)))
		case 1:
			if c := rune(rng.IntN(unicode.MaxRune + 1)); !otherSmall(c) {
				b.WriteRune(c)
			}
		case 2:
			b.WriteString([]string{"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xc0\x80", "\x00", "\u2028", "\ufeff", "\u200d"}[rng.IntN(8)])
		case 3:
			b.WriteString([]string{"ΟΔΟΣ", "Σ", "ς", "İI ıi", "ǅ", "ẞ", "ﬀ", "e\u0301", "٣", "½", "Ⅷ", "नमस्ते", "東京", "𝒳", "👩‍👩"}[rng.IntN(15)])
		case 4:
			b.WriteString(strings.Repeat("ab ", rng.IntN(200)))
		case 5:
			b.WriteString([]string{"|", "::", ":", "\t", "\n"}[rng.IntN(5)])
		default:
			b.WriteString([]string{"Bern", "it's", "3.5kg", " ", ", ", "NA", "the", "The", "THE END"}[rng.IntN(9)])
		}
	}
	return b.String()
}

// everyCharacter returns texts that together have each character, by itself and between two letters.
func everyCharacter() (all []string) {
	var b strings.Builder
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c < 0xd800 || c > 0xdfff && !otherSmall(c) {
			fmt.Fprintf(&b, "%c a%ca ", c, c)
		}
		if c%8192 == 8191 {
			all = append(all, b.String())
			b.Reset()
		}
	}
	return all
}

// TestInteropWords verifies that TensorFlow makes the same ids of words and of lists as the model here does: of
// random texts with odd characters and bytes, of each character of Unicode, and of a text of 5 MB.
func TestInteropWords(t *testing.T) {
	tf := interop.Start(t)
	p, err := column.Compile(wordColumns(), func(string) ([]string, error) { return []string{"Bern", "the", "東京"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(32, 5))
	m := columnsModel(t, p, model.Config{Kind: "sparse-linear"}, "", rng)
	notes := append(everyCharacter(), strings.Repeat("Word of 5 MB, ", 5<<20/14))
	var b input.Batch
	var rows []map[string]any
	r := column.NewRunner(p, input.Labels{Absent: true})
	for i := range 600 {
		cells := map[string]column.Cell{}
		row := map[string]any{}
		text := func(name, value string) {
			cells[name], row[name] = column.Cell{Text: []byte(value)}, map[string][]byte{"b64": []byte(value)}
		}
		text("review", oddText(rng))
		text("title", oddText(rng))
		text("note", oddText(rng))
		if i < len(notes) {
			text("note", notes[i])
		}
		for _, name := range []string{"tags", "kinds"} {
			var list []map[string][]byte
			var c column.Cell
			for range rng.IntN(4) {
				value := oddText(rng)
				list, c.Texts = append(list, map[string][]byte{"b64": []byte(value)}), append(c.Texts, []byte(value))
			}
			if len(list) == 1 {
				c = column.Cell{Text: c.Texts[0]}
			}
			cells[name] = c
			if len(list) > 0 {
				row[name] = list
			}
		}
		record := make([]column.Cell, len(p.Inputs))
		for k, name := range p.Inputs {
			record[k] = cells[name]
		}
		if err := r.Append(&b, record); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	b.X.Bags.Index()
	type prediction struct {
		Record int       `json:"record"`
		Scores []float32 `json:"scores"`
	}
	var want []prediction
	scores := m.Predict(&b.X)
	for i := range rows {
		want = append(want, prediction{i, slices.Clone(scores.Row(i))})
	}
	path, err := Write(testDisk(), t.TempDir(), m.Graph(), Trained{Names: DefaultNames(), Step: 7, Variables: variables(m)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := tf.Run(t, ".", "check_columns.py", path, jsonLines(t, "rows", rows), "--predictions", jsonLines(t, "predictions", want))
	var said struct {
		Max float64 `json:"max_difference"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Max > 1e-6 {
		t.Errorf("TensorFlow differs by %g, want 1e-6 (error %v)", said.Max, err)
	}
	t.Log(out)
}
