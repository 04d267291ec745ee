package column

// Column is an item of input.columns: exactly one of its kinds. Columns of a file that has no
// header are named by the items, in the order of the file.
type Column struct {
	Name        string              `yaml:"name" doc:"Name of the feature that a cross makes. Default: the names of its columns with an x between them."`
	Label       *LabelOptions       `yaml:"label" doc:"What is to be predicted."`
	Weight      *WeightOptions      `yaml:"weight" doc:"What an example counts, in the gradient of training and in the metrics of an evaluation."`
	Key         *KeyOptions         `yaml:"key" doc:"What predict and the export hand on."`
	Numeric     *NumericOptions     `yaml:"numeric" doc:"A number, or with buckets an id."`
	Categorical *CategoricalOptions `yaml:"categorical" doc:"A text, as an id: by a hash, or by its place in a vocabulary. An empty text is missing: no id. The texts of a list each have an id."`
	Text        *TextOptions        `yaml:"text" doc:"The words of a text, each an id by a hash. A word that comes twice counts twice."`
	Time        *TimeOptions        `yaml:"time" doc:"A date, as numbers and ids of its parts, in UTC. A missing date is the mean of the numbers, and no id."`
	IDs         *IDsOptions         `yaml:"ids" doc:"Ids with values, as they are."`
	Cross       *CrossOptions       `yaml:"cross" doc:"Several texts as one id. No id where one of them is missing."`
	Ignore      *IgnoreOptions      `yaml:"ignore" doc:"What is not read."`
}

// LabelOptions has the options of label.
type LabelOptions struct {
	Names       []string `yaml:"names" doc:"One column."`
	Standardize bool     `yaml:"standardize" doc:"Of a regression: training learns the number minus the mean of the training records, divided by their standard deviation. ‘loss’ is of that number; other metrics, predictions and the export are in the unit of the label."`
	Transform   string   `yaml:"transform" takes:"log1p" doc:"Of a regression: log1p has training learn sign(y)·ln(1+|y|), before standardize. Default: none."`
	Decimal     string   `yaml:"decimal" absent:"." takes:"a character" doc:"What stands before the fraction of a number that is written as a text."`
	Strip       string   `yaml:"strip" takes:"characters, as in $%" doc:"Characters that are left out of a number that is written as a text, such as ‘$%,’."`
}

// WeightOptions has the options of weight.
type WeightOptions struct {
	Names   []string `yaml:"names" doc:"One column, of numbers from 0."`
	Decimal string   `yaml:"decimal" absent:"." takes:"a character" doc:"What stands before the fraction of a number that is written as a text."`
	Strip   string   `yaml:"strip" takes:"characters, as in $%" doc:"Characters that are left out of a number that is written as a text, such as ‘$%,’."`
}

// KeyOptions has the options of key.
type KeyOptions struct {
	Names []string `yaml:"names" doc:"Columns and ranges of columns, as in [C1..C26]."`
}

// NumericOptions has the options of numeric. In names, A1..A9 is a range.
type NumericOptions struct {
	Names       []string  `yaml:"names" doc:"Columns. I1..I13 is a range."`
	Transform   string    `yaml:"transform" takes:"log1p" doc:"log1p: sign(x)·ln(1+|x|). Default: none."`
	Standardize bool      `yaml:"standardize" doc:"Subtracts the mean of the training records and divides by their standard deviation, after the transform."`
	Buckets     []float64 `yaml:"buckets" doc:"Boundaries, ascending. The column becomes an id instead of a number: how many boundaries are not above the number."`
	Decimal     string    `yaml:"decimal" absent:"." takes:"a character" doc:"What stands before the fraction of a number that is written as a text."`
	Strip       string    `yaml:"strip" takes:"characters, as in $%" doc:"Characters that are left out of a number that is written as a text, such as ‘$%,’."`
	Default     *Missing  `yaml:"default" takes:"a number, or mean" doc:"What a missing number counts as, before transform and standardize. mean: that of the training records that have a number, after the transform. Default: 0; with buckets a missing number is no id."`
}

// CategoricalOptions has the options of categorical: hash or vocabulary.
type CategoricalOptions struct {
	Names      []string `yaml:"names" doc:"Columns. C1..C26 is a range."`
	Hash       int      `yaml:"hash" takes:"1 to 2147483647" doc:"Number of ids. An id is FarmHash's Fingerprint64 of the text modulo it, as TensorFlow's ‘string_to_hash_bucket_fast’ has it."`
	Vocabulary string   `yaml:"vocabulary" takes:"auto, or a file" doc:"A file has a text a line. auto: the texts of the training records, the most frequent first."`
	MinCount   int      `yaml:"min_count" absent:"1" takes:"1 or more" doc:"With ‘vocabulary: auto’, how often a text occurs at least."`
	Separator  string   `yaml:"separator" doc:"Makes a list of a text: what stands between its texts, such as | or a comma. Blanks around them do not count. Lists of a tf.Example are lists without it."`
	Unknown    string   `yaml:"unknown" absent:"bucket" takes:"bucket, error" doc:"With a vocabulary. bucket: all texts outside it have one id. error: they make bad records."`
}

// TextOptions has the options of text.
type TextOptions struct {
	Names  []string `yaml:"names" doc:"Columns. A word is a run of letters and digits; all else stands between words."`
	Hash   int      `yaml:"hash" need:"yes" takes:"1 to 2147483647" doc:"Number of ids. The words are hashed as the texts of categorical."`
	Lower  bool     `yaml:"lower" doc:"Makes capital letters small, each by itself."`
	NGrams int      `yaml:"ngrams" absent:"1" takes:"1 to 9" doc:"2: each two words that follow one another have an id, too. 3: also three."`
}

// TimeOptions has the options of time.
type TimeOptions struct {
	Names  []string `yaml:"names" doc:"Columns. t1..t3 is a range."`
	Layout string   `yaml:"layout" absent:"auto" takes:"auto, unix, unix_ms, or as %d/%m/%Y %H:%M" doc:"How dates are written. auto: ISO 8601, with T or a blank before the time of day. unix and unix_ms: seconds and milliseconds since 1970. Else fields of strptime: %Y %y %m %d %H %M %S %f %z."`
	Parts  []string `yaml:"parts" takes:"days, year, month, weekday, day, hour" doc:"days (since 1970) and year are numbers, standardized by the training records; the others are ids. Default: days, month, weekday."`
}

// IDsOptions has the options of ids.
type IDsOptions struct {
	Names  []string `yaml:"names" doc:"One column. In CSV it has ids with spaces between them."`
	Values string   `yaml:"values" doc:"The column of their values. Default: all values are 1."`
	Size   int      `yaml:"size" need:"yes" takes:"1 to 2147483647" doc:"Ids are below it."`
}

// CrossOptions has the options of cross.
type CrossOptions struct {
	Of   []string `yaml:"of" doc:"Two columns or more that are categorical, without separator."`
	Hash int      `yaml:"hash" need:"yes" takes:"1 to 2147483647" doc:"Number of ids. The texts are joined by the byte 0x1f, and hashed as those of categorical."`
}

// IgnoreOptions has the options of ignore.
type IgnoreOptions struct {
	Names []string `yaml:"names" doc:"Columns. Without a header they have their place in the order of the file."`
}
