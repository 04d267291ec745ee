// Package model holds the models that ringtrain trains: layers, losses and
// metrics. It knows nothing of networks, files and optimizers.
//
// A [Model] is a chain of layers with a loss at its end. Forward runs down the
// chain and Backward up again, last layer first, so that the gradients of the
// last layers can leave for the ring while the others are still being computed:
//
//	x ──► dense ──► relu ──► dense ──► softmax ──► loss      Forward
//	      dW, db ◄─ relu ◄── dW, db ◄─ p − y ◄── weight      Backward
//
// The kinds of models and their variables, named as TensorFlow's users know
// them (D features, K classes):
//
//	linear          linear/kernel [D, 1], linear/bias [1]
//	softmax         softmax/kernel [D, K], softmax/bias [K]
//	mlp             hidden_1/kernel [D, H₁], hidden_1/bias [H₁], hidden_2/…, softmax/kernel, softmax/bias
//	sparse-linear   linear/weights [D, 1] (by rows), linear/bias [1]
//
// # Memory
//
// Values and gradients live in the caller's arenas: after New, point Value and
// Grad of each of [Model.Variables] at a slice of [Variable.Len] elements.
// Everything else the model allocates itself, when it first sees a larger
// batch; from then on a step allocates nothing. A Model is for one goroutine.
//
// # Invariants
//
//   - What an example contributes depends on that example and the variables
//     only, to the bit, not on the batch that it comes in.
//   - Layers compute in float32; losses are computed and summed in float64.
//   - NaN and infinities are passed on, never hidden by an activation or a
//     maximum.
//   - An empty batch is a batch: its loss is 0 and so are its gradients.
package model
