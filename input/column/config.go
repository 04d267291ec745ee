package column

// Column is an item of input.columns: exactly one of its kinds. Columns of a file that has no
// header are named by the items, in the order of the file.
type Column struct {
	// Name is the name of the feature that a cross makes; the default is its columns' names
	// with an x between them.
	Name string `yaml:"name"`

	Label       *LabelOptions       `yaml:"label"`       // what is to be predicted
	Weight      *WeightOptions      `yaml:"weight"`      // what the example counts in loss and gradient
	Key         *KeyOptions         `yaml:"key"`         // passed through by predict and by the export
	Numeric     *NumericOptions     `yaml:"numeric"`     // a number, dense or by buckets
	Categorical *CategoricalOptions `yaml:"categorical"` // a text, as an id
	IDs         *IDsOptions         `yaml:"ids"`         // ids with values, as they are
	Cross       *CrossOptions       `yaml:"cross"`       // several texts as one id
	Ignore      *IgnoreOptions      `yaml:"ignore"`      // not read
}

// LabelOptions has the options of label.
type LabelOptions struct {
	Names []string `yaml:"names"` // one column
}

// WeightOptions has the options of weight.
type WeightOptions struct {
	Names []string `yaml:"names"` // one column, of numbers from 0
}

// KeyOptions has the options of key.
type KeyOptions struct {
	Names []string `yaml:"names"` // one column
}

// NumericOptions has the options of numeric. In names, A1..A9 is a range.
type NumericOptions struct {
	Names       []string  `yaml:"names"`
	Transform   string    `yaml:"transform"`   // log1p: sign(x)·ln(1+|x|); default none
	Standardize bool      `yaml:"standardize"` // less the mean, over the standard deviation, of the training records, after the transform
	Buckets     []float64 `yaml:"buckets"`     // ascending boundaries: an id by range instead of a number
	Default     *Missing  `yaml:"default"`     // of what is missing, before transform and standardize: a number, or mean; default 0, and no id with buckets
}

// CategoricalOptions has the options of categorical: hash or vocabulary.
type CategoricalOptions struct {
	Names      []string `yaml:"names"`
	Hash       int      `yaml:"hash"`       // number of ids: FarmHash Fingerprint64 of the text, modulo it
	Vocabulary string   `yaml:"vocabulary"` // a file with a text a line, or auto: those of the training records
	MinCount   int      `yaml:"min_count"`  // with auto: how often a text occurs at least; default 1
	Unknown    string   `yaml:"unknown"`    // with a vocabulary: bucket (default), one id for all that are not in it, or error
}

// IDsOptions has the options of ids.
type IDsOptions struct {
	Names  []string `yaml:"names"`  // one column: in CSV numbers with spaces between them
	Values string   `yaml:"values"` // the column of their values; default: all 1
	Size   int      `yaml:"size"`   // ids are below it
}

// CrossOptions has the options of cross.
type CrossOptions struct {
	Of   []string `yaml:"of"`   // categorical columns
	Hash int      `yaml:"hash"` // number of ids: of the texts joined by the byte 0x1f, as of categorical
}

// IgnoreOptions has the options of ignore.
type IgnoreOptions struct {
	Names []string `yaml:"names"`
}
