package optimizer

import (
	"iter"
	"slices"

	"ringtrain/model/kernel"
	"ringtrain/model/keys"
)

// kinds has all optimizers. All that is said of optimizers is made from it: checks, texts, the memory that a
// job needs.
var kinds = []kind{sgd, momentum, adagrad, adadelta, adam, lazyAdam, adamW, ftrl, rmsprop}

// A kind is an optimizer: all that distinguishes it from the others.
type kind struct {
	name     Name
	settings []setting
	slot     string                     // TensorFlow's name of the slots
	slots    func(c Config) []float32   // initial values of the slots of a variable; nil: it has none
	powers   bool                       // it keeps β₁ᵗ and β₂ᵗ
	movesAll bool                       // a step changes all rows of a table, not only those of the batch
	step     func(c Config, n now) step // c has no omitted setting
}

// A setting is a key that an optimizer has.
type setting struct {
	key      string
	standard string     // default, in the form of a job file; "" for none
	takes    keys.Takes // if it takes fewer values than the key
}

// now has the numbers of a step: the learning rate, and β₁ᵗ and β₂ᵗ.
type now struct{ rate, power1, power2 float32 }

// A step is the arithmetic of a step.
type step struct {
	none        bool // nothing changes
	dense, rows form
	decay       float32 // λ of the weights of rows
	swap        bool    // the kernel has the last two of three slots in the other order
}

// A form is a rule with its constants.
type form struct {
	rule kernel.Rule
	c    [6]float32
}

// both is a step with one form for dense gradients and for rows.
func both(rule kernel.Rule, c ...float32) step {
	f := form{rule: rule}
	copy(f.c[:], c)
	return step{dense: f, rows: f}
}

// Names returns the names of all optimizers.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k.name))
	}
	return names
}

func kindOf(name Name) (kind, bool) {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return kinds[i], true
	}
	return kind{}, false
}

// settingsOf returns the settings of k with their fields in c.
func (k kind) settingsOf(c *Config) iter.Seq2[keys.Field, setting] {
	return func(yield func(keys.Field, setting) bool) {
		for _, s := range k.settings {
			if f, ok := keys.Find(c, s.key); ok && !yield(f, s) {
				return
			}
		}
	}
}

// withDefaults returns c with the defaults of k for omitted settings.
func (k kind) withDefaults(c Config) Config {
	if r, ok := c.LearningRates[string(k.name)]; ok && c.LearningRate == nil {
		c.LearningRate = &r
	}
	for f, s := range k.settingsOf(&c) {
		if s.standard != "" && f.Value.IsZero() {
			keys.Set(f.Value, s.standard)
		}
	}
	return c
}

// initial returns the initial values of the slots of a variable.
func (k kind) initial(c Config) []float32 {
	if k.slots == nil {
		return nil
	}
	return k.slots(k.withDefaults(c))
}
