package interpreter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// tableOps returns the operations of this file: tables from texts to int64.
func tableOps() []op {
	return []op{
		{name: "HashTableV2", state: true, bind: bindTable, run: openTable},
		{name: "MutableHashTableV2", state: true, bind: bindTable, run: openTable},
		{name: "LookupTableImportV2", kinds: "xsi", out: "0", state: true, run: importTable},
		{name: "InitializeTableFromTextFileV2", kinds: "xs", out: "0", state: true, bind: bindTextFile, run: fillFromFile},
		{name: "LookupTableFindV2", kinds: "xsi", state: true, run: lookUp, shape: func(c *call) error { return c.make(0, tfpb.DataType_DT_INT64, c.in[1].Shape...) }},
	}
}

// table is a hash table. The init operation of a model fills it.
type table struct {
	mutable bool
	places  atomic.Pointer[map[string]int64]
}

// bindTable returns the function that finds the table of a name, which all nodes of the name share.
func bindTable(n *node) (any, error) {
	if key, value := n.typ("key_dtype"), n.typ("value_dtype"); key != tfpb.DataType_DT_STRING || value != tfpb.DataType_DT_INT64 {
		return nil, fmt.Errorf("a table from %v to %v, want one from DT_STRING to DT_INT64", key, value)
	}
	key := n.op + " " + n.text("container", "") + "/" + cmp.Or(n.text("shared_name", ""), n.name)
	create := func() any { return &table{mutable: n.op == "MutableHashTableV2"} }
	return func(f *frame) any { return f.resource(key, create) }, nil
}

// openTable sets output 0 to the table of the node.
func openTable(c *call) error {
	err := c.make(0, tfpb.DataType_DT_RESOURCE)
	c.out[0].resource = c.bound.(func(f *frame) any)(c.frame)
	return err
}

// fillTable sets the values of keys. A table that is not mutable has keys, and none of them twice with another value.
func fillTable(c *call, keys [][]byte, value func(i int) int) error {
	t, places := c.in[0].resource.(*table), make(map[string]int64, len(keys))
	for i, key := range keys {
		v := int64(value(i))
		if before, twice := places[string(key)]; twice && before != v && !t.mutable {
			return fmt.Errorf("key %s has the values %d and %d", phrase.Name(string(key)), before, v)
		}
		places[string(key)] = v
	}
	if len(keys) == 0 && !t.mutable {
		return errors.New("no keys")
	}
	t.places.Store(&places)
	return nil
}

// importTable fills a table with keys and values.
func importTable(c *call) error {
	if c.in[1].length() != c.in[2].length() {
		return c.misfit("a value for each key")
	}
	return fillTable(c, c.in[1].Bytes, c.in[2].integer)
}

// lookUp sets output 0 to the value of each key, a default for a key that the table does not have.
func lookUp(c *call) error {
	t := c.in[0].resource.(*table)
	places := t.places.Load()
	if places == nil {
		if !t.mutable {
			return errors.New("the table is not filled")
		}
		places = &map[string]int64{}
	}
	if c.in[2].length() != 1 {
		return c.misfit("a table, keys and a scalar default")
	}
	for i, key := range c.in[1].Bytes {
		v, ok := (*places)[string(key)]
		if !ok {
			v = int64(c.in[2].integer(0))
		}
		c.out[0].Int64[i] = v
	}
	return nil
}

func bindTextFile(n *node) (any, error) {
	const wholeLine, lineNumber = -2, -1
	if key, value := n.integer("key_index", 0), n.integer("value_index", 0); key != wholeLine || value != lineNumber {
		return nil, fmt.Errorf("key_index is %d and value_index %d, want %d and %d: the line and its number", key, value, wholeLine, lineNumber)
	}
	return nil, nil
}

// fillFromFile fills a table with the lines of a file and their numbers.
func fillFromFile(c *call) error {
	if len(c.in[1].Bytes) != 1 {
		return errors.New("the name of the file is no scalar")
	}
	path := string(c.in[1].Bytes[0])
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxBytes || !info.Mode().IsRegular() {
		return fmt.Errorf("%s has %d bytes, want a file of at most %d", phrase.Name(path), info.Size(), maxBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var lines [][]byte
	want := c.node.integer("vocab_size", -1)
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			return fmt.Errorf("%s:%d: the line is empty", phrase.Name(path), len(lines)+1)
		}
		if len(lines) != want {
			lines = append(lines, line)
		}
	}
	if len(lines) < want {
		return fmt.Errorf("%s has %d lines, want vocab_size, %d", phrase.Name(path), len(lines), want)
	}
	offset := c.node.integer("offset", 0)
	return fillTable(c, lines, func(i int) int { return offset + i })
}
