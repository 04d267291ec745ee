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
package interpreter
