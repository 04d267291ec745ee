// Package optimizer updates variables from their gradients by the rules of
// TensorFlow 1's optimizers and of Keras's AdamW, and computes the learning rate of
// each step.
//
// The list kinds has all optimizers. An optimizer keeps its state in slot variables of the variable's shape.
// They have the names of TensorFlow's checkpoints, so that a Saver can restore them: "<w>/Momentum" of
// momentum, "<w>/Adam" and "<w>/Adam_1" of adam, and so on. adam's powers of β are the scalars "beta1_power"
// and "beta2_power".
//
// Each kind of slot is one flat arena, variable after variable. Slots of tables have their
// own memory.
//
// # Rules and rounding
//
// A rule has two forms: for a dense gradient, and for a gradient by rows (of a table of
// which a batch uses few rows). They are one formula, but TensorFlow evaluates some of them
// in another order, and so does this package: with equal settings and gradients the
// variables and slots equal TensorFlow's to the last bit (version 2.21, tf.compat.v1.train,
// CPU). The exceptions are TensorFlow's vectorised reciprocal roots in long adagrad and
// adadelta variables, which differ in the last digit. All arithmetic is float32 without
// fused multiply-add, on every processor. One pass over value, gradient and slots updates a
// variable. The engine's threads share the pass. The bits are equal in all kernel sets.
//
// The rows form updates only the listed rows; the slots of other rows do not decay. Adam and
// adamw are exceptions, as in TensorFlow: all of their rows decay and change. lazy-adam
// changes only the listed rows.
package optimizer
