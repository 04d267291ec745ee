// Package graph describes a model as data: what goes in, which layers follow, what their
// variables are, and what the outputs of the last one mean. It holds no values and knows
// nothing of training. Package model runs a graph forward and backward, and
// export/savedmodel writes it as TensorFlow's.
//
//	Inputs ──► Nodes, in the order of forward ──► the last node's output ──► Head
//
// A node is a primitive layer with the names of Keras. It reads inputs or nodes before it,
// so that a graph has no cycles. A [Builder] adds nodes, infers their shapes and variables,
// and refuses what does not fit. Shapes are those of one example: the batch is left out.
//
// # Variables
//
// Node NAME has these variables, named as TensorFlow's users know them:
//
//	dense        NAME/kernel [in, units]              NAME/bias [units]
//	conv2d       NAME/kernel [h, w, in, filters]      NAME/bias [filters]
//	layer_norm   NAME/gamma [channels]                NAME/beta [channels]
//	cross        NAME/kernel [width, width]           NAME/bias [width]
//	sparse       NAME/weights [ids, units], by rows   NAME/bias [units]
//	embedding    NAME/embeddings [ids, size], by rows
//
// An fm has no variable: it reads the table of an embedding. So deepfm has one table for
// both of its parts.
package graph
