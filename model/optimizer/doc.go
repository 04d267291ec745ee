// Package optimizer updates variables from their gradients by the rules of
// TensorFlow 1's optimizers and of Keras's AdamW, and gives the learning rate of
// each step.
//
//	sgd  momentum  adagrad  adadelta  adam  lazy-adam  adamw  ftrl  rmsprop
//
// An optimizer keeps state in slot variables of the variable's shape, named as
// in TensorFlow's checkpoints, so that a Saver restores them there:
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
// Each kind of slot lies in one flat arena, variable after variable, but for those of
// tables, which have memory of their own.
//
// # Rules and rounding
//
// A rule has two forms: for a dense gradient, and for a gradient that has rows
// (a table of which a batch touches few). They are one formula, but TensorFlow
// evaluates some of them in another order, and so do we: with equal settings
// and gradients the variables and slots are TensorFlow's to the last bit
// (version 2.21, tf.compat.v1.train, CPU; its vectorised reciprocal roots in
// long adagrad and adadelta variables apart, which are off in the last place).
// All arithmetic is float32, and no product is fused with a sum, whatever the
// processor. One pass over value, gradient and slots updates a variable; the
// engine's threads share it, and its bits are the same in all kernel sets.
//
// Rows update only the rows listed, and the slots of others do not decay. Adam and
// adamw are the exception, as in TensorFlow: all of their rows decay and move. lazy-adam
// leaves others alone.
package optimizer
