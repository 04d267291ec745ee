// Package savedmodel writes a trained model for TensorFlow Serving, and reads
// such exports back.
//
// An export is a version folder under a base, which is what a server watches:
//
//	base/7/saved_model.pb                                  graph and signatures
//	base/7/variables/variables.index
//	base/7/variables/variables.data-00000-of-00001         package bundle
//
// [Write] builds it in base/.ringtrain-export.tmp-…, syncs it, lets the caller
// verify it, and gives it the next number by one rename: a server that looks at any
// moment sees a whole version or none. Versions are never overwritten. Beside the
// variables it stores the step, global_step, an int64: TensorFlow's loaders ask for
// what the graph restores, and so pass it over.
//
// # The graph
//
// The graph computes what package model computes, with operations that every
// TensorFlow since 1.12 has, so that old servers load it:
//
//	tf_example ─► ParseExample ─► x ─► MatMul ─► BiasAdd ─► Softmax ─► y
//	                                     ▲          ▲
//	                                  kernel       bias   ◄── RestoreV2 ◄── variables/
//
// No attribute that equals its default is written: a server that does not know
// the attribute yet would refuse the model. Nothing but the model gets into the
// bytes, no time, host or path, so equal models give equal bytes.
//
// # Signatures
//
// Clients call a model by the name of a signature:
//
//	linear          predict          {x}                              → {y}
//	                serving_default  {inputs: tf.Example}             → {outputs}           (regress)
//	softmax, mlp    predict_images   {images}                         → {scores}
//	                serving_default  {inputs: tf.Example}             → {classes, scores}   (classify, best first)
//
// Models of ids, such as sparse-linear and deepfm, take examples for predict, and have
// predict_sparse for ids as they are; fields are there where ids have several, and x where
// dense features are beside them:
//
//	sigmoid         serving_default  {inputs: tf.Example}             → {classes, scores}   (classify, "0" and "1")
//	                regression       {inputs: tf.Example}             → {outputs}           (regress)
//	                predict          {examples: tf.Example}           → {probability, logits}
//	                predict_sparse   {indices, ids, values, shape}    → {probability}
//	squared         serving_default, predict, predict_sparse          → {outputs}, {y}, {y}
//	softmax         serving_default, predict, predict_sparse          → {classes, scores}, {scores}, {scores}
//
// An id outside of the table is an error for the whole request. In an Example, ids, values
// and fields must be of equal length: TensorFlow does not check that.
package savedmodel
