package interpreter

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// tableOps returns the operations of this file: tables from texts to int64.
func tableOps() []op {
	const attrs = "key_dtype key_dtype=DT_STRING value_dtype value_dtype=DT_INT64"
	return []op{
		{name: "HashTableV2", attrs: attrs, state: true, bind: bindTable, run: openTable},
		{name: "MutableHashTableV2", attrs: attrs, state: true, bind: bindTable, run: openTable},
		{name: "LookupTableImportV2", kinds: "xsi", out: "0", state: true, run: fillTable},
		{name: "LookupTableFindV2", kinds: "xsi", state: true, run: lookUp, shape: func(c *call) error { return c.make(0, tfpb.DataType_DT_INT64, c.in[1].Shape...) }},
	}
}

// table is a hash table. The init operation of a model fills it.
type table struct {
	mutable bool
	places  atomic.Pointer[map[string]int64]
}

// bindTable returns the key of a table. All nodes of a name share it.
func bindTable(n *node) (any, error) {
	return n.op.name + " " + n.text("container", "") + "/" + cmp.Or(n.text("shared_name", ""), n.name), nil
}

// openTable sets output 0 to the table of the node.
func openTable(c *call) error {
	*c.out[0] = Tensor{Type: tfpb.DataType_DT_RESOURCE}
	c.out[0].resource = c.run.model.resource(c.node.bound.(string), func() any { return &table{mutable: c.node.op.name == "MutableHashTableV2"} })
	return nil
}

// fillTable sets the values of keys. A table that is not mutable has keys, and none of them twice with another value.
func fillTable(c *call) error {
	t, places := c.in[0].resource.(*table), make(map[string]int64, c.in[1].length())
	if c.in[1].length() != c.in[2].length() || len(c.in[1].Bytes) == 0 && !t.mutable {
		return c.misfit("keys, and a value for each")
	}
	for i, key := range c.in[1].Bytes {
		v := int64(c.in[2].integer(i))
		if before, twice := places[string(key)]; twice && before != v && !t.mutable {
			return fmt.Errorf("key %s has the values %d and %d", phrase.Name(string(key)), before, v)
		}
		places[string(key)] = v
	}
	t.places.Store(&places)
	return nil
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
