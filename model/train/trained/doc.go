// Package trained reads models after training, from checkpoints and serving bundles.
//
//	checkpoint or bundle ──► Variables ──► Model ──► Evaluate, Predict, Export
//	                    └──► Inspect, InspectTop
//
// [Open] returns a [Model] with the records of its job. An [Exporter] writes a serving bundle and
// verifies it; training uses it too.
//
// A file that does not exist carries exitcode.NoInput. A tensor that is missing or has another shape
// carries exitcode.BadData.
package trained
