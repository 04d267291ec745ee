package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// tableOps returns the operations of this file.
func tableOps() []op {
	return []op{
		{name: "HashTableV2", state: true, run: func(c *call) error { return openTable(c, false) }},
		{name: "MutableHashTableV2", state: true, run: func(c *call) error { return openTable(c, true) }},
		{name: "LookupTableImportV2", kinds: "xxx", out: "0", state: true, run: importTable},
		{name: "InitializeTableFromTextFileV2", kinds: "xs", out: "0", state: true, bind: bindTextFile, run: tableOfLines},
		{name: "LookupTableFindV2", kinds: "xxx", state: true, run: lookUp},
	}
}

// table is a hash table. The init operation of a model fills it.
type table struct {
	key, value tfpb.DataType
	mutable    bool

	mu     sync.RWMutex
	filled bool
	texts  map[string]int // by key: the place in values
	longs  map[int64]int
	values *Tensor
}

// openTable sets output 0 to the table of a name, which all nodes of the name share.
func openTable(c *call, mutable bool) error {
	key, value := c.node.typ("key_dtype"), c.node.typ("value_dtype")
	if key != tfpb.DataType_DT_STRING && key != tfpb.DataType_DT_INT64 {
		return fmt.Errorf("key_dtype is %v, want DT_STRING or DT_INT64", key)
	}
	name := c.node.text("shared_name", "")
	if name == "" {
		name = c.node.name
	}
	t, ok := c.frame.resource("table "+c.node.text("container", "")+"/"+name, func() any {
		return &table{key: key, value: value, mutable: mutable, filled: mutable, values: &Tensor{}}
	}).(*table)
	if !ok || t.key != key || t.value != value || t.mutable != mutable {
		return fmt.Errorf("table %s has other types elsewhere", phrase.Name(name))
	}
	if err := c.make(0, tfpb.DataType_DT_RESOURCE); err != nil {
		return err
	}
	c.out[0].resource = t
	return nil
}

// table returns the table in input 0.
func (c *call) table() (*table, error) {
	t, ok := c.in[0].resource.(*table)
	if !ok {
		return nil, errors.New("input 0 is no table")
	}
	return t, nil
}

// importTable fills a table with keys and values.
func importTable(c *call) error {
	t, err := c.table()
	if err != nil {
		return err
	}
	return t.fill(c.in[1], c.in[2])
}

// fill sets the values of keys. A table that is not mutable is filled once; again with as many keys is nothing.
func (t *table) fill(keys, values *Tensor) error {
	n := Elements(keys.Shape)
	if keys.Type != t.key || values.Type != t.value || Elements(values.Shape) != n {
		return fmt.Errorf("%d keys of %v and %d values of %v, want as many of %v and %v", n, keys.Type, Elements(values.Shape), values.Type, t.key, t.value)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.filled && !t.mutable {
		if len(t.texts)+len(t.longs) != n {
			return errors.New("the table is filled already, with other keys")
		}
		return nil
	}
	t.texts, t.longs = map[string]int{}, map[int64]int{}
	t.values.resize(t.value, []int{n}, n)
	for i := range n {
		t.values.set(i, values, i)
		var before int
		var twice bool
		if t.key == tfpb.DataType_DT_STRING {
			key := string(keys.Bytes[i])
			before, twice = t.texts[key]
			t.texts[key] = i
			if t.value == tfpb.DataType_DT_STRING {
				t.values.Bytes[i] = bytes.Clone(t.values.Bytes[i])
			}
		} else {
			before, twice = t.longs[keys.Int64[i]]
			t.longs[keys.Int64[i]] = i
		}
		if twice && !t.mutable && !t.values.same(before, i) {
			return fmt.Errorf("key %d has two values", i)
		}
	}
	t.filled = true
	return nil
}

// same reports whether two values of the tensor are equal.
func (t *Tensor) same(i, j int) bool {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		return t.Float32[i] == t.Float32[j]
	case tfpb.DataType_DT_INT64:
		return t.Int64[i] == t.Int64[j]
	case tfpb.DataType_DT_STRING:
		return bytes.Equal(t.Bytes[i], t.Bytes[j])
	}
	return false
}

// lookUp sets output 0 to the value of each key, a default for a key that the table does not have.
func lookUp(c *call) error {
	t, err := c.table()
	if err != nil {
		return err
	}
	keys, def := c.in[1], c.in[2]
	if keys.Type != t.key || def.Type != t.value || Elements(def.Shape) != 1 {
		return fmt.Errorf("keys of %v and a default of %v and shape %v, want %v and a scalar of %v", keys.Type, def.Type, def.Shape, t.key, t.value)
	}
	if err := c.make(0, t.value, keys.Shape...); err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if !t.filled {
		return errors.New("the table is not filled")
	}
	for i := range Elements(keys.Shape) {
		var place int
		var ok bool
		if t.key == tfpb.DataType_DT_STRING {
			place, ok = t.texts[string(keys.Bytes[i])]
		} else {
			place, ok = t.longs[keys.Int64[i]]
		}
		if ok {
			c.out[0].set(i, t.values, place)
		} else {
			c.out[0].set(i, def, 0)
		}
	}
	return nil
}

// wholeLine and lineNumber are key_index and value_index of a vocabulary file.
const (
	wholeLine  = -2
	lineNumber = -1
)

func bindTextFile(n *node) (any, error) {
	if key, value := n.integer("key_index", wholeLine), n.integer("value_index", lineNumber); key != wholeLine || value != lineNumber {
		return nil, fmt.Errorf("key_index is %d and value_index %d, want %d and %d: no others are known here", key, value, wholeLine, lineNumber)
	}
	return nil, nil
}

// tableOfLines fills a table with the lines of a file and their numbers.
func tableOfLines(c *call) error {
	t, err := c.table()
	if err != nil {
		return err
	}
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
	keys, values := &Tensor{Type: tfpb.DataType_DT_STRING}, &Tensor{Type: tfpb.DataType_DT_INT64}
	most, offset := c.node.integer("vocab_size", -1), int64(c.node.integer("offset", 0))
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\r"), nil)) {
		n := len(keys.Bytes)
		if n == most {
			break
		}
		keys.Bytes, values.Int64 = append(keys.Bytes, bytes.TrimSuffix(line, []byte("\n"))), append(values.Int64, int64(n)+offset)
	}
	n := len(keys.Bytes)
	if n < most {
		return fmt.Errorf("%s has %d lines, want vocab_size, %d", phrase.Name(path), n, most)
	}
	keys.Shape, values.Shape = []int{n}, []int{n}
	return t.fill(keys, values)
}
