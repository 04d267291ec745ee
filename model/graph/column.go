package graph

// Columns are the first nodes of a model that reads raw records: what each column of a record
// becomes, with all that was learnt of the training data. A record is a row of a CSV file or a
// tf.Example; a column of it has a text or a number, and may be missing.
type Columns struct {
	Dense []DenseColumn `json:"dense,omitempty"` // columns of the dense port, in this order
	Bags  []BagColumn   `json:"bags,omitempty"`  // fields of the port of ids, in this order
	Key   string        `json:"key,omitempty"`   // column that is passed through to the answer; "": none
}

// DenseColumn makes one number:
//
//	(t(x) − Mean)·Scale    t(x) = sign(x)·ln(1+|x|) if Log1p, else x
//
// in float32; x is Default where it is missing.
type DenseColumn struct {
	Name    string  `json:"name"`
	Default float32 `json:"default"`
	Log1p   bool    `json:"log1p,omitempty"`
	Mean    float32 `json:"mean"`
	Scale   float32 `json:"scale"`
}

// BagColumn makes a bag of ids in [First, First+Size): First and then, by its kind, a number in
// [0, Size). All bags but those of IDs have one id of weight 1, or none where the column is
// missing, which an empty text is, too.
type BagColumn struct {
	Name  string  `json:"name"`
	Kind  BagKind `json:"kind"`
	First uint32  `json:"first"`
	Size  uint32  `json:"size"`

	// Of Buckets: ascending; the id is the number of boundaries that are not above the number.
	// A missing one has Default, where HasDefault.
	Boundaries []float32 `json:"boundaries,omitempty"`
	Default    float32   `json:"default,omitempty"`
	HasDefault bool      `json:"has_default,omitempty"`

	// Of Vocabulary: the place in the list. An unknown text has the place behind the last,
	// or is an error with Strict.
	Vocabulary []string `json:"vocabulary,omitempty"`
	Strict     bool     `json:"strict,omitempty"`

	Of     []string `json:"of,omitempty"`     // of Cross: the columns whose texts are joined
	Values string   `json:"values,omitempty"` // of IDs: the column of the weights; "": all are 1
}

// BagKind is how a BagColumn makes its ids.
type BagKind string

// The kinds of BagColumn. Fingerprint64 is FarmHash's, as in TensorFlow's
// StringToHashBucketFast.
const (
	Buckets    BagKind = "buckets"    // of a number
	Hash       BagKind = "hash"       // Fingerprint64 of the text, modulo Size
	Vocabulary BagKind = "vocabulary" // of known texts
	Cross      BagKind = "cross"      // Fingerprint64 of texts joined by CrossSeparator, modulo Size; none where one is missing
	IDs        BagKind = "ids"        // numbers as they are, with weights
)

// CrossSeparator joins the texts of a cross. It is in no text that people write.
const CrossSeparator = "\x1f"

// Size returns the number of ids of all bags.
func (c *Columns) Size() uint32 {
	if len(c.Bags) == 0 {
		return 0
	}
	last := &c.Bags[len(c.Bags)-1]
	return last.First + last.Size
}
