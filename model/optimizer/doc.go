// Package optimizer updates variables from their gradients by the rules of
// TensorFlow 1's optimizers and of Keras's AdamW, and computes the learning rate of
// each step.
//
//	sgd  momentum  adagrad  adadelta  adam  lazy-adam  adamw  ftrl  rmsprop
//
// An optimizer keeps its state in slot variables of the variable's shape. They have the
// names of TensorFlow's checkpoints, so that a Saver can restore them:
//
//	sgd        none
//	momentum   <w>/Momentum
//	adagrad    <w>/Adagrad
//	adadelta   <w>/Adadelta, <w>/Adadelta_1
//	adam       beta1_power, beta2_power (scalars), <w>/Adam, <w>/Adam_1
//	lazy-adam  as adam
//	adamw      beta1_power, beta2_power (scalars), <w>/AdamW, <w>/AdamW_1
//	ftrl       <w>/Ftrl, <w>/Ftrl_1
//	rmsprop    <w>/RMSProp, <w>/RMSProp_1, centered also <w>/RMSProp_2
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
