package savedmodel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"ringtrain/export/savedmodel/interop"
	"ringtrain/input/column"
	"ringtrain/model"
)

// wordColumns has texts of each option, and lists.
func wordColumns() []column.Column {
	text := func(o column.TextOptions) column.Column { return column.Column{Text: &o} }
	return []column.Column{
		{Key: &column.KeyOptions{Names: []string{"request"}}},
		text(column.TextOptions{Names: []string{"review"}, Hash: 1 << 16, Lower: true, NGrams: 3}),
		text(column.TextOptions{Names: []string{"title"}, Hash: 1 << 20}),
		text(column.TextOptions{Names: []string{"note"}, Hash: 1 << 20, Lower: true}),
		{Categorical: &column.CategoricalOptions{Names: []string{"note"}, Hash: 99}},
		{Categorical: &column.CategoricalOptions{Names: []string{"tags"}, Hash: 1000, Separator: "::"}},
		{Categorical: &column.CategoricalOptions{Names: []string{"kinds"}, Vocabulary: "kinds", Separator: "|"}},
		{Categorical: &column.CategoricalOptions{Names: []string{"plain"}, Hash: 1000}},
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

// wordRecord returns a record of wordColumns in two forms, as rawRecord does; note is its note.
func wordRecord(p *column.Plan, number int, note string, rng *rand.Rand) (map[string]any, []column.Cell) {
	row, cells := map[string]any{"request": fmt.Sprint("r", number)}, map[string]column.Cell{"request": {Text: fmt.Append(nil, "r", number)}}
	for name, text := range map[string]string{"review": oddText(rng), "title": oddText(rng), "note": note} {
		cells[name], row[name] = column.Cell{Text: []byte(text)}, map[string][]byte{"b64": []byte(text)}
	}
	for _, name := range []string{"tags", "kinds", "plain"} {
		var list []map[string][]byte
		var c column.Cell
		for range rng.IntN(4) {
			text := oddText(rng)
			list, c.Texts = append(list, map[string][]byte{"b64": []byte(text)}), append(c.Texts, []byte(text))
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
	return row, record
}

// TestInteropWords verifies that TensorFlow makes the same ids of words and of lists as the model here does: of
// random texts with odd characters and bytes, of each character of Unicode, and of a text of 5 MB; also with words
// for missing, and where texts are trimmed.
func TestInteropWords(t *testing.T) {
	tf := interop.Start(t)
	for _, missing := range [][]string{nil, {"NA", "the", "a::b", "Bern"}} {
		t.Run(fmt.Sprintf("missing=%q", missing), func(t *testing.T) {
			p, err := column.Compile(wordColumns(), func(string) ([]string, error) { return []string{"Bern", "the", "東京"}, nil })
			if err != nil {
				t.Fatal(err)
			}
			p.SetMissing(missing)
			p.Trim = missing != nil
			for at := range p.Inputs {
				p.TakeList(at)
			}
			rng := rand.New(rand.NewPCG(32, 5))
			m := columnsModel(t, p, model.Config{Kind: "linear"}, "sigmoid", rng)
			var notes []string
			if missing == nil {
				notes = append(everyCharacter(), strings.Repeat("Word of 5 MB, ", 5<<20/14))
			}
			for len(notes) < 600 {
				notes = append(notes, oddText(rng))
			}
			var rows []map[string]any
			var records [][]column.Cell
			for i, note := range notes {
				row, record := wordRecord(p, i, note, rng)
				rows, records = append(rows, row), append(records, record)
			}
			answersAlike(t, tf, m, p, rows, records)
		})
	}
}
