package graph

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Columns are the first nodes of a model of raw records: the conversion of each column,
// with all statistics of the training data. A record is a row of a CSV file or a
// tf.Example. Each of its columns has a text or a number, or is missing.
type Columns struct {
	Dense []DenseColumn `json:"dense,omitempty"` // columns of the dense port, in this order
	Bags  []BagColumn   `json:"bags,omitempty"`  // fields of the port of ids, in this order
	Keys  Keys          `json:"key,omitempty"`   // pass-through columns, copied to the prediction

	Label *LabelColumn `json:"label,omitempty"` // what is predicted; nil: a number as it is

	Dates []DateColumn `json:"dates,omitempty"` // columns that are dates
	Forms []NumberForm `json:"forms,omitempty"` // of numbers that are written in one of their own
	Trim  bool         `json:"trim,omitempty"`  // blanks around texts are no part of them

	// Cells that are missing besides the empty ones, where a column is a number or a date, and where it is
	// a text. Words that are numbers are missing numbers, too, however a cell writes them.
	NumberWords []string `json:"number_words,omitempty"`
	TextWords   []string `json:"text_words,omitempty"`
}

// WordNumbers returns the numbers that words are, as a tf.Example has them; NaN for other words.
func WordNumbers(words []string) []float32 {
	all := make([]float32, len(words))
	for i, word := range words {
		x, isNumber := ClassNumber(word)
		if !isNumber || math.Abs(x) > math.MaxFloat32 {
			x = math.NaN()
		}
		all[i] = float32(x)
	}
	return all
}

// NumberForm says how the numbers of a column are written where they are texts.
type NumberForm struct {
	Name    string `json:"name"`
	Decimal string `json:"decimal"`         // stands before the fraction
	Strip   string `json:"strip,omitempty"` // characters that are left out
}

// DateColumn says how the dates of a column are written: see [DateTokens].
type DateColumn struct {
	Name   string `json:"name"`
	Layout string `json:"layout"`
}

// Parts of a date, in UTC, that are numbers.
const (
	Days = "days" // since 1 January 1970
	Year = "year"
)

// LabelColumn says what a label is.
type LabelColumn struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes,omitempty"` // names, in the order of the classes

	Scale *DenseColumn `json:"scale,omitempty"` // makes what a regression learns of a number; nil: the number itself
}

// Difference tells what makes a label another thing than that of an earlier model, with both values. It is "" if
// nothing does.
func (l *LabelColumn) Difference(was *LabelColumn) string {
	what := difference([]fact{
		{"name", l.Name, was.Name}, {"classes", fmt.Sprintf("%q", l.Classes), fmt.Sprintf("%q", was.Classes)},
		{"scaled", l.Scale != nil, was.Scale != nil},
	})
	if what == "" && l.Scale != nil {
		what = l.Scale.Difference(was.Scale)
	}
	return what
}

// Keys are names of columns. In JSON one is a text, as models of older versions have it.
type Keys []string

// MarshalJSON returns a text, or a list of several.
func (k Keys) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

// UnmarshalJSON reads what MarshalJSON returns.
func (k *Keys) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*k = Keys{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(k))
}

// KeyNames returns the names by which pass-through columns are handed on: one that is called like another, or like a word
// that is taken, has key_ before its name.
func KeyNames(columns, taken []string) []string {
	names := make([]string, 0, len(columns))
	for _, name := range columns {
		for slices.Contains(taken, name) || slices.Contains(names, name) {
			name = "key_" + name
		}
		names = append(names, name)
	}
	return names
}

// DenseColumn makes one number:
//
//	(t(x) − Mean)·Scale    t(x) = sign(x)·ln(1+|x|) if Log1p, else x
//
// in float64, rounded to float32 at the end. A missing x is Default.
type DenseColumn struct {
	Name    string  `json:"name"`
	Default float64 `json:"default"`
	Part    string  `json:"part,omitempty"` // of a date, which is x: [Days] or [Year]
	Log1p   bool    `json:"log1p,omitempty"`
	Mean    float64 `json:"mean"`
	Scale   float64 `json:"scale"`

	// Min and Max are the least and the largest x of the training records, if Mean and Scale are
	// learnt; models of older versions have none.
	Min float64 `json:"min,omitempty"`
	Max float64 `json:"max,omitempty"`
}

// Made returns what d makes of a number, before it is rounded to float32.
func (d *DenseColumn) Made(x float64) float64 {
	if d.Log1p {
		x = math.Copysign(math.Log1p(math.Abs(x)), x)
	}
	return float64(x-d.Mean) * d.Scale
}

// Unit is the inverse of what d makes of a number.
func (d *DenseColumn) Unit(made float64) float64 {
	x := float64(made*(1/d.Scale)) + d.Mean
	if d.Log1p {
		x = math.Copysign(math.Expm1(math.Abs(x)), x)
	}
	return x
}

// BagColumn makes a bag of ids in [First, First+Size): First plus a number in [0, Size)
// that depends on the kind. Bags of all kinds but IDs, Words and lists have one id of weight 1, or none
// if the column is missing or its text empty.
type BagColumn struct {
	Name  string  `json:"name"`
	Kind  BagKind `json:"kind"`
	First uint32  `json:"first"`
	Size  uint32  `json:"size"`

	// For Buckets: the ascending boundaries. The id is the number of boundaries that are
	// not above the number; both are float32 where the number is. A missing number is
	// Default if HasDefault is set.
	Boundaries []float64 `json:"boundaries,omitempty"`
	Default    float64   `json:"default,omitempty"`
	HasDefault bool      `json:"has_default,omitempty"`

	// For Vocabulary: the id is the index in the list. An unknown text has the index
	// after the last, or is an error with Strict.
	Vocabulary []string `json:"vocabulary,omitempty"`
	Strict     bool     `json:"strict,omitempty"`

	// For Hash and Vocabulary: a record may have a list of texts, each of which makes an id. With a
	// separator each text of the list is a list of its own: of what stands between, blanks around it apart.
	List      bool   `json:"list,omitempty"`
	Separator string `json:"separator,omitempty"`

	// For Words: capital letters are made small, and up to so many words that follow one another make an
	// id, with a blank between.
	Lower  bool `json:"lower,omitempty"`
	NGrams int  `json:"ngrams,omitempty"`

	// For Hash: in which ways the training records write the texts, as 1, 1.0 or Ab, in bytewise order. Models of older
	// versions have none, and no id depends on it.
	Written []string `json:"written,omitempty"`

	Of     []string `json:"of,omitempty"`     // for Cross: the columns whose texts are joined
	Values string   `json:"values,omitempty"` // for IDs: the column of the weights; "" for weights of 1
}

// Difference tells what makes an id of b mean another thing than the same id of an earlier column, with
// both values. It is "" if nothing does.
func (b *BagColumn) Difference(was *BagColumn) string {
	size := "size"
	if b.Hashes() {
		size = "hash"
	}
	if what := difference([]fact{
		{"of", fmt.Sprintf("%q", b.Of), fmt.Sprintf("%q", was.Of)}, {"name", b.Name, was.Name}, {"kind", b.Kind, was.Kind}, {"values", b.Values, was.Values},
		{"buckets", fmt.Sprint(narrow(b.Boundaries)), fmt.Sprint(narrow(was.Boundaries))}, {"default", float32(b.Default), float32(was.Default)},
		{"a default", b.HasDefault, was.HasDefault}, {"strict", b.Strict, was.Strict}, {"separator", b.Separator, was.Separator},
		{"lower", b.Lower, was.Lower}, {"ngrams", b.NGrams, was.NGrams},
		{"number of texts", len(b.Vocabulary), len(was.Vocabulary)}, {size, b.Size, was.Size}, {"first id", b.First, was.First},
	}); what != "" {
		return what
	}
	for i, text := range b.Vocabulary {
		if text != was.Vocabulary[i] {
			return fmt.Sprintf("text %d of the vocabulary is %q, was %q", i, text, was.Vocabulary[i])
		}
	}
	return ""
}

// Difference tells what makes a number of d another than that of an earlier column, with both values. It
// is "" if nothing does.
func (d *DenseColumn) Difference(was *DenseColumn) string {
	return difference([]fact{
		{"name", d.Name, was.Name}, {"part", d.Part, was.Part}, {"default", float32(d.Default), float32(was.Default)}, {"log1p", d.Log1p, was.Log1p},
		{"mean", d.Mean, was.Mean}, {"scale", d.Scale, was.Scale}, {"least", d.Min, was.Min}, {"largest", d.Max, was.Max},
	})
}

// fact is a property of a column now and in an earlier model.
type fact struct {
	name     string
	now, was any
}

func difference(facts []fact) string {
	for _, f := range facts {
		if f.now != f.was {
			return fmt.Sprintf("%s is %v, was %v", f.name, f.now, f.was)
		}
	}
	return ""
}

// narrow rounds numbers of the job, which older models store as float32.
func narrow(list []float64) []float32 {
	small := make([]float32, len(list))
	for i, f := range list {
		small[i] = float32(f)
	}
	return small
}

// Narrow returns the boundaries of numbers that are float32: the nearest float32, as TensorFlow has them;
// beyond 2^24, where float32 has no fractions, none that is below its boundary.
func Narrow(boundaries []float64) []float64 {
	all := make([]float64, len(boundaries))
	for i, b := range boundaries {
		near := float32(b)
		if math.Abs(b) >= 1<<24 && float64(near) < b {
			near = math.Nextafter32(near, math.MaxFloat32)
		}
		all[i] = float64(near)
	}
	return all
}

// BagKind is the method by which a BagColumn makes its ids.
type BagKind string

// The kinds of BagColumn. Fingerprint64 is FarmHash's, as in TensorFlow's
// StringToHashBucketFast.
const (
	Buckets    BagKind = "buckets"    // of a number
	Hash       BagKind = "hash"       // Fingerprint64 of the text, modulo Size
	Vocabulary BagKind = "vocabulary" // of known texts
	Words      BagKind = "words"      // Fingerprint64 of runs of letters and digits, modulo Size; one that comes twice counts twice
	Cross      BagKind = "cross"      // Fingerprint64 of texts joined by CrossSeparator, modulo Size; none if a text is missing
	IDs        BagKind = "ids"        // the numbers themselves, with weights

	// Parts of a date, in UTC.
	Month   BagKind = "month"   // January is 0
	Weekday BagKind = "weekday" // Monday is 0
	Day     BagKind = "day"     // of the month; the first is 0
	Hour    BagKind = "hour"
)

// Hashes reports whether a hash of texts makes the ids, so that several texts may have one.
func (b *BagColumn) Hashes() bool { return b.Kind == Hash || b.Kind == Words || b.Kind == Cross }

// CrossSeparator joins the texts of a cross. It is a control character, which does not
// occur in usual texts.
const CrossSeparator = "\x1f"

// DatePart returns the number of ids of a part of a date, 0 of another kind.
func (k BagKind) DatePart() uint32 {
	switch k {
	case Month:
		return 12
	case Weekday:
		return 7
	case Day:
		return 31
	case Hour:
		return 24
	}
	return 0
}

// Size returns the number of ids of all bags.
func (c *Columns) Size() uint32 {
	if len(c.Bags) == 0 {
		return 0
	}
	last := &c.Bags[len(c.Bags)-1]
	return last.First + last.Size
}
