// Package interpreter runs the graph of an exported model as TensorFlow does. It is the independent
// reader of saved_model.pb: it shares the protos, the reader of variables and the kernels with the
// package that writes exports, and nothing else. The proof of an export, predict, eval and the
// server run through it, for the models of other people too.
//
//	saved_model.pb ─► graph of the tag serve ─► functions inlined ─► nodes that the outputs reach
//	                                                                      │
//	variables/ ─► mapped ─► RestoreV2, init op ───────────────────────────┤ constants folded
//	                                                                      ▼
//	                              inputs ─► Program: kernels in order, buffers reused ─► answers
//
// [Open] loads a version folder and runs its restore and init operations through the graph. A
// [Program] is one signature, compiled once. Any number of goroutines may run it at the same time.
//
// An operation is one value of a list: its name, the kinds of its inputs, its attributes, its shapes and
// its function. Files ops_*.go have a list each, which is why the package has more than 25 files.
// An operation that no list has is refused when the model is opened, by its name and a node.
//
// Loading and operations have no results for errors: what they refuse unwinds to [Open], [Model.Compile] or [Program.Run],
// which return it. An index out of range, which only a damaged graph has, takes the same way.
//
// # Invariants
//
//   - A run allocates nothing but the answer, after its buffers have grown to the sizes in use.
//   - Variables are views of their files, and so are constants. Nothing writes to them. The files may be
//     removed while the model is open, but must not be changed in place: then the runs that read them fail.
//   - A value that depends on no input is computed when the model is opened, and so is a variable, unless a
//     signature can change one.
//   - The bits of an answer depend on the set of kernels only: not on the threads, the other records of a
//     batch, or earlier runs.
//
// # Limits
//
// A model may have 256 signatures. A graph may have 131,072 nodes with its functions inlined, 1,048,576 inputs
// of nodes and as many outputs, 32,768 nodes that need one another in a chain and 64 calls within each other. A tensor
// takes up to 1 GiB, so do all constants together, and all tensors of a run take up to 4 GiB. Open and Run check these
// limits before they take the memory.
package interpreter
