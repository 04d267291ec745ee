package savedmodel

// Names are the features of a tf.Example that a model reads.
type Names struct {
	Dense  string // float list, the features of a dense model
	IDs    string // int64 list of a sparse model
	Values string // float list, one for each id
}

// DefaultNames returns the names that are used where the training data has none.
func DefaultNames() Names { return Names{Dense: "x", IDs: "ids", Values: "values"} }
