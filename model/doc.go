// Package model has the models that ringtrain trains: layers, losses and metrics. It
// does not depend on networks, files and optimizers. The package has more than 25 files
// because each layer has a file of its own.
//
// A [Model] runs a graph of layers with a loss at its end. Forward computes the layers
// in order. Backward computes their gradients, last layer first, so that the all-reduce
// of the last layers can overlap with the rest of Backward:
//
//	x ──► dense ──► relu ──► dense ──► softmax ──► loss      Forward
//	      dW, db ◄─ relu ◄── dW, db ◄─ p − y ◄── weight      Backward
//
// The variables of some kinds of models have TensorFlow's names (D features, K classes):
//
//	linear    linear/kernel [D, 1], linear/bias [1]
//	softmax   softmax/kernel [D, K], softmax/bias [K]
//	mlp       hidden_1/kernel [D, H₁], hidden_1/bias [H₁], hidden_2/…, softmax/kernel, softmax/bias
//
// Of records with ids (N of them) the first layer has a row for each, beside the kernel of the D columns of numbers:
//
//	linear, softmax    linear/weights [N, K] (by rows), linear/bias [K], linear_dense/kernel [D, K]
//	mlp                hidden_1/weights [N, H₁] (by rows), hidden_1/bias [H₁], hidden_1_dense/kernel [D, H₁], hidden_2/…, logits/kernel, logits/bias
//
// # Memory
//
// Values and gradients live in the caller's arenas: after New, the caller points Value
// and Grad of each of [Model.Variables] at a slice of [Variable.Len] elements. The model
// allocates everything else for the largest batch so far; a step with a batch of at most
// that size allocates nothing. Only one goroutine may use a Model.
//
// # Invariants
//
//   - The contribution of an example depends on the example and the variables only, to the bit, not on the rest of the batch.
//   - Layers compute in float32; losses are computed and summed in float64.
//   - NaN and infinities propagate; no activation and no maximum hides them.
//   - The loss and the gradients of an empty batch are 0.
package model
