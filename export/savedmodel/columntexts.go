package savedmodel

import (
	"regexp"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// textOf adds the text of a column: without the blanks around it if texts are trimmed, and empty where it is one
// of the words for missing.
func (cn columnNodes) textOf(name, raw string, c *graph.Columns) string {
	text := raw
	if c.Trim {
		text = cn.add("StringStrip", name+"trimmed", []string{raw}, attrs{})
	}
	if len(c.TextWords) > 0 {
		text = cn.add("SelectV2", name+"text", []string{cn.isWord(name, text, c.TextWords), cn.texts(name+"empty", nil, ""), text}, stringsType())
	}
	return text
}

// isWord adds whether a text is one of some words, or empty.
func (cn columnNodes) isWord(name, text string, words []string) string {
	var pattern strings.Builder
	for _, word := range words {
		pattern.WriteString("|" + regexp.QuoteMeta(word))
	}
	return cn.add("StaticRegexFullMatch", name+"missing", []string{text}, attrs{"pattern": stringAttr(pattern.String())})
}

func (cn columnNodes) notEmpty(name, text string) string {
	return cn.add("NotEqual", name+"there", []string{text, cn.texts(name+"empty", nil, "")}, stringsType())
}

func (cn columnNodes) hashed(name string, b *graph.BagColumn, text string) string {
	return cn.add("StringToHashBucketFast", name+"hash", []string{text}, attrs{"num_buckets": intAttr(int64(b.Size))})
}

// lookedUp adds the index of a text in a vocabulary. The loader fills the lookup table.
func (cn columnNodes) lookedUp(name string, b *graph.BagColumn, text string) string {
	types := attrs{"key_dtype": typeAttr(tfpb.DataType_DT_STRING), "value_dtype": typeAttr(tfpb.DataType_DT_INT64)}
	table := cn.add("HashTableV2", name+"table", nil, attrs{
		"key_dtype": types["key_dtype"], "value_dtype": types["value_dtype"], "shared_name": stringAttr("ringtrain/" + name + "table"),
	})
	unknown := int64(len(b.Vocabulary))
	if b.Strict {
		unknown = idOutside
	}
	texts, places := b.Vocabulary, make([]int64, len(b.Vocabulary))
	for i := range places {
		places[i] = int64(i)
	}
	if len(texts) == 0 {
		texts, places = []string{""}, []int64{unknown} // TensorFlow wants a key: the text that is missing anyway
	}
	keyed := attrs{"Tin": types["key_dtype"], "Tout": types["value_dtype"]}
	fill := cn.add("LookupTableImportV2", name+"fill", []string{table, cn.strings(name+"texts", texts...), cn.longs(name+"places", places)}, keyed)
	if cn.tables == "" {
		cn.tables = cn.add("NoOp", "columns/fill_tables", nil, attrs{})
		cn.fill = cn.nodes[len(cn.nodes)-1]
	}
	cn.fill.Input = append(cn.fill.Input, "^"+fill)
	return cn.add("LookupTableFindV2", name+"place", []string{table, text, cn.long(name+"unknown", unknown)}, keyed)
}
