package look

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// A rule says what becomes of a column. The first that fits a column decides.
type rule struct {
	when, becomes string // a row of the table in docs/data.md

	// fits returns the reason, in words for people, "" if the rule does not fit.
	fits func(c *Column) string
	item func(c *Column, names []string) column.Column
}

const (
	mostVocabulary = 1000   // texts of a vocabulary
	hashPerText    = 4      // ids of a hash for each text
	fewTexts       = 20     // so few texts are never too many
	manyWords      = 2.5    // words of a cell, in the mean, of a text
	mostWords      = 131072 // ids of a text
	listShare      = 0.05   // of the cells, at least, have a separator of lists
)

// rules is how init chooses.
func rules() []rule {
	return []rule{
		{"its name cannot be used: empty, twice in the header, or with `..`", "`ignore`", func(c *Column) string { return c.name }, ignore},
		{"of a `tf.Example`, several numbers in a record: whole ones from 0; others", "`ids`; `ignore`", list, listItem},
		{"it is empty, or the same in each record", "`ignore`", constant, ignore},
		{"no value comes twice, and its name ends in id, key or uuid", "`key`", keyed, key},
		{"dates of one layout", "`time`: days, month, weekday; `hour` if some are not midnight", dated, timed},
		{"dates of several layouts", "`ignore`", mixed, ignore},
		{"numbers that rise by 1 from record to record", "`ignore`", rising, ignore},
		{"numbers; whole ones of which some have zeros in front, as postcodes, are texts", "`numeric`, `standardize`, `default: mean`; `log1p` if they are skewed", numeric, numericItem},
		{"numbers beyond the range of float32", "`ignore`", huge, ignore},
		{"lists such as `a|b`", "`categorical` with `separator`, `vocabulary: auto`; of more than 1,000 lists `min_count: 2`", listed, listedItem},
		{"several words a cell, more than 20 texts", "`text`, `lower`; `hash`: a power of two near the number of words, 131072 at most", worded, wordedItem},
		{"one word a cell, and more than 20 texts of which hardly one comes twice", "`ignore`", rare, ignore},
		{"texts of which some are no UTF-8", "`categorical`, `hash`: a power of two near 4 × their number", foreign, hashed},
		{"up to 1,000 texts", "`categorical`, `vocabulary: auto`", few, vocabulary},
		{"more texts", "`categorical`, `hash`: a power of two near 4 × their number", many, hashed},
	}
}

// choose decides what becomes of a column.
func (c *Column) choose() {
	for _, r := range rules() {
		if why := r.fits(c); why != "" {
			c.Why, c.item = why, r.item
			return
		}
	}
	panic("look: no rule fits a column")
}

// Item returns the item of input.columns of the column, or of several of which the same becomes.
func (c *Column) Item(names []string) column.Column { return c.item(c, names) }

// item returns the item of input.columns of a label: a number is learnt as numeric columns are.
func (l *Label) item(_ *Column, names []string) column.Column {
	o := &column.LabelOptions{Names: names}
	if l.Classes == nil {
		o.Standardize = true
		if l.Numbers.Skewed {
			o.Transform = "log1p"
		}
		o.Decimal, o.Strip = l.Numbers.Decimal, l.Numbers.Strip
	}
	return column.Column{Label: o}
}

func constant(c *Column) string {
	switch {
	case c.content == empty:
		return "empty in each record"
	case c.Distinct == 1 && c.filled() == c.Records:
		return fmt.Sprintf("%s in each record", c.example())
	}
	return ""
}

// example returns a value of the column.
func (c *Column) example() string {
	if len(c.Values) > 0 {
		return c.Values[0].Text
	}
	if len(c.tally.odd) > 0 {
		return c.tally.odd[0].Text
	}
	return fmt.Sprint(c.tally.min)
}

func keyed(c *Column) string {
	if !c.unique || c.filled() < c.Records || !endsInKey(c.Name) {
		return ""
	}
	return fmt.Sprintf("%d values, each once", c.Records)
}

// endsInKey reports whether a name is id, key or uuid, or ends in it as a word: user_id, userId, PassengerID.
func endsInKey(name string) bool {
	at := len(name)
	for at > 0 && unicode.IsLetter(rune(name[at-1])) {
		at--
	}
	last := name[at:]
	for i := len(last) - 1; i > 0; i-- {
		if unicode.IsUpper(rune(last[i])) && unicode.IsLower(rune(last[i-1])) {
			last = last[i:]
			break
		}
	}
	return slices.Contains([]string{"id", "key", "uuid"}, strings.ToLower(last))
}

func dated(c *Column) string {
	names := c.layouts()
	if c.content != dates || len(names) == 0 {
		return ""
	}
	return "dates, layout " + names[0]
}

func timed(c *Column, names []string) column.Column {
	o := &column.TimeOptions{Names: names, Layout: c.layouts()[0], Parts: []string{graph.Days, string(graph.Month), string(graph.Weekday)}}
	if c.tally.clocks {
		o.Parts = append(o.Parts, string(graph.Hour))
	}
	return column.Column{Time: o}
}

func mixed(c *Column) string {
	if c.content != dates {
		return ""
	}
	return fmt.Sprintf("dates of several layouts, as in %s", c.examples(c.tally.odd))
}

// layouts returns the layouts that all dates fit, that which is taken first.
func (c *Column) layouts() []string {
	d := dater{layouts()}
	return d.layoutNames(c.tally.layouts)
}

// examples lists the first of odd cells.
func (c *Column) examples(odd []Odd) string {
	var all []string
	for _, o := range odd[:min(3, len(odd))] {
		all = append(all, fmt.Sprintf("%q", o.Text))
	}
	return strings.Join(all, ", ")
}

func rising(c *Column) string {
	if c.content != numbers || c.tally.broken || c.tally.integers < c.Records || c.Records < 2 {
		return ""
	}
	return fmt.Sprintf("%.12g to %.12g, one more in each record", c.tally.min, c.tally.max)
}

func numeric(c *Column) string {
	if c.content != numbers {
		return ""
	}
	n := c.Numbers
	why := fmt.Sprintf("numbers %.6g to %.6g, mean %.6g", n.Min, n.Max, n.Mean)
	if n.Skewed {
		why += ", skewed"
	}
	return why
}

func numericItem(c *Column, names []string) column.Column {
	o := &column.NumericOptions{Names: names, Standardize: true, Default: &column.Missing{Mean: true}}
	if c.Numbers.Skewed {
		o.Transform = "log1p"
	}
	o.Decimal, o.Strip = c.Numbers.Decimal, c.Numbers.Strip
	return column.Column{Numeric: o}
}

func huge(c *Column) string {
	if c.tally.huge == 0 || 2*c.tally.huge <= c.tally.texts {
		return ""
	}
	example := c.example()
	for _, o := range c.tally.odd {
		if _, kind := numberOf([]byte(o.Text)); kind == hugeNumber {
			example = o.Text
			break
		}
	}
	return fmt.Sprintf("numbers such as %s, beyond the range of float32", example)
}

func foreign(c *Column) string {
	if c.tally.foreign.Records == 0 {
		return ""
	}
	return fmt.Sprintf("%s texts, in %d cells no UTF-8", c.distinct(), c.tally.foreign.Records)
}

func listed(c *Column) string {
	if float64(c.tally.lists) < listShare*float64(c.filled()) || c.tally.lists < 2 {
		return ""
	}
	return fmt.Sprintf("lists with %c in %d of %d cells", listSeparator, c.tally.lists, c.filled())
}

func listedItem(c *Column, names []string) column.Column {
	item := vocabulary(c, names) // the texts are fewer than the lists
	switch {
	case foreign(c) != "":
		item = hashed(c, names)
	case c.Distinct > mostVocabulary:
		item.Categorical.MinCount = 2
	}
	item.Categorical.Separator = string(listSeparator)
	return item
}

func worded(c *Column) string {
	mean := float64(c.tally.words) / float64(max(1, c.tally.texts))
	if c.isList || mean < manyWords || c.Distinct <= fewTexts {
		return ""
	}
	return fmt.Sprintf("text, %.1f words a cell", mean)
}

func wordedItem(c *Column, names []string) column.Column {
	return column.Column{Text: &column.TextOptions{Names: names, Hash: nearPower(min(c.tally.words, mostWords)), Lower: true}}
}

func rare(c *Column) string {
	if c.Distinct <= fewTexts || 2*c.Distinct <= c.filled() {
		return ""
	}
	return fmt.Sprintf("%s texts in %d cells: hardly one comes twice", c.distinct(), c.filled())
}

func few(c *Column) string {
	if c.Distinct > mostVocabulary {
		return ""
	}
	if len(c.Values) > 0 && len(c.Values) <= fewTexts {
		return fmt.Sprintf("%d texts: %s", c.Distinct, quoted(c.Values, 4))
	}
	return fmt.Sprintf("%d texts", c.Distinct)
}

func many(c *Column) string { return c.distinct() + " texts" }

// distinct returns the number of values in words.
func (c *Column) distinct() string {
	if c.Estimate {
		return fmt.Sprintf("about %d", c.Distinct)
	}
	return fmt.Sprint(c.Distinct)
}

func ignore(_ *Column, names []string) column.Column {
	return column.Column{Ignore: &column.IgnoreOptions{Names: names}}
}

func key(_ *Column, names []string) column.Column {
	return column.Column{Key: &column.KeyOptions{Names: names}}
}

func weight(_ *Column, names []string) column.Column {
	return column.Column{Weight: &column.WeightOptions{Names: names}}
}

func vocabulary(_ *Column, names []string) column.Column {
	return column.Column{Categorical: &column.CategoricalOptions{Names: names, Vocabulary: "auto"}}
}

func hashed(c *Column, names []string) column.Column {
	return column.Column{Categorical: &column.CategoricalOptions{Names: names, Hash: hashSize(c.Distinct)}}
}

// hashSize returns the power of two that is nearest to hashPerText ids for each text.
func hashSize(texts int64) int { return nearPower(hashPerText * texts) }

// nearPower returns the power of two that is nearest to n.
func nearPower(n int64) int {
	want := uint64(n)
	size := uint64(1) << (bits.Len64(want) - 1)
	if want-size > 2*size-want {
		size *= 2
	}
	return int(min(size, 1<<30))
}
