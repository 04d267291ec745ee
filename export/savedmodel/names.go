package savedmodel

// Names has the names of the tf.Example features that a model reads.
type Names struct {
	Dense  string // float list, the dense features
	IDs    string // int64 list of a sparse model
	Values string // float list, one for each id
	Fields string // int64 list, one for each id, of a sparse model of several fields
}

// DefaultNames returns the names for training data without names.
func DefaultNames() Names { return Names{Dense: "x", IDs: "ids", Values: "values", Fields: "fields"} }
