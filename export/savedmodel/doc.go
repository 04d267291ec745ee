// Package savedmodel writes a trained model for TensorFlow Serving, and reads
// such exports back.
//
// An export is a version folder under a base, the folder that a server watches:
//
//	base/7/saved_model.pb                                  graph and signatures
//	base/7/variables/variables.index
//	base/7/variables/variables.data-00000-of-00001         package bundle
//
// [Write] builds the version in base/.ringtrain-export.tmp-… and syncs it. After the
// caller has verified it, one rename gives it the next number: a server sees a whole
// version or none. Write never overwrites a version. The variables also contain
// global_step, the step as an int64. TensorFlow's loaders ignore it because no node
// restores it.
//
// # The graph
//
// The graph computes the functions of package model with operations of TensorFlow 1.12 (of
// columns 2.1, of words that follow one another 2.3), so that old servers load it:
//
//	tf_example ─► ParseExample ─► x ─► MatMul ─► BiasAdd ─► Softmax ─► y
//	                                     ▲          ▲
//	                                  kernel       bias   ◄── RestoreV2 ◄── variables/
//
// The graph omits attributes that equal their defaults: an old server would refuse an
// attribute that it does not know. The bytes depend only on the model and the job's name
// (meta_graph_version), not on time, host or path, so equal models give equal bytes.
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
// In models of ids, such as deepfm, predict takes examples, and
// predict_sparse takes the ids directly. Its inputs also include fields if ids have
// several fields, and x if the model has dense features:
//
//	sigmoid         serving_default  {inputs: tf.Example}             → {classes, scores}   (classify, "0" and "1")
//	                regression       {inputs: tf.Example}             → {outputs}           (regress)
//	                predict          {examples: tf.Example}           → {probability, logits}
//	                predict_sparse   {indices, ids, values, shape}    → {probability}
//	squared         serving_default, predict, predict_sparse          → {outputs}, {y}, {y}
//	softmax         serving_default, predict, predict_sparse          → {classes, scores}, {scores}, {scores}
//
// An id outside of the table fails the whole request, and so does an Example whose ids,
// values and fields are not of equal length: ParseExample does not check that, so the graph
// asserts it.
package savedmodel
