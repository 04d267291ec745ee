// Package vw reads the text of Vowpal Wabbit, one record a line:
//
//	label weight 'tag|namespace:factor feature:value feature … |namespace …
//
// The label is a number. The weight may be absent, and is then 1; the loss of the record
// counts so much. A word that touches the first bar, or begins with ', is a tag and is
// passed over, as is what stands before a tab there. A namespace may have no name, and a
// factor that multiplies all its values. A value may be absent, and is then 1; a feature of
// the value 0 is left out. Blank lines hold no record.
//
// # Ids
//
// Ids are those of vw with its default, --hash strings:
//
//	namespace  h = hash(name, 0), or 0 without a name
//	feature    id = hash(name, h) mod the number of features
//	hash(s, h) = s + h if s is all digits, else MurmurHash3 (x86, 32 bits) of s with the seed h
//
// A feature without a name has the hash h + its number among those of its namespace. A value
// that is no number is hashed itself, with the hash of the feature as its seed, and counts
// 1. With 2^b features the ids are those of vw -b b; so a number without a namespace is its
// own id. vw's constant feature is the bias of the model here.
//
// # Not read
//
// A third number before the bar, which is vw's initial prediction; labels of other kinds than
// the simple one; lines of several lines. They are errors.
//
// Source: Vowpal Wabbit's wiki, "Input format"; A. Appleby, "MurmurHash3", public domain.
package vw
