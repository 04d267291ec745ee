package optimizer

import "ringtrain/model/kernel"

// sgd is TensorFlow's GradientDescentOptimizer:
//
//	w ← w − g·η
//
// TensorFlow subtracts the gradients of a duplicate row one after another; ringtrain sums them first, as
// for all optimizers.
var sgd = kind{name: "sgd", step: func(_ Config, n now) step { return both(kernel.SGD, n.rate) }}
