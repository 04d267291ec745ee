// Package graph describes a model as data: its inputs, its layers, their variables, and
// the meaning of the last layer's outputs. It has no values and does not depend on
// training. Package model runs a graph forward and backward, and export/savedmodel
// writes it as a TensorFlow graph.
//
//	Inputs ──► Nodes, in the order of forward ──► the last node's output ──► Head
//
// A node is a primitive layer with the names of Keras. It reads inputs or earlier nodes,
// so a graph has no cycles. A [Builder] adds nodes, infers their shapes and variables,
// and refuses nodes that do not fit. Shapes are those of one example, without the batch
// dimension.
//
// # Variables
//
// The variables of node NAME have TensorFlow's names:
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
