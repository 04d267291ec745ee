package interpreter

import (
	"cmp"
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
		{name: "LookupTableFindV2", kinds: "xsi", state: true, run: lookUp, shape: func(c *call) { c.make(0, tfpb.DataType_DT_INT64, c.in[1].Shape...) }},
	}
}

// table is a hash table. The init operation of a model fills it.
type table struct {
	mutable bool
	places  atomic.Pointer[map[string]int64]
}

// bindTable returns the key of a table. All nodes of a name share it.
func bindTable(n *node) any {
	return n.op.name + " " + n.text("container") + "/" + cmp.Or(n.text("shared_name"), n.name)
}

// openTable sets output 0 to the table of the node.
func openTable(c *call) {
	t := c.frame.store.resource(c.node.bound.(string), func() any {
		t := &table{mutable: c.node.op.name == "MutableHashTableV2"}
		if t.mutable {
			t.places.Store(&map[string]int64{})
		}
		return t
	})
	*c.out[0] = Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: t}
}

// fillTable sets the values of keys. A table that is not mutable has keys, and none of them twice with another value.
func fillTable(c *call) {
	t, places := c.in[0].resource.(*table), make(map[string]int64, c.in[1].length())
	c.want(c.in[1].length() == c.in[2].length() && (len(c.in[1].Bytes) > 0 || t.mutable), "keys, and a value for each")
	for i, key := range c.in[1].Bytes {
		v := int64(c.in[2].integer(i))
		if before, twice := places[string(key)]; twice && before != v && !t.mutable {
			refuse("key %s has the values %d and %d", phrase.Name(string(key)), before, v)
		}
		places[string(key)] = v
	}
	t.places.Store(&places)
}

// lookUp sets output 0 to the value of each key, a default for a key that the table does not have.
func lookUp(c *call) {
	t := c.in[0].resource.(*table)
	places := t.places.Load()
	if places == nil {
		refuse("the table is not filled")
	}
	c.want(c.in[2].length() == 1, "a table, keys and a scalar default")
	for i, key := range c.in[1].Bytes {
		v, ok := (*places)[string(key)]
		if !ok {
			v = int64(c.in[2].integer(0))
		}
		c.out[0].Int64[i] = v
	}
}
