// Package serving measures `ringtrain serve` as its clients see it, on the cores that they share with
// it. The command `ringtrain bench serve` uses it.
//
// A server of this program answers for an MLP and for a deepfm of 1 GiB. The rows are:
//
//   - the time of a request at a fixed rate, by both protocols, over kept connections;
//   - the requests a second of many clients, with batches and without, in turns;
//   - the time of a request while versions of 1 GiB are loaded and dropped;
//   - the private memory of the server with that model, and its growth over those versions.
//
// A [Row] has a bar, which it meets or not. Another server of the same protocols is in no registry, so
// nothing stands beside it; package speed compares the interpreter with TensorFlow.
package serving
